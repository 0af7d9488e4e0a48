// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/lost_work.hpp"

#include <cstdlib>
#include <mutex>
#include <vector>

#include "backend/gpu/fence.hpp"
#include "base/process_fork.hpp"

namespace calpe::backend::gpu {

namespace {

// Time limit for all work together.
constexpr std::chrono::seconds patience{5};

struct LostWork {
  std::unique_ptr<Slot> slot;  // or only a queue
  std::unique_ptr<Queue> queue;
  BegunEvent event;
};

struct Kept {
  const ProcessMark mark = {};
  std::mutex mutex = {};
  std::vector<LostWork> all = {};
  bool is_hopeless = false;  // a wait for some of it failed
};

// Never destroyed, but reachable, so that leak checkers ignore it.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

void keep(LostWork work) {
  // Registered after the driver was loaded, so it runs before the driver's own exit handlers.
  static const int registered = std::atexit(wait_for_lost_work);
  static_cast<void>(registered);  // on failure, exit without it
  const std::lock_guard lock(kept().mutex);
  kept().all.push_back(std::move(work));
}

}  // namespace

void keep_lost_work(std::unique_ptr<Slot> slot, BegunEvent event) {
  keep({.slot = std::move(slot), .queue = {}, .event = std::move(event)});
}

void keep_lost_work(std::unique_ptr<Queue> queue, BegunEvent event) {
  keep({.slot = {}, .queue = std::move(queue), .event = std::move(event)});
}

void wait_for_lost_work() {
  if (kept().mark.is_inherited()) return;  // belongs to the parent
  const std::lock_guard lock(kept().mutex);
  if (kept().is_hopeless) return;
  const Deadline end = std::chrono::steady_clock::now() + patience;
  for (LostWork& work : kept().all) {
    Queue& queue = work.slot ? work.slot->queue() : *work.queue;
    if (is_over(queue, work.event, end)) continue;
    kept().is_hopeless = true;
    return;
  }
}

}  // namespace calpe::backend::gpu
