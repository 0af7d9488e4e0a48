// SPDX-License-Identifier: Apache-2.0
// A cuda device of the PTX interpreter with helpers for tests.
#pragma once
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/cuda_driver.hpp"
#include "ptx_interpreter/ptx_interpreter.h"
#include "support/environment_scope.hpp"

namespace calpe::backend::cuda {

inline constexpr std::chrono::milliseconds test_limit{20000};

inline calpe_ptx_counts ptx_counts() {
  calpe_ptx_counts counts = {};
  calpe_ptx_count(&counts);
  return counts;
}

// Base class of tests that need device 0.
class CudaBench : public testing::Test {
 protected:
  void SetUp() override {
    calpe_ptx_reset();
    allocations_before_ = ptx_counts().allocations;
    auto opened = open_cuda_driver(0);
    if (std::endian::native != std::endian::little) {
      ASSERT_FALSE(opened);
      GTEST_SKIP() << opened.error().message;
    }
    ASSERT_TRUE(opened) << opened.error().message;
    driver_ = *std::move(opened);
    queue_ = open_queue();
  }
  void TearDown() override {
    calpe_ptx_reset();
    if (queue_ != nullptr) finish();
    for (const gpu::Place& place : places_)
      driver_->release(place);
    EXPECT_EQ(ptx_counts().misuses, 0U) << calpe_ptx_message();
    EXPECT_EQ(ptx_counts().allocations, allocations_before_);
    queue_.reset();
    driver_.reset();
  }

  std::unique_ptr<gpu::Queue> open_queue(bool profiling = false) {
    auto opened = driver_->open_queue({.profiling = profiling});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  // Released at the end of the test.
  gpu::Place allocate(std::size_t bytes) {
    auto place = driver_->allocate(bytes);
    EXPECT_TRUE(place) << place.error().message;
    places_.push_back(*place);
    return *place;
  }
  // The same, initialised with this content.
  template <class T>
  gpu::Place put(std::span<const T> values) {
    const gpu::Place place = allocate(values.size_bytes());
    const auto bytes = std::as_bytes(values);
    const Status copied = queue_->copy_in(place, bytes.data(), bytes.size());
    EXPECT_TRUE(copied) << copied.error().message;
    finish();
    return place;
  }
  template <class T>
  std::vector<T> get(const gpu::Place& place, std::size_t count) {
    std::vector<T> values(count);
    const auto bytes = std::as_writable_bytes(std::span(values));
    const Status copied = queue_->copy_out(bytes.data(), place, bytes.size());
    EXPECT_TRUE(copied) << copied.error().message;
    finish();
    return values;
  }
  void finish() {
    const Status done = wait();
    EXPECT_TRUE(done) << done.error().message;
  }
  Status wait(std::chrono::milliseconds limit = test_limit) { return wait(*queue_, limit); }
  Status wait(gpu::Queue& queue, std::chrono::milliseconds limit = test_limit) {
    auto event = queue.mark();
    if (!event) return event.error();
    return (*event)->wait(limit);
  }

  Result<std::unique_ptr<gpu::Module>> build(const std::string& text,
                                             const std::vector<std::string>& entries = {"k"},
                                             unsigned threads = 32) {
    return driver_->build({.text = text, .entries = entries},
                          {.language = emit::DeviceLanguage::ptx, .group_items = threads});
  }

  const tests::EnvironmentScope path_{"CALPE_CUDA_DRIVER", CALPE_PTX_INTERPRETER};
  std::unique_ptr<gpu::Driver> driver_;
  std::unique_ptr<gpu::Queue> queue_;
  std::vector<gpu::Place> places_;
  std::uint64_t allocations_before_ = 0;
};

// A kernel k(n, r) with the addresses of its input and output. `body` follows after both are in
// registers of these names, with the thread number in i (64 bits) and thread (32 bits).
inline std::string kernel_text(const std::string& body) {
  return ".version 6.0\n.target sm_50\n.address_size 64\n"
         ".visible .entry k(.param .u64 n_param, .param .u64 r_param)\n{\n"
         ".reg .b32 thread;\n.reg .b64 n, r, i;\n"
         "mov.u32 thread, %tid.x;\ncvt.u64.u32 i, thread;\n"
         "ld.param.u64 n, [n_param];\nld.param.u64 r, [r_param];\n"
         "cvta.to.global.u64 n, n;\ncvta.to.global.u64 r, r;\n" +
         body + "\nret;\n}\n";
}

inline gpu::Launch launch_of(const gpu::Place& n, const gpu::Place& r, std::size_t words) {
  return {.n_base = reinterpret_cast<void*>(n.at),
          .r_base = reinterpret_cast<void*>(r.at),
          .words = words};
}

}  // namespace calpe::backend::cuda
