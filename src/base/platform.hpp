// SPDX-License-Identifier: Apache-2.0
// The system calls of the core that differ between operating systems. One platform_<system>.cpp
// defines them; base/CMakeLists.txt chooses it.
#pragma once
#include <cstddef>
#include <functional>
#include <thread>

namespace calpe::platform {

// Returns an environment variable, or nullptr if it is unset or the process is privileged.
const char* variable(const char* name) noexcept;

// True if the process has more rights than the user who started it (setuid and similar).
bool is_privileged() noexcept;

// Size of a core's second-level cache; 0 if unknown.
std::size_t level2_cache_bytes() noexcept;

// Calls `start` with the signals of the host program blocked. A thread that it starts inherits the
// mask, so no signal can reach that thread before it runs. Passes exceptions on.
void with_signals_blocked(const std::function<void()>& start);

// Names a thread for top(1) and debuggers, where the system has names for threads.
void name_thread(std::thread& thread, const char* name) noexcept;

}  // namespace calpe::platform
