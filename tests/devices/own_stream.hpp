// SPDX-License-Identifier: Apache-2.0
// CUDA streams of a program, through the driver's own functions.
#pragma once
#include <cstddef>
#include <vector>

#include <calpe/device_memory.hpp>

#include "devices/native_memory.hpp"

namespace calpe::tests {

using Bytes = std::vector<std::byte>;
inline constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING

// A stream of the program, in the codec's context.
class OwnStream {
 public:
  OwnStream(const Codec& codec, unsigned flags) : context_(DeviceMemory::native_context(codec)) {
    in_context([&] {
      EXPECT_EQ((cuda_function<int(void**, unsigned)>("cuStreamCreate")(&stream_, flags)), 0);
    });
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    in_context([&] { EXPECT_EQ(cuda_function<int(void*)>("cuStreamDestroy_v2")(stream_), 0); });
  }

  void* handle() const { return stream_; }
  template <class Call>
  void in_context(const Call& call) const {
    EXPECT_EQ(cuda_function<int(void*)>("cuCtxPushCurrent_v2")(context_), 0);
    call();
    void* popped = nullptr;
    EXPECT_EQ(cuda_function<int(void**)>("cuCtxPopCurrent_v2")(&popped), 0);
  }
  // Its work does not run before a call waits for it.
  void hold() const { cuda_function<decltype(calpe_ptx_hold)>("calpe_ptx_hold")(stream_); }
  void copy_in(std::byte* to, const Bytes& from) const {
    using Copy = int(std::uint64_t, const void*, std::size_t, void*);
    in_context([&] {
      EXPECT_EQ(cuda_function<Copy>("cuMemcpyHtoDAsync_v2")(reinterpret_cast<std::uint64_t>(to),
                                                            from.data(), from.size(), stream_),
                0);
    });
  }
  void copy_out(Bytes& to, const std::byte* from) const {
    using Copy = int(void*, std::uint64_t, std::size_t, void*);
    in_context([&] {
      EXPECT_EQ(cuda_function<Copy>("cuMemcpyDtoHAsync_v2")(
                    to.data(), reinterpret_cast<std::uint64_t>(from), to.size(), stream_),
                0);
    });
  }
  // Later work waits for what `other` holds.
  void wait_for(const OwnStream& other) const {
    in_context([&] {
      void* event = nullptr;
      EXPECT_EQ((cuda_function<int(void**, unsigned)>("cuEventCreate")(&event, no_timing)), 0);
      EXPECT_EQ((cuda_function<int(void*, void*)>("cuEventRecord")(event, other.stream_)), 0);
      EXPECT_EQ(
          (cuda_function<int(void*, void*, unsigned)>("cuStreamWaitEvent")(stream_, event, 0)), 0);
      EXPECT_EQ(cuda_function<int(void*)>("cuEventDestroy_v2")(event), 0);
    });
  }
  // Waits, and returns the driver's result.
  int synchronize() const {
    return call([&] { return cuda_function<int(void*)>("cuStreamSynchronize")(stream_); });
  }
  void wait() const { EXPECT_EQ(synchronize(), 0); }
  bool is_idle() const {
    return call([&] { return cuda_function<int(void*)>("cuStreamQuery")(stream_); }) != not_ready;
  }

  void begin_capture() const {
    constexpr int global = 0;
    EXPECT_EQ(call([&] {
                return cuda_function<int(void*, int)>("cuStreamBeginCapture_v2")(stream_, global);
              }),
              0);
  }
  // The graph, or null and the driver's result.
  void* end_capture(int expected = 0) const {
    void* graph = nullptr;
    EXPECT_EQ(call([&] {
                return cuda_function<int(void*, void**)>("cuStreamEndCapture")(stream_, &graph);
              }),
              expected);
    return graph;
  }

 private:
  static constexpr unsigned no_timing = 2;
  static constexpr int not_ready = 600;

  template <class Call>
  int call(const Call& call) const {
    int result = 0;
    in_context([&] { result = call(); });
    return result;
  }
  void* context_;
  void* stream_ = nullptr;
};

}  // namespace calpe::tests
