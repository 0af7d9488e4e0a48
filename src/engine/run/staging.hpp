// SPDX-License-Identifier: Apache-2.0
// Buffer for a block of work that cannot be done in place.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include "backend/backend.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/uninitialised.hpp"

namespace calpe::engine {

// Memory inside the owner, usually on the stack, when the work runs on the caller's thread.
// Otherwise memory on the heap, which is leaked if the device hangs, as it may still be written to.
class Staging {
 public:
  static constexpr std::size_t bytes = 64 * 1024;

  explicit Staging(const backend::Device& device) : device_(device) {
    if (!device.runs_on_caller()) apart_ = make_uninitialised<Room>();
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    if (apart_ != nullptr && device_.may_still_write()) keep_for_good(std::move(apart_));
  }

  std::byte* data() noexcept { return apart_ != nullptr ? apart_->data() : own_.data(); }

 private:
  struct alignas(64) Room : std::array<std::byte, bytes> {};
  const backend::Device& device_;
  std::unique_ptr<Room> apart_;
  Room own_;  // not zeroed
};

}  // namespace calpe::engine
