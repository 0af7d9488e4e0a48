// SPDX-License-Identifier: Apache-2.0
// For systems without fork(): listeners are never called, and no process is inherited.
#include "base/process_fork.hpp"

namespace calpe {

namespace process_fork {
constinit std::atomic<unsigned> generation = 0;
}

void ForkListener::attach() noexcept {}

void ForkListener::detach() noexcept {}

}  // namespace calpe
