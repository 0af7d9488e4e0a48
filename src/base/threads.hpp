// SPDX-License-Identifier: Apache-2.0
// The one place that starts threads. Ours carry a name for top(1) and debuggers, and take no
// signals: those belong to the program that uses the library, and its handlers expect its own
// threads.
#pragma once
#include <cstddef>
#include <functional>
#include <thread>

namespace calpe {

// `name` has at most 15 characters. Throws std::system_error when no thread can be started.
std::thread start_thread(const char* name, std::function<void()> work);

// Calls work(part) for every part in [0, parts) and returns when all are done: part 0 on the
// caller's thread, each other on a thread of its own, or on the caller's when no more threads can
// be started. `work` must not throw.
void run_side_by_side(std::size_t parts, const std::function<void(std::size_t part)>& work);

}  // namespace calpe
