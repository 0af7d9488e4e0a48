// SPDX-License-Identifier: Apache-2.0
// Order with the caller's own work: streams are not part of the API yet, so before memory of the
// device is read or written everything in the device's context must be done.
#pragma once
#include <atomic>
#include <chrono>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"
#include "backend/gpu/slots.hpp"

namespace calpe::backend::gpu {

class ContextWait {
 public:
  // `is_lost`: the device is given up, by the first thread that notices.
  ContextWait(Driver& driver, const Slots& slots, std::atomic<bool>& is_lost,
              std::chrono::milliseconds time_limit)
      : driver_(driver), slots_(slots), is_lost_(is_lost), time_limit_(time_limit) {}

  // The caller's work may take as long as it likes. While our own work is on the device, too, one
  // of them may hang: then device_failed after the time limit, and the device is lost.
  Status wait();

 private:
  Driver& driver_;
  const Slots& slots_;
  std::atomic<bool>& is_lost_;
  std::chrono::milliseconds time_limit_;
};

}  // namespace calpe::backend::gpu
