// SPDX-License-Identifier: Apache-2.0
// Computes the pauses of work that is limited to a rate.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace calpe::array {

// Bytes of one step of a rebuild or scrub, which keeps its thread from other work.
inline std::uint64_t upkeep_step_bytes(std::uint64_t rate) noexcept {
  constexpr std::uint64_t most = std::uint64_t{16} << 20U;
  constexpr std::uint64_t steps_in_second = 8;
  return rate == 0 ? most : std::clamp<std::uint64_t>(rate / steps_in_second, 1, most);
}

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns when the next step may run after `bytes` were done; rate 0 = at once. Idle time gives
  // no credit, so that work does not start with a burst.
  Clock::time_point after(std::uint64_t bytes, std::uint64_t rate, Clock::time_point now) {
    note(bytes, now);
    if (rate == 0) return next_ = now;
    const auto took =
        std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(rate));
    next_ = std::max(next_, now - std::chrono::milliseconds(100)) +
            std::chrono::duration_cast<Clock::duration>(took);
    return next_;
  }

  std::uint64_t measured() const noexcept { return measured_; }  // recent bytes per second

 private:
  void note(std::uint64_t bytes, Clock::time_point now) {
    const std::chrono::duration<double> passed = now - since_;
    if (passed.count() > 5) {  // start a new measurement
      since_ = now;
      noted_ = 0;
      return;
    }
    noted_ += bytes;
    if (passed.count() < 0.2) return;
    measured_ = static_cast<std::uint64_t>(static_cast<double>(noted_) / passed.count());
    since_ = now;
    noted_ = 0;
  }

  Clock::time_point next_ = {};
  Clock::time_point since_ = {};
  std::uint64_t noted_ = 0;
  std::atomic<std::uint64_t> measured_ = 0;
};

}  // namespace calpe::array
