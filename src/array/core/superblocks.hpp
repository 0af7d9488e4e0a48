// SPDX-License-Identifier: Apache-2.0
// Keeps the newest superblock, and writes it to all live members and spares.
//
// Locks: none. All calls need Log::Locked, except while only one thread runs (opening).
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
  // The epoch of the next superblock that write() makes.
  std::uint64_t next_epoch() const noexcept { return newest_.epoch + epoch_step_; }
  // The newest superblock, for one member.
  Superblock of(unsigned role, const Uuid& uuid) const;

  // Durably writes a superblock of the next epoch with the current roster. Returns false if a
  // member failed, which is then out in memory only; call it again.
  bool write();

  // --- what the next write() makes durable -------------------------------------------------------
  // A session is one opening. A missing member may have one superblock more than the present ones,
  // so its epoch is skipped.
  void begin_session(bool is_member_missing);
  // Starts a new generation of the log with this copy of the index.
  void begin_generation(unsigned index_copy, std::uint64_t index_root);
  // The size of the array. An interrupted scrub starts again, as its position may be in the new
  // part.
  void set_size(const Growth& to) noexcept;
  void set_clean(bool is_clean) noexcept { newest_.is_clean = is_clean; }
  void set_scrub(const ScrubHistory& scrub) noexcept { newest_.scrub = scrub; }
  void claim_lease(std::uint64_t id) noexcept;
  void renew_lease(const LeaseHolder& holder);
  void release_lease() noexcept { newest_.lease.is_held = false; }

 private:
  Successor successor();

  const MemberLayout& layout_;
  const OpenOptions& options_;
  Roster& roster_;
  Superblock newest_;  // role and member are those of any member
  std::uint64_t durable_epoch_;
  std::uint64_t epoch_step_ = 1;
};

}  // namespace calpe::array
