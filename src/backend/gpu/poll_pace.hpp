// SPDX-License-Identifier: Apache-2.0
// How long to pause between two polls of unfinished work, so that its end is seen at most 5 % late.
#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace calpe::backend::gpu {

// A sleep may end this much late: Linux adds 50 us of timer slack, and the thread has to wake up.
inline constexpr std::chrono::microseconds sleep_slack{60};
// Limits the delay of a wait that is never too late by 5 %, such as one for a minute.
inline constexpr std::chrono::microseconds longest_pause{1000};

// Pause after `waited`; 0: poll again without sleeping. Work of up to 1.6 ms is polled, longer work
// takes no more than one poll per 20 us. Example: after 10 ms, 440 us.
constexpr std::chrono::nanoseconds pause_after(std::chrono::nanoseconds waited) {
  constexpr std::chrono::microseconds shortest{20};  // a shorter sleep costs more than it saves
  const auto pause = waited / 20 - sleep_slack;
  if (pause < shortest) return std::chrono::nanoseconds(0);
  return std::min<std::chrono::nanoseconds>(pause, longest_pause);
}

// Pauses, but not beyond `left`.
inline void rest_after(std::chrono::nanoseconds waited, std::chrono::nanoseconds left) {
  const std::chrono::nanoseconds pause = pause_after(waited);
  if (pause.count() == 0) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::min(pause, left));
  }
}

}  // namespace calpe::backend::gpu
