// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/process_fork.hpp"

namespace calpe {

// Keeps an object that must not be destroyed, because a hanging device may still use it or a parent
// process owns it. It stays reachable, so leak checkers do not report it.
template <class T>
void keep_for_good(T&& kept) {
  static ForkMutex& mutex = *new ForkMutex;
  static auto& all = *new std::deque<std::decay_t<T>>;
  const std::lock_guard lock(mutex);
  all.push_back(std::forward<T>(kept));
}

}  // namespace calpe
