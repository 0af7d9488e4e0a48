// SPDX-License-Identifier: Apache-2.0
// How long work that is limited to a rate has to wait: a debt that time pays off.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace calpe::array {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // After `bytes` were done: when the next may be. rate 0: at once. Idle time is no credit, so that
  // work which begins anew does not begin with a burst.
  Clock::time_point after(std::uint64_t bytes, std::uint64_t rate, Clock::time_point now) {
    note(bytes, now);
    if (rate == 0) return next_ = now;
    const auto took =
        std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(rate));
    next_ = std::max(next_, now - std::chrono::milliseconds(100)) +
            std::chrono::duration_cast<Clock::duration>(took);
    return next_;
  }

  std::uint64_t measured() const noexcept { return measured_; }  // bytes in a second, of late

 private:
  void note(std::uint64_t bytes, Clock::time_point now) {
    const std::chrono::duration<double> passed = now - since_;
    if (passed.count() > 5) {  // that was another time
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
