// SPDX-License-Identifier: Apache-2.0
// Calls of the log that take the commit lock.
#include "array/core/log.hpp"

namespace calpe::array {

Log::Log(SharedState& shared, const Superblock& newest)
    : layout_(shared.layout),
      array_(shared.array),
      roster_(shared.roster),
      index_(shared.index),
      table_(shared.table),
      overlay_(shared.overlay),
      superblocks_(shared, newest),
      lease_(shared, superblocks_),
      applied_(shared) {}

Status Log::commit() {
  const std::uint64_t begun = commits_begun_;
  const std::lock_guard lock(mutex_);
  // A commit that began after the call had all its changes.
  if (commit_done_ > begun) return roster_.check();
  return commit_locked();
}

Status Log::commit_locked() {
  const std::uint64_t number = ++commits_begun_;
  CALPE_CHECK(or_stop([&] { return commit_all(); }));
  commit_done_ = number;
  return Done{};
}

Status Log::checkpoint() {
  flush_live();  // takes long if many blocks are new, so commits continue meanwhile
  const std::lock_guard lock(mutex_);
  CALPE_CHECK(commit_locked());
  superblocks_.set_clean(false);
  return checkpoint_locked();
}

Status Log::close() {
  const std::lock_guard lock(mutex_);
  CALPE_CHECK(commit_locked());
  superblocks_.set_clean(true);
  superblocks_.release_lease();
  return checkpoint_locked();
}

Status Log::claim_lease() {
  const std::lock_guard lock(mutex_);
  return lease_.claim();
}

Status Log::keep_lease() {
  const std::lock_guard lock(mutex_);
  return lease_.keep();
}

Status Log::renew_lease() {
  const std::lock_guard lock(mutex_);
  CALPE_CHECK(lease_.check());
  lease_.write();
  CALPE_CHECK(or_stop([&]() -> Status {
    write_in_place();  // so that reads of an idle array need not look for blocks in the overlay
    return Done{};
  }));
  return settle_members();
}

void Log::set_scrub(const ScrubHistory& scrub) {
  const std::lock_guard lock(mutex_);
  superblocks_.set_scrub(scrub);
}

// The opening that follows overwrites the other copies, of the old size.
Status Log::Locked::write_grown(const Growth& to, std::uint64_t index_root) {
  Superblocks& superblocks = log_.superblocks_;
  superblocks.set_size(to);
  superblocks.begin_generation(0, index_root);
  while (!superblocks.write()) {
    if (log_.roster_.is_failed()) break;
  }
  return log_.roster_.check();
}

Status Log::Locked::begin_appending() {
  log_.superblocks_.set_clean(false);
  CALPE_CHECK(checkpoint());
  log_.can_append_ = true;
  return Done{};
}

}  // namespace calpe::array
