// SPDX-License-Identifier: Apache-2.0
// The newest superblock, and writing it to all live members and spares.
//
// Locks: none of its own. All calls need Log::Locked, or to be the only thread (opening).
#pragma once
#include <cstdint>

#include "array/core/shared_state.hpp"
#include "array/format/superblock.hpp"

namespace calpe::array {

class Superblocks {
 public:
  Superblocks(SharedState& shared, const Superblock& newest);

  const Superblock& newest() const noexcept { return newest_; }
  // The newest epoch that all live members have.
  std::uint64_t durable_epoch() const noexcept { return durable_epoch_; }
  // The epoch of the superblock that write() makes next.
  std::uint64_t next_epoch() const noexcept { return newest_.epoch + epoch_step_; }
  // The newest superblock as one member has it.
  Superblock of(unsigned role, const Uuid& uuid) const;

  // Writes a superblock of the next epoch with the roster as it is now, durably. False: a role
  // failed, and is out in memory only; write again.
  bool write();

  // --- what the next write() makes durable -------------------------------------------------------
  // A session is one opening. A missing member may have one superblock more than those that are
  // here, so its epoch is skipped.
  void begin_session(bool is_member_missing);
  // A new generation of the log begins with this copy of the index.
  void begin_generation(unsigned index_copy, std::uint64_t index_root);
  void set_clean(bool is_clean) noexcept { newest_.is_clean = is_clean; }
  void claim_lease(std::uint64_t id) noexcept;
  void renew_lease(const LeaseHolder& holder);
  void release_lease() noexcept { newest_.lease.is_held = false; }

 private:
  const MemberLayout& layout_;
  const OpenOptions& options_;
  Roster& roster_;
  Superblock newest_;  // role and member are those of whichever was found
  std::uint64_t durable_epoch_;
  std::uint64_t epoch_step_ = 1;
};

}  // namespace calpe::array
