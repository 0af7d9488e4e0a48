// SPDX-License-Identifier: Apache-2.0
// Work that a device did not finish in time: it may still go on, so what it uses stays for good.
// Before the process ends it gets a last chance to come to an end: a driver whose threads run on
// while its own destructors have run (PoCL, which compiles on them) takes the process with it.
#pragma once
#include <memory>

#include "backend/gpu/driver.hpp"
#include "backend/gpu/slots.hpp"

namespace calpe::backend::gpu {

using BegunEvent = Result<std::unique_ptr<Event>>;  // or why there is none

void keep_lost_work(std::unique_ptr<Slot> slot, BegunEvent event);
void keep_lost_work(std::unique_ptr<Queue> queue, BegunEvent event);
// Until all of it has come to an end, but only some seconds, and not again when that was in vain.
// Before a driver is opened anew: PoCL's threads, compiling for what was lost, cannot stand another
// context's compiler.
void wait_for_lost_work();

}  // namespace calpe::backend::gpu
