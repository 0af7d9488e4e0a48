// SPDX-License-Identifier: Apache-2.0
// The lease of an open array: claimed before anything else is written, renewed while it is open. A
// renewal is the newest superblock with a higher count of renewals, in the copy that is not valid,
// so that a crash leaves one of the two. All but check() need OpenOptions::lease.
//
// Locks: none. claim() and write() need Log::Locked; check() needs no lock.
#pragma once
#include <calpe/result.hpp>

#include "array/core/shared_state.hpp"
#include "array/core/superblocks.hpp"

namespace calpe::array {

class HeldLease {
 public:
  HeldLease(SharedState& shared, Superblocks& superblocks);

  // Makes the newest superblock, with our lease, durable on every live member. From then on each
  // request to members is guarded: during opening it renews a lease that is due, afterwards it
  // checks a lease that is late.
  Status claim();
  // The same for a lease that this process holds already.
  Status keep();
  // From now on one thread uses the array.
  void begin_opening() noexcept { is_opening_ = keeper_ != nullptr; }
  // From now on several threads may use the array, and the caller renews the lease.
  void end_opening() noexcept { is_opening_ = false; }
  // Stops the roster and fails if a member names another server. Members that cannot be read are
  // handled by the calls that read data.
  Status check();
  // Writes a renewal. A member that fails is out in memory only.
  void write();

 private:
  Status take();
  void guard();

  const MemberLayout& layout_;
  const Uuid& array_;
  LeaseKeeper* keeper_;
  Roster& roster_;
  Superblocks& superblocks_;
  bool is_opening_ = false;  // only one thread runs
  bool is_renewing_ = false;
};

}  // namespace calpe::array
