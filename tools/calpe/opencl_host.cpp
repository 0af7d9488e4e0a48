// SPDX-License-Identifier: Apache-2.0
#include "calpe/opencl_host.hpp"

#include "base/text.hpp"
#include "base/try.hpp"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

namespace calpe::tools {

namespace {

struct Functions {
  decltype(&clGetPlatformIDs) get_platforms = nullptr;
  decltype(&clGetDeviceIDs) get_devices = nullptr;
  decltype(&clGetDeviceInfo) get_device_info = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clReleaseContext) release_context = nullptr;
  decltype(&clCreateCommandQueue) create_queue = nullptr;
  decltype(&clReleaseCommandQueue) release_queue = nullptr;
  decltype(&clCreateProgramWithSource) create_program = nullptr;
  decltype(&clReleaseProgram) release_program = nullptr;
  decltype(&clBuildProgram) build_program = nullptr;
  decltype(&clGetProgramBuildInfo) get_build_info = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clReleaseKernel) release_kernel = nullptr;
  decltype(&clSetKernelArg) set_argument = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clReleaseMemObject) release_buffer = nullptr;
  decltype(&clEnqueueNDRangeKernel) enqueue_kernel = nullptr;
  decltype(&clEnqueueReadBuffer) read_buffer = nullptr;
};

Result<Functions> open_library() {
  // Never closed: drivers leave threads behind.
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return make_error(ErrorCode::backend_unavailable,
                      "libOpenCL.so.1 cannot be opened: apt install ocl-icd-libopencl1 and a "
                      "driver, such as pocl-opencl-icd");
  }
  Functions cl;
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    using Function = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  find("clGetPlatformIDs", cl.get_platforms);
  find("clGetDeviceIDs", cl.get_devices);
  find("clGetDeviceInfo", cl.get_device_info);
  find("clCreateContext", cl.create_context);
  find("clReleaseContext", cl.release_context);
  find("clCreateCommandQueue", cl.create_queue);
  find("clReleaseCommandQueue", cl.release_queue);
  find("clCreateProgramWithSource", cl.create_program);
  find("clReleaseProgram", cl.release_program);
  find("clBuildProgram", cl.build_program);
  find("clGetProgramBuildInfo", cl.get_build_info);
  find("clCreateKernel", cl.create_kernel);
  find("clReleaseKernel", cl.release_kernel);
  find("clSetKernelArg", cl.set_argument);
  find("clCreateBuffer", cl.create_buffer);
  find("clReleaseMemObject", cl.release_buffer);
  find("clEnqueueNDRangeKernel", cl.enqueue_kernel);
  find("clEnqueueReadBuffer", cl.read_buffer);
  if (missing.empty()) return cl;
  return make_error(ErrorCode::backend_unavailable, "libOpenCL.so.1 has no ", missing);
}

Status check(cl_int status, std::string_view what) {
  if (status == CL_SUCCESS) return Done{};
  return make_error(ErrorCode::device_failed, what, " failed with ", status);
}

}  // namespace

struct OpenClHost::Impl {
  Functions cl = {};
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  std::string name = {};

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (program != nullptr) cl.release_program(program);
    if (queue != nullptr) cl.release_queue(queue);
    if (context != nullptr) cl.release_context(context);
  }

  Status open_device() {
    cl_platform_id platform = nullptr;
    if (cl.get_platforms(1, &platform, nullptr) != CL_SUCCESS || platform == nullptr ||
        cl.get_devices(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      return make_error(ErrorCode::backend_unavailable,
                        "OpenCL has no device: apt install pocl-opencl-icd runs it on the CPU");
    }
    context = cl.create_context(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = context == nullptr ? nullptr : cl.create_queue(context, device, 0, nullptr);
    char text[256] = {};
    cl.get_device_info(device, CL_DEVICE_NAME, sizeof text - 1, text, nullptr);
    name = text;
    if (queue != nullptr) return Done{};
    return make_error(ErrorCode::backend_unavailable, "the OpenCL device ", name,
                      " cannot be opened");
  }

  Status enqueue(const Launch& launch, cl_mem in, cl_mem out) const {
    if (launch.count == 0) return Done{};
    cl_int status = 0;
    cl_kernel kernel = cl.create_kernel(program, launch.kernel.c_str(), &status);
    CALPE_CHECK(check(status, "clCreateKernel of " + launch.kernel));
    cl.set_argument(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&in));
    cl.set_argument(kernel, 1, sizeof(cl_mem), static_cast<const void*>(&out));
    cl_uint index = 2;
    for (const cl_ulong number : launch.numbers)
      cl.set_argument(kernel, index++, sizeof number, &number);
    const std::size_t local = 1;  // PoCL compiles a kernel anew for every size
    status = cl.enqueue_kernel(queue, kernel, 1, &launch.first, &launch.count, &local, 0, nullptr,
                               nullptr);
    cl.release_kernel(kernel);
    return check(status, "launch of " + launch.kernel);
  }
};

Result<OpenClHost> OpenClHost::open() {
  auto impl = std::make_unique<Impl>();
  CALPE_TRY(impl->cl, open_library());
  CALPE_CHECK(impl->open_device());
  return OpenClHost(std::move(impl));
}

Status OpenClHost::build(const std::string& source) {
  const Functions& cl = impl_->cl;
  const char* const start = source.data();
  const std::size_t size = source.size();
  if (impl_->program != nullptr) cl.release_program(impl_->program);
  // The parameter of C lacks a const.
  impl_->program =
      cl.create_program(impl_->context, 1, const_cast<const char**>(&start), &size, nullptr);
  if (cl.build_program(impl_->program, 1, &impl_->device, "-cl-std=CL1.2", nullptr, nullptr) ==
      CL_SUCCESS) {
    return Done{};
  }
  std::string log(4000, '\0');
  cl.get_build_info(impl_->program, impl_->device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                    nullptr);
  return make_error(ErrorCode::compile_failed, "OpenCL refuses the text: ", log.c_str());
}

Status OpenClHost::run(std::span<const Launch> launches, std::span<const std::byte> n,
                       std::span<std::byte> r) {
  const Functions& cl = impl_->cl;
  cl_mem in = cl.create_buffer(impl_->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n.size(),
                               const_cast<std::byte*>(n.data()), nullptr);  // only copied from
  cl_mem out = cl.create_buffer(impl_->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, r.size(),
                                r.data(), nullptr);
  Status status = in == nullptr || out == nullptr ? check(-1, "clCreateBuffer") : Done{};
  for (const Launch& launch : launches) {
    if (status) status = impl_->enqueue(launch, in, out);
  }
  if (status) {
    status = check(
        cl.read_buffer(impl_->queue, out, CL_TRUE, 0, r.size(), r.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  }
  if (in != nullptr) cl.release_buffer(in);
  if (out != nullptr) cl.release_buffer(out);
  return status;
}

#else

namespace calpe::tools {

struct OpenClHost::Impl {
  std::string name;
};

Result<OpenClHost> OpenClHost::open() {
  return make_error(ErrorCode::backend_unavailable,
                    "this build had no CL/cl.h: apt install opencl-c-headers and build again");
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
