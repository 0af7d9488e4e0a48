// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/first_launch.hpp"

#include "backend/gpu/fence.hpp"
#include "backend/gpu/lost_work.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"

namespace calpe::backend::gpu {

Status wait_for_first_launch(std::unique_ptr<Queue> queue, std::unique_ptr<Module>& module,
                             const std::string& device, std::chrono::milliseconds limit) {
  BegunEvent event = queue->mark();
  const Deadline end = std::chrono::steady_clock::now() + limit;
  Status done = event ? (*event)->wait(time_until(end)) : Status(event.error());
  if (done || is_over(*queue, event, end)) return done;
  keep_lost_work(std::move(queue), std::move(event));
  keep_for_good(std::move(module));
  return make_error(ErrorCode::device_failed, device, " did not compile and start a kernel in ",
                    limit.count(),
                    " ms; set CALPE_DEVICE_COMPILE_TIMEOUT_MS if its compiler is slow");
}

}  // namespace calpe::backend::gpu
