// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_driver.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "backend/gpu/first_launch.hpp"
#include "backend/opencl/opencl_caller_queue.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "base/address.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::opencl {

namespace {

// 4 MiB of words of 64 bytes; more would make the discarded first launch slow.
constexpr std::size_t pocl_width = std::size_t{1} << 16U;
constexpr cl_uint kernel_arguments = 8;  // of a kernel without a table, see device_kernel.hpp

template <class T>
T device_number(const Api& api, cl_device_id device, cl_device_info what) {
  T value = {};
  if (api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) return {};
  return value;
}

// True for a CPU device in this process: fine-grained shared memory means that its pointers are
// ours, and being a CPU means that this holds for all our memory. Other devices report that they
// reach all of it (integrated GPUs, coherent links). gpu_device verifies both by use.
bool shares_all_memory(const Api& api, cl_device_id device) {
  const auto type = device_number<cl_device_type>(api, device, CL_DEVICE_TYPE);
  const auto svm = device_number<cl_bitfield>(api, device, CL_DEVICE_SVM_CAPABILITIES);
  const bool is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  return api.has_svm && ((is_cpu && (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0) ||
                         (svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0);
}

// The parts of a device, created once and never released: PoCL's threads can use one after its last
// command was reported as done.
Result<cl_device_id> part_of(const Api& api, const OpenClTarget& target) {
  using Parts = std::vector<cl_device_id>;
  static std::mutex mutex;
  static auto& kept = *new std::map<std::pair<cl_device_id, unsigned>, Parts>;
  const std::lock_guard lock(mutex);
  Parts& parts = kept[{target.device.id, target.parts}];
  if (parts.empty()) {
    const auto units = device_number<cl_uint>(api, target.device.id, CL_DEVICE_MAX_COMPUTE_UNITS);
    if (units / target.parts == 0) {
      return make_error(ErrorCode::backend_unavailable, target.name, " cannot be cut into ",
                        target.parts, " parts: it has ", units, " compute units");
    }
    const std::array<cl_device_partition_property, 3> equally = {
        CL_DEVICE_PARTITION_EQUALLY,
        static_cast<cl_device_partition_property>(units / target.parts), 0};
    cl_uint count = 0;
    CALPE_CHECK(check(api.clCreateSubDevices(target.device.id, equally.data(), 0, nullptr, &count),
                      "clCreateSubDevices", ErrorCode::backend_unavailable));
    Parts made(count);
    CALPE_CHECK(
        check(api.clCreateSubDevices(target.device.id, equally.data(), count, made.data(), nullptr),
              "clCreateSubDevices", ErrorCode::backend_unavailable));
    parts = std::move(made);
  }
  if (target.part >= parts.size()) {
    return make_error(ErrorCode::backend_unavailable, target.name, " has ", parts.size(),
                      " parts, requested part ", target.part);
  }
  return parts[target.part];
}

}  // namespace

Result<std::unique_ptr<gpu::Driver>> OpenClDriver::open(const Api& api,
                                                        const OpenClTarget& target) {
  std::unique_ptr<OpenClDriver> driver(new OpenClDriver(api));
  CALPE_CHECK(driver->open_context(target));
  driver->describe_device(target);
  return std::unique_ptr<gpu::Driver>(std::move(driver));
}

OpenClDriver::~OpenClDriver() {
  for (const auto& [memory, buffer] : host_buffers_)
    api_.clReleaseMemObject(buffer);
  if (mapping_queue_ != nullptr) api_.clReleaseCommandQueue(mapping_queue_);
  if (context_ != nullptr) api_.clReleaseContext(context_);
}

Status OpenClDriver::open_context(const OpenClTarget& target) {
  device_ = target.device.id;
  if (target.parts > 1) {
    CALPE_TRY(device_, part_of(api_, target));
  }
  const std::array<cl_context_properties, 3> properties = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(target.device.platform), 0};
  cl_int status = CL_SUCCESS;
  context_ = api_.clCreateContext(properties.data(), 1, &device_, nullptr, nullptr, &status);
  return check(status, "clCreateContext", ErrorCode::backend_unavailable);
}

void OpenClDriver::describe_device(const OpenClTarget& target) {
  const std::string name = device_text(api_, device_, CL_DEVICE_NAME);
  const std::string version = device_text(api_, device_, CL_DRIVER_VERSION);
  std::string platform(256, '\0');
  api_.clGetPlatformInfo(target.device.platform, CL_PLATFORM_VERSION, platform.size(),
                         platform.data(), nullptr);
  platform.resize(platform.find('\0'));
  is_cpu_ =
      (device_number<cl_device_type>(api_, device_, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  info_.name = target.name;
  info_.description = text(name, ", driver ", version);
  info_.identity = text(name, "\n", version, "\n", platform, "\n",
                        device_text(api_, device_, CL_DEVICE_VERSION));
  info_.language = emit::DeviceLanguage::opencl;
  first_launch_limit_ = target.first_launch_limit;
  // Measured on PoCL: one whole vector register per work-item, and small groups, as a group of 256
  // is a megabyte of work. On other devices work-items are lanes already.
  if (is_cpu_) {
    info_.word_bytes = {64, 16, 4};
    info_.group_items = {8, 32};
    info_.terms_max = gpu::terms_max_of_cpus;
  } else {
    info_.word_bytes = {16, 4};
    info_.group_items = {64, 256};
  }
  keep_group_sizes();
  info_.shares_memory = !target.copies && shares_all_memory(api_, device_);
  info_.has_addresses = info_.shares_memory;
  info_.has_unified_addresses = info_.shares_memory;
  info_.takes_caller_queues = true;
  info_.memory_bytes = device_number<cl_ulong>(api_, device_, CL_DEVICE_GLOBAL_MEM_SIZE);
  // OpenCL does not report the maximum number of groups; Mesa's drivers support 65,535.
  info_.words_max = info_.grid_max * *std::ranges::min_element(info_.group_items);
  // Kernels compute the offset of a work-item in 32 bits.
  info_.words_max = std::min(info_.words_max,
                             (std::size_t{1} << 31U) / *std::ranges::max_element(info_.word_bytes));
  if (const auto most = device_number<cl_ulong>(api_, device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE)) {
    info_.allocation_max = most;
  }
  if (platform.find("PoCL") != std::string::npos || platform.find("pocl") != std::string::npos) {
    counts_widths_ = true;
    info_.words_max = pocl_width;
  }
}

// The candidates that the device supports, or its own limit if it supports none of them.
void OpenClDriver::keep_group_sizes() {
  std::array<std::size_t, 16> items = {};  // by dimension; a driver may have more than three
  std::size_t most = device_number<std::size_t>(api_, device_, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (api_.clGetDeviceInfo(device_, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items.data(),
                           nullptr) == CL_SUCCESS &&
      items[0] != 0) {
    most = most == 0 ? items[0] : std::min(most, items[0]);
  }
  if (most == 0) return;  // not reported
  std::erase_if(info_.group_items, [&](unsigned wanted) { return wanted > most; });
  if (info_.group_items.empty()) info_.group_items = {static_cast<unsigned>(most)};
}

// Launches every kernel once, without work (first_launch.hpp).
//
// PoCL 3.1 keeps one function per kernel, group size and width of the widest grid so far, and
// counts its users. But when a command ends, it decrements that of any width. A wider grid while
// another command of the kernel runs then ends the process. Its first launch, when there cannot be
// another, is therefore as wide as any later one.
Result<std::unique_ptr<gpu::Module>> OpenClDriver::launch_first(
    std::unique_ptr<OpenClModule> module, std::size_t entries) {
  CALPE_TRY(std::unique_ptr<gpu::Queue> queue, open_queue({}));
  const gpu::Launch::Table table;
  for (std::size_t entry = 0; entry < entries; ++entry) {
    cl_uint arguments = 0;
    CALPE_CHECK(check(api_.clGetKernelInfo(module->kernel(entry), CL_KERNEL_NUM_ARGS,
                                           sizeof arguments, &arguments, nullptr),
                      "clGetKernelInfo"));
    const bool is_table = arguments > kernel_arguments;
    const gpu::Launch nothing = {.entry = entry,
                                 .table = is_table ? &table : nullptr,
                                 .words = counts_widths_ ? pocl_width : 1};
    CALPE_CHECK(queue->launch(*module, nothing));
  }
  OpenClModule& built = *module;
  std::unique_ptr<gpu::Module> made = std::move(module);
  CALPE_CHECK(gpu::wait_for_first_launch(std::move(queue), made, info_.name, first_launch_limit_));
  if (!is_cpu_) built.count_spills(device_);  // some compilers know only now
  return made;
}

Result<std::unique_ptr<gpu::Module>> OpenClDriver::finish(cl_program program,
                                                          const emit::DeviceText& text,
                                                          const emit::DeviceForm& form) {
  auto module = std::make_unique<OpenClModule>(api_, program, form.group_items);
  // One compiler at a time: PoCL's can free memory that another thread's compiler still uses.
  static std::mutex compilers;
  const std::lock_guard lock(compilers);
  const cl_int built = api_.clBuildProgram(program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
  if (built != CL_SUCCESS) {
    std::string log(4000, '\0');
    api_.clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                               nullptr);
    return make_error(ErrorCode::compile_failed, "clBuildProgram failed with ", describe(built),
                      ": ", log.c_str());
  }
  CALPE_CHECK(module->make_kernels(text.entries));
  if (info_.shares_memory && !is_cpu_) CALPE_CHECK(module->reach_all_memory());
  return launch_first(std::move(module), text.entries.size());
}

Result<std::unique_ptr<gpu::Module>> OpenClDriver::build(const emit::DeviceText& text,
                                                         const emit::DeviceForm& form) {
  const char* start = text.text.data();
  const std::size_t bytes = text.text.size();
  cl_int status = CL_SUCCESS;
  cl_program const program = api_.clCreateProgramWithSource(context_, 1, &start, &bytes, &status);
  CALPE_CHECK(check(status, "clCreateProgramWithSource", ErrorCode::compile_failed));
  return finish(program, text, form);
}

Result<std::unique_ptr<gpu::Module>> OpenClDriver::load(std::span<const std::byte> binary,
                                                        const emit::DeviceText& text,
                                                        const emit::DeviceForm& form) {
  const auto* start = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t bytes = binary.size();
  cl_int status = CL_SUCCESS;
  cl_int accepted = CL_SUCCESS;
  cl_program const program =
      api_.clCreateProgramWithBinary(context_, 1, &device_, &bytes, &start, &accepted, &status);
  CALPE_CHECK(check(status, "clCreateProgramWithBinary", ErrorCode::compile_failed));
  return finish(program, text, form);
}

Result<std::vector<std::byte>> OpenClDriver::binary(const gpu::Module& module) {
  cl_program const program = static_cast<const OpenClModule&>(module).program();
  std::size_t bytes = 0;
  CALPE_CHECK(
      check(api_.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr),
            "clGetProgramInfo"));
  std::vector<std::byte> binary(bytes);
  auto* start = reinterpret_cast<unsigned char*>(binary.data());
  CALPE_CHECK(check(api_.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof start,
                                          static_cast<void*>(&start), nullptr),
                    "clGetProgramInfo"));
  return binary;
}

Result<gpu::Place> OpenClDriver::allocate(std::size_t bytes) {
  if (bytes > info_.allocation_max) {
    return make_error(ErrorCode::out_of_memory, info_.name, " allocates at most ",
                      info_.allocation_max, " bytes at once, requested ", bytes);
  }
  if (info_.has_addresses) {
    void* const memory =
        api_.clSVMAlloc(context_, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 64);
    if (memory == nullptr) {
      return make_error(ErrorCode::out_of_memory, "clSVMAlloc of ", bytes, " bytes failed");
    }
    return gpu::Place{.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(memory)};
  }
  cl_int status = CL_SUCCESS;
  cl_mem const buffer = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  CALPE_CHECK(check(status, text("clCreateBuffer of ", bytes, " bytes")));
  return gpu::Place{.buffer = buffer, .at = 0};
}

void OpenClDriver::release(const gpu::Place& place) {
  if (info_.has_addresses) {
    api_.clSVMFree(context_, pointer_at(place.at));
  } else {
    api_.clReleaseMemObject(static_cast<cl_mem>(place.buffer));
  }
}

Result<cl_command_queue> OpenClDriver::make_queue(bool profiling) {
  cl_int status = CL_SUCCESS;
  cl_command_queue const queue = api_.clCreateCommandQueue(
      context_, device_, profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
  CALPE_CHECK(check(status, "clCreateCommandQueue"));
  return queue;
}

// Memory that the driver allocated and keeps mapped; OpenCL's form of pinned memory.
Result<std::byte*> OpenClDriver::allocate_host(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (mapping_queue_ == nullptr) {
    CALPE_TRY(mapping_queue_, make_queue(false));
  }
  cl_int status = CL_SUCCESS;
  cl_mem const buffer = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                            bytes, nullptr, &status);
  CALPE_CHECK(check(status, text("clCreateBuffer of ", bytes, " bytes of host memory")));
  void* const memory =
      api_.clEnqueueMapBuffer(mapping_queue_, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                              0, nullptr, nullptr, &status);
  if (Status mapped = check(status, "clEnqueueMapBuffer"); !mapped) {
    api_.clReleaseMemObject(buffer);
    return std::move(mapped).error();
  }
  auto* const start = static_cast<std::byte*>(memory);
  host_buffers_[start] = buffer;
  return start;
}

void OpenClDriver::release_host(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = host_buffers_.find(memory);
  if (found == host_buffers_.end()) return;
  api_.clEnqueueUnmapMemObject(mapping_queue_, found->second, memory, 0, nullptr, nullptr);
  api_.clFinish(mapping_queue_);
  api_.clReleaseMemObject(found->second);
  host_buffers_.erase(found);
}

// OpenCL cannot pin the caller's memory; drivers may do it themselves.
Status OpenClDriver::register_host(std::byte*, std::size_t) {
  return Done{};
}
void OpenClDriver::unregister_host(std::byte*) {}

// Asks the device for the address, in the context of the buffer, with a kernel that stores its
// argument.
Result<std::uint64_t> OpenClDriver::address_of(cl_mem buffer, cl_context context) {
  cl_device_id device = nullptr;
  // Any device of the context will do: all see one buffer, and this is called only if the device is
  // the CPU.
  std::array<cl_device_id, 64> devices = {};
  CALPE_CHECK(check(api_.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices,
                                          static_cast<void*>(devices.data()), nullptr),
                    "clGetContextInfo"));
  device = devices[0];
  if (!shares_all_memory(api_, device)) {
    return invalid("cl_mem belongs to a device that does not share the host's memory");
  }
  const char* source =
      "__kernel void address_of(__global uchar *buffer, __global ulong *address)\n"
      "{ *address = (ulong)buffer; }\n";
  cl_int status = CL_SUCCESS;
  cl_program const program = api_.clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  CALPE_CHECK(check(status, "clCreateProgramWithSource"));
  OpenClModule module(api_, program, 1);
  CALPE_CHECK(
      check(api_.clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram"));
  CALPE_CHECK(module.make_kernels({"address_of"}));
  cl_command_queue const queue = api_.clCreateCommandQueue(context, device, 0, &status);
  CALPE_CHECK(check(status, "clCreateCommandQueue"));
  std::uint64_t address = 0;
  const std::size_t one = 1;
  Status done = check(
      api_.clSetKernelArg(module.kernel(0), 0, sizeof(cl_mem), static_cast<const void*>(&buffer)),
      "clSetKernelArg");
  if (done) {
    done = check(api_.clSetKernelArgSVMPointer(module.kernel(0), 1, &address),
                 "clSetKernelArgSVMPointer");
  }
  if (done) {
    done = check(api_.clEnqueueNDRangeKernel(queue, module.kernel(0), 1, nullptr, &one, &one, 0,
                                             nullptr, nullptr),
                 "clEnqueueNDRangeKernel");
  }
  if (done) done = check(api_.clFinish(queue), "clFinish");
  api_.clReleaseCommandQueue(queue);
  if (!done) return std::move(done).error();
  return address;
}

Result<gpu::Place> OpenClDriver::import(HandleKind kind, std::uint64_t handle, std::size_t bytes) {
  if (kind != HandleKind::opencl_buffer || handle == 0) {
    return invalid("handle is not a cl_mem, but ", info_.name, " is an OpenCL device");
  }
  if (!is_object_like(handle, context_)) {
    return invalid("handle is not a cl_mem of the platform of ", info_.name);
  }
  cl_mem const buffer = pointer_at<_cl_mem>(handle);
  std::size_t size = 0;
  cl_context context = nullptr;
  CALPE_CHECK(check(api_.clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, nullptr),
                    "clGetMemObjectInfo", ErrorCode::invalid_argument));
  CALPE_CHECK(check(api_.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof(cl_context),
                                            static_cast<void*>(&context), nullptr),
                    "clGetMemObjectInfo", ErrorCode::invalid_argument));
  if (bytes > size) return invalid("cl_mem has ", size, " bytes; expected at least ", bytes);
  if (info_.has_addresses) {
    CALPE_TRY(const std::uint64_t address, address_of(buffer, context));
    return gpu::Place{.buffer = nullptr, .at = address};
  }
  if (context != context_) {
    return invalid("cl_mem belongs to another context; create it in the context from ",
                   "native_context()");
  }
  return gpu::Place{.buffer = buffer, .at = 0};
}

void OpenClDriver::forget(const gpu::Place&) {}

Result<std::unique_ptr<gpu::Queue>> OpenClDriver::open_queue(const QueueOptions& options) {
  CALPE_TRY(cl_command_queue const queue, make_queue(options.profiling));
  return std::unique_ptr<gpu::Queue>(std::make_unique<OpenClQueue>(
      api_, queue,
      QueueRules{.profiling = options.profiling, .has_addresses = info_.has_addresses}));
}

Status OpenClDriver::use_caller_queue(const QueueHandle& queue, const gpu::CallerWork& work) {
  if (queue.kind != QueueKind::opencl_queue) {
    return invalid(info_.name, " takes OpenCL command queues only");
  }
  CALPE_TRY(OpenClCallerQueue target,
            OpenClCallerQueue::open(api_, queue.handle, context_, device_, info_.has_addresses));
  CALPE_CHECK(work.add_to(target));
  return target.finish();
}

}  // namespace calpe::backend::opencl
