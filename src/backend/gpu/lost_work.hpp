// SPDX-License-Identifier: Apache-2.0
// Work that a device did not finish in time. It may still run, so what it uses is kept forever.
// Before the process ends it gets a last chance to finish: drivers whose threads keep running after
// their destructors (PoCL, which compiles on them) crash the process.
#pragma once
#include <memory>

#include "backend/gpu/driver.hpp"
#include "backend/gpu/slots.hpp"

namespace calpe::backend::gpu {

using BegunEvent = Result<std::unique_ptr<Event>>;  // or why there is none

void keep_lost_work(std::unique_ptr<Slot> slot, BegunEvent event);
void keep_lost_work(std::unique_ptr<Queue> queue, BegunEvent event);
// Waits a few seconds until all of it has ended, but not again after a timeout. Call it before
// opening a driver again: PoCL's threads, compiling for lost work, can crash next to another
// context's compiler.
void wait_for_lost_work();

}  // namespace calpe::backend::gpu
