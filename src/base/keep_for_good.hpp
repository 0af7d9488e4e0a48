// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <mutex>
#include <type_traits>
#include <utility>

namespace calpe {

// What a device that hangs may still use: never destroyed, but reachable, so that nobody takes it
// for a leak.
template <class T>
void keep_for_good(T&& kept) {
  static std::mutex mutex;
  static auto& all = *new std::deque<std::decay_t<T>>;
  const std::lock_guard lock(mutex);
  all.push_back(std::forward<T>(kept));
}

}  // namespace calpe
