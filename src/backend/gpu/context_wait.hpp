// SPDX-License-Identifier: Apache-2.0
// Waits for the caller's own work. Streams are not part of the API yet, so everything in the
// device's context must be done before device memory is read or written.
#pragma once
#include <atomic>
#include <chrono>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"
#include "backend/gpu/slots.hpp"

namespace calpe::backend::gpu {

class ContextWait {
 public:
  // `is_lost` is set when the device is given up, by the first thread that notices.
  ContextWait(Driver& driver, const Slots& slots, std::atomic<bool>& is_lost,
              std::chrono::milliseconds time_limit)
      : driver_(driver), slots_(slots), is_lost_(is_lost), time_limit_(time_limit) {}

  // The caller's work may take any time. If our own work is also on the device, either may hang;
  // then fails with device_failed after the time limit, and the device is lost.
  Status wait();
  bool is_lost() const noexcept { return is_lost_.load(std::memory_order_acquire); }

 private:
  Driver& driver_;
  const Slots& slots_;
  std::atomic<bool>& is_lost_;
  std::chrono::milliseconds time_limit_;
};

}  // namespace calpe::backend::gpu
