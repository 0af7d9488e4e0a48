// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/opencl_host.hpp"

#include "base/text.hpp"
#include "base/try.hpp"

#if __has_include(<CL/cl.h>)
#include "backend/opencl/opencl_api.hpp"

namespace calpe::tools {

using backend::opencl::check;

struct OpenClHost::Impl {
  const backend::opencl::Api* cl = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  std::string name = {};

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (program != nullptr) cl->clReleaseProgram(program);
    if (queue != nullptr) cl->clReleaseCommandQueue(queue);
    if (context != nullptr) cl->clReleaseContext(context);
  }

  Status open_device() {
    CALPE_TRY(const std::vector<backend::opencl::FoundDevice> devices,
              backend::opencl::find_devices(*cl));
    if (devices.empty()) {
      return make_error(ErrorCode::backend_unavailable,
                        "no OpenCL device; apt install pocl-opencl-icd to use the CPU");
    }
    device = devices.front().id;
    name = backend::opencl::device_text(*cl, device, CL_DEVICE_NAME);
    context = cl->clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = context == nullptr ? nullptr : cl->clCreateCommandQueue(context, device, 0, nullptr);
    if (queue != nullptr) return Done{};
    return make_error(ErrorCode::backend_unavailable, "cannot open the OpenCL device ", name);
  }

  Status enqueue(const Launch& launch, cl_mem in, cl_mem out) const {
    if (launch.count == 0) return Done{};
    cl_int status = 0;
    cl_kernel kernel = cl->clCreateKernel(program, launch.kernel.c_str(), &status);
    CALPE_CHECK(check(status, "clCreateKernel of " + launch.kernel));
    cl->clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&in));
    cl->clSetKernelArg(kernel, 1, sizeof(cl_mem), static_cast<const void*>(&out));
    cl_uint index = 2;
    for (const cl_ulong number : launch.numbers)
      cl->clSetKernelArg(kernel, index++, sizeof number, &number);
    const std::size_t local = 1;  // PoCL recompiles a kernel for every size
    status = cl->clEnqueueNDRangeKernel(queue, kernel, 1, &launch.first, &launch.count, &local, 0,
                                        nullptr, nullptr);
    cl->clReleaseKernel(kernel);
    return check(status, "launch of " + launch.kernel);
  }
};

Result<OpenClHost> OpenClHost::open() {
  auto impl = std::make_unique<Impl>();
  CALPE_TRY(impl->cl, backend::opencl::open_api());
  CALPE_CHECK(impl->open_device());
  return OpenClHost(std::move(impl));
}

Status OpenClHost::build(const std::string& source) {
  const backend::opencl::Api* const cl = impl_->cl;
  const char* const start = source.data();
  const std::size_t size = source.size();
  if (impl_->program != nullptr) cl->clReleaseProgram(impl_->program);
  // The C API lacks a const.
  impl_->program = cl->clCreateProgramWithSource(impl_->context, 1,
                                                 const_cast<const char**>(&start), &size, nullptr);
  if (cl->clBuildProgram(impl_->program, 1, &impl_->device, "-cl-std=CL1.2", nullptr, nullptr) ==
      CL_SUCCESS) {
    return Done{};
  }
  std::string log(4000, '\0');
  cl->clGetProgramBuildInfo(impl_->program, impl_->device, CL_PROGRAM_BUILD_LOG, log.size(),
                            log.data(), nullptr);
  return make_error(ErrorCode::compile_failed,
                    "OpenCL cannot compile the source code: ", log.c_str());
}

Status OpenClHost::run(std::span<const Launch> launches, std::span<const std::byte> n,
                       std::span<std::byte> r) {
  const backend::opencl::Api* const cl = impl_->cl;
  cl_mem in = cl->clCreateBuffer(impl_->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n.size(),
                                 const_cast<std::byte*>(n.data()), nullptr);  // only copied from
  cl_mem out = cl->clCreateBuffer(impl_->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  r.size(), r.data(), nullptr);
  Status status = in == nullptr || out == nullptr ? check(-1, "clCreateBuffer") : Done{};
  for (const Launch& launch : launches) {
    if (status) status = impl_->enqueue(launch, in, out);
  }
  if (status) {
    status = check(cl->clEnqueueReadBuffer(impl_->queue, out, CL_TRUE, 0, r.size(), r.data(), 0,
                                           nullptr, nullptr),
                   "clEnqueueReadBuffer");
  }
  if (in != nullptr) cl->clReleaseMemObject(in);
  if (out != nullptr) cl->clReleaseMemObject(out);
  return status;
}

#else

namespace calpe::tools {

struct OpenClHost::Impl {
  std::string name;
};

Result<OpenClHost> OpenClHost::open() {
  return make_error(ErrorCode::backend_unavailable,
                    "built without OpenCL; apt install opencl-c-headers and build again");
}
Status OpenClHost::build(const std::string&) {
  return Done{};
}
Status OpenClHost::run(std::span<const Launch>, std::span<const std::byte>, std::span<std::byte>) {
  return Done{};
}

#endif

OpenClHost::OpenClHost(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
OpenClHost::OpenClHost(OpenClHost&&) noexcept = default;
OpenClHost::~OpenClHost() = default;

const std::string& OpenClHost::device_name() const noexcept {
  return impl_->name;
}

}  // namespace calpe::tools
