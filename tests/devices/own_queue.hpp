// SPDX-License-Identifier: Apache-2.0
// A CUDA stream or OpenCL queue of a program, behind one interface: work in it can be held back,
// and plans can be enqueued.
#pragma once
#include <memory>

#include <calpe/device_queue.hpp>

#include "devices/own_stream.hpp"

namespace calpe::tests {

class OwnQueue {
 public:
  enum class Order { in_order, out_of_order };

  static std::unique_ptr<OwnQueue> open(const Codec& codec, Order order = Order::in_order);
  virtual ~OwnQueue() = default;
  // What the queue gets from now on does not run before release().
  virtual void hold() = 0;
  virtual void release() = 0;
  virtual void wait() = 0;
  virtual bool is_idle() = 0;
  virtual Status enqueue(const QueuePlan& plan, std::size_t stripe_count,
                         const std::byte* const* inputs, std::byte* const* outputs,
                         Shard workspace) = 0;
};

class CudaQueue final : public OwnQueue {
 public:
  explicit CudaQueue(const Codec& codec) : stream_(codec, non_blocking) {}
  void hold() override { stream_.hold(); }
  void release() override {}  // with the wait
  void wait() override { stream_.wait(); }
  bool is_idle() override { return stream_.is_idle(); }
  Status enqueue(const QueuePlan& plan, std::size_t stripe_count, const std::byte* const* inputs,
                 std::byte* const* outputs, Shard workspace) override {
    return plan.enqueue_cuda(stream_.handle(), stripe_count, inputs, outputs, workspace);
  }

 private:
  OwnStream stream_;
};

class OpenClQueue final : public OwnQueue {
 public:
  OpenClQueue(const Codec& codec, Order order)
      : context_(static_cast<cl_context>(DeviceMemory::native_context(codec))) {
    cl_device_id device = nullptr;
    cl_int status = function<decltype(clGetContextInfo)>("clGetContextInfo")(
        context_, CL_CONTEXT_DEVICES, sizeof device, &device, nullptr);
    EXPECT_EQ(status, CL_SUCCESS);
    queue_ = function<decltype(clCreateCommandQueue)>("clCreateCommandQueue")(
        context_, device, order == Order::out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
        &status);
    EXPECT_EQ(status, CL_SUCCESS);
  }
  OpenClQueue(const OpenClQueue&) = delete;
  OpenClQueue& operator=(const OpenClQueue&) = delete;
  ~OpenClQueue() override {
    release();
    wait();
    function<decltype(clReleaseCommandQueue)>("clReleaseCommandQueue")(queue_);
  }

  // A marker, which does not hold back later commands of a queue that works out of order: they have
  // to ask for that.
  void hold() override {
    cl_int status = CL_SUCCESS;
    gate_ = function<decltype(clCreateUserEvent)>("clCreateUserEvent")(context_, &status);
    EXPECT_EQ(status, CL_SUCCESS);
    EXPECT_EQ(function<decltype(clEnqueueMarkerWithWaitList)>("clEnqueueMarkerWithWaitList")(
                  queue_, 1, &gate_, &held_),
              CL_SUCCESS);
  }
  void release() override {
    if (gate_ == nullptr) return;
    EXPECT_EQ(function<decltype(clSetUserEventStatus)>("clSetUserEventStatus")(gate_, CL_COMPLETE),
              CL_SUCCESS);
    wait();
    function<decltype(clReleaseEvent)>("clReleaseEvent")(gate_);
    function<decltype(clReleaseEvent)>("clReleaseEvent")(held_);
    gate_ = nullptr;
  }
  void wait() override { EXPECT_EQ(function<decltype(clFinish)>("clFinish")(queue_), CL_SUCCESS); }
  bool is_idle() override {
    cl_int state = CL_COMPLETE;
    EXPECT_EQ(function<decltype(clGetEventInfo)>("clGetEventInfo")(
                  held_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
              CL_SUCCESS);
    return state == CL_COMPLETE;
  }
  Status enqueue(const QueuePlan& plan, std::size_t stripe_count, const std::byte* const* inputs,
                 std::byte* const* outputs, Shard workspace) override {
    const Status done = plan.enqueue_opencl(queue_, stripe_count, inputs, outputs, workspace);
    // Otherwise a driver may keep the commands until a wait, even if a barrier is missing.
    EXPECT_EQ(function<decltype(clFlush)>("clFlush")(queue_), CL_SUCCESS);
    return done;
  }
  cl_command_queue handle() const { return queue_; }

 private:
  template <class Function>
  static Function* function(const char* name) {
    return opencl_function<Function>(name);
  }

  cl_context context_;
  cl_command_queue queue_ = nullptr;
  cl_event gate_ = nullptr;
  cl_event held_ = nullptr;
};

inline std::unique_ptr<OwnQueue> OwnQueue::open(const Codec& codec, Order order) {
  if (is_cuda()) return std::make_unique<CudaQueue>(codec);
  return std::make_unique<OpenClQueue>(codec, order);
}

}  // namespace calpe::tests
