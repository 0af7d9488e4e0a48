// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_caller_queue.hpp"

#include "backend/opencl/opencl_queue.hpp"
#include "base/address.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::opencl {

namespace {

template <class T>
Result<T> queue_info(const Api& api, cl_command_queue queue, cl_command_queue_info what) {
  T value = {};
  CALPE_CHECK(check(
      api.clGetCommandQueueInfo(queue, what, sizeof value, static_cast<void*>(&value), nullptr),
      "clGetCommandQueueInfo", ErrorCode::invalid_argument));
  return value;
}

}  // namespace

Result<OpenClCallerQueue> OpenClCallerQueue::open(const Api& api, std::uint64_t handle,
                                                  cl_context context, cl_device_id device,
                                                  bool has_addresses) {
  if (!is_object_like(handle, context)) {
    return invalid("handle is not a cl_command_queue of the platform of this device");
  }
  cl_command_queue const queue = pointer_at<_cl_command_queue>(handle);
  CALPE_TRY(const auto its_context, queue_info<cl_context>(api, queue, CL_QUEUE_CONTEXT));
  CALPE_TRY(const auto its_device, queue_info<cl_device_id>(api, queue, CL_QUEUE_DEVICE));
  CALPE_TRY(const auto properties,
            queue_info<cl_command_queue_properties>(api, queue, CL_QUEUE_PROPERTIES));
  if (its_context != context) {
    return invalid("cl_command_queue belongs to another context; create it in the context from ",
                   "native_context()");
  }
  if (its_device != device) return invalid("cl_command_queue belongs to another device");
  return OpenClCallerQueue(
      api, queue,
      {.has_addresses = has_addresses,
       .is_out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0});
}

Status OpenClCallerQueue::before_command() {
  if (!rules_.is_out_of_order) return Done{};
  return check(api_.clEnqueueBarrierWithWaitList(queue_, 0, nullptr, nullptr),
               "clEnqueueBarrierWithWaitList");
}

Status OpenClCallerQueue::launch(const gpu::Module& module, const gpu::Launch& launch) {
  CALPE_CHECK(before_command());
  return enqueue_launch(api_, queue_, rules_.has_addresses,
                        static_cast<const OpenClModule&>(module), launch, nullptr);
}

Status OpenClCallerQueue::write(const gpu::Place& to, std::span<const std::uint64_t> numbers) {
  // The longest pattern of OpenCL.
  constexpr std::size_t pattern_bytes = write_multiple * sizeof(std::uint64_t);
  static_assert(pattern_bytes == sizeof(cl_ulong16));
  CALPE_ASSERT(numbers.size() % write_multiple == 0 && to.at % pattern_bytes == 0);
  gpu::Place place = to;
  for (; !numbers.empty(); numbers = numbers.subspan(write_multiple)) {
    CALPE_CHECK(before_command());
    if (rules_.has_addresses) {
      CALPE_CHECK(check(api_.clEnqueueSVMMemFill(queue_, pointer_at(place.at), numbers.data(),
                                                 pattern_bytes, pattern_bytes, 0, nullptr, nullptr),
                        "clEnqueueSVMMemFill"));
    } else {
      CALPE_CHECK(check(
          api_.clEnqueueFillBuffer(queue_, static_cast<cl_mem>(place.buffer), numbers.data(),
                                   pattern_bytes, place.at, pattern_bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer"));
    }
    place.at += pattern_bytes;
  }
  return Done{};
}

}  // namespace calpe::backend::opencl
