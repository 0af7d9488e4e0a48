// SPDX-License-Identifier: Apache-2.0
#include "engine/run/pool_work.hpp"

#include <utility>

#include "base/allocation_guard.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::engine {

PoolWork::~PoolWork() {
  (void)guarded([&] { return wait(); });
}

void PoolWork::run(std::size_t part) const {
  Status done = guarded([&] { return executor_.run_part(task_, parts_[part]); });
  if (!done && !failure_->is_set.exchange(true)) failure_->status = std::move(done);
}

void PoolWork::start() {
  job_.emplace(parts_.size(), this, [](const void* self, std::size_t part) {
    static_cast<const PoolWork*>(self)->run(part);
  });
  pool_->start(*job_);
}

Status PoolWork::wait() {
  if (!job_) return result_;
  const bool is_complete = pool_->wait(*job_);
  job_.reset();
  if (is_complete) {
    result_ = failure_->status;
  } else {
    keep_for_good(std::move(failure_));
    result_ = run_again();
  }
  return result_;
}

Status PoolWork::run_again() {
  if (task_.accumulate) {
    return make_error(ErrorCode::device_failed,
                      "the work was under way at fork(), and with accumulate it cannot be repeated "
                      "in the child; wait() before fork()");
  }
  for (const Executor::Part& part : parts_)
    CALPE_CHECK(executor_.run_part(task_, part));
  return Done{};
}

}  // namespace calpe::engine
