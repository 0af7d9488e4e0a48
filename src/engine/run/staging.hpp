// SPDX-License-Identifier: Apache-2.0
// Room for a block of work that cannot be done in place.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include "backend/backend.hpp"
#include "base/leak_on_purpose.hpp"

namespace calpe::engine {

// Part of its owner, hence mostly of the stack, where the work runs on the caller. What a device
// does by itself it may still do when the owner is gone, if it hangs: its room then stays.
class Staging {
 public:
  static constexpr std::size_t bytes = 64 * 1024;

  explicit Staging(const backend::Device& device) : device_(device) {
    if (!device.runs_on_caller()) apart_ = std::make_unique_for_overwrite<Room>();
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
  Room own_;  // not cleared
};

}  // namespace calpe::engine
