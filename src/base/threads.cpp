// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "base/platform.hpp"

namespace calpe {

std::thread start_thread(const char* name, std::function<void()> work) {
  std::thread thread;
  platform::with_signals_blocked([&] { thread = std::thread(std::move(work)); });
  platform::name_thread(thread, name);
  return thread;
}

void run_side_by_side(std::size_t parts, const std::function<void(std::size_t part)>& work) {
  if (parts == 0) return;
  std::vector<std::thread> helpers;
  std::size_t next = 1;
  try {
    helpers.reserve(parts - 1);
    for (; next < parts; ++next) {
      helpers.push_back(start_thread("calpe-helper", [&work, next] { work(next); }));
    }
  } catch (const std::exception&) {  // no more threads or memory: the caller does the rest
  }
  work(0);
  for (; next < parts; ++next)
    work(next);
  for (std::thread& helper : helpers)
    helper.join();
}

}  // namespace calpe
