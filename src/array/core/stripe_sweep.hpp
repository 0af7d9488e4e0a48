// SPDX-License-Identifier: Apache-2.0
// Reads all stripes in the order of their slots, a group at a time: while the members read a group,
// the group before it is decoded, and the one before that is written. So disks work in sequence and
// without pauses. Short gaps, such as free slots, are read and written, too: a disk needs longer to
// skip them.
//
// Locks: the locks of a group of stripes are held, exclusively, only while the group is read, and
// again while it is written. A stripe that changed in between is left to the caller. Only tries
// these locks (StripeLocks).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/core/stripe_locks.hpp"
#include "array/state/slot_order.hpp"

namespace calpe::array {

struct SweptStripe {
  StripeAt at;
  std::uint64_t roles = 0;    // of the caller
  std::uint64_t changes = 0;  // Stripes::changes() when it was read
  BufferStock::Lease buffer;
  StripeLoad load = {};
  bool is_good = false;  // read and decoded
};

// What the owner of a sweep does with its stripes.
class SweepWork {
 public:
  virtual ~SweepWork() = default;
  // Marks the blocks that it needs in one.buffer, and returns whether there are any. Holds the lock
  // of the stripe.
  virtual bool want(SweptStripe& one) = 0;
  // Whether blocks are to be decoded, and whether stripes are written.
  virtual bool decodes() const = 0;
  virtual bool writes() const = 0;
  // Computes with blocks that are good. Holds no lock. Returns false to have it done slowly.
  virtual bool compute(SweptStripe& one) = 0;
  // Appends the requests that write the stripe. Holds its lock.
  virtual void add_writes(SweptStripe& one, std::vector<MemberRequest>& to_roles,
                          std::vector<MemberRequest>& to_successor) = 0;
  // The stripes were written. Holds their locks.
  virtual Status end_writes(std::span<SweptStripe* const> written) = 0;
  // The stripe changed, is in use or has wrong blocks: it must be done on its own. Holds no lock.
  virtual Status do_alone(std::uint64_t stripe) = 0;
  // The successor that writes go to.
  virtual SuccessorAt successor() const { return {}; }

 protected:
  SweepWork() = default;
  SweepWork(const SweepWork&) = default;
  SweepWork& operator=(const SweepWork&) = default;
};

class StripeSweep {
 public:
  StripeSweep(SharedState& shared, StripeLoader& loader);

  // Continues at this slot, and forgets what was read before.
  void restart(std::uint64_t slot);
  // The next slot to be read.
  std::uint64_t slot() const noexcept { return slot_; }
  // Reads the stripes of slots below `end`, up to `bytes` of each member (at least one stripe).
  // Returns the number of stripes. The last two groups are not written yet.
  Result<std::uint64_t> advance(std::uint64_t end, std::uint64_t bytes, SweepWork& work);
  // Writes what was read.
  Status drain(SweepWork& work);

 private:
  using Group = std::vector<SweptStripe>;
  // Requests of a turn, and which of them are reads for a stripe.
  struct Turn {
    std::vector<MemberRequest> to_roles{};
    std::vector<MemberRequest> to_successor{};
    std::vector<std::size_t> reads{};
  };
  class TakenSlots;
  Group next_group(std::uint64_t end, std::uint64_t stripes, SweepWork& work, StripeLocks& locks);
  std::vector<SweptStripe*> lock_ready(const SweepWork& work, StripeLocks& locks);
  void compute_all(Group& group, SweepWork& work);
  void add_reads(const Group& next, Turn& turn);
  void add_writes(std::span<SweptStripe* const> locked, SweepWork& work, Turn& turn,
                  TakenSlots& taken);
  // The bytes between two slots if they are few; of `scratch`.
  std::span<std::byte> gap(std::uint64_t before, std::uint64_t slot,
                           const AlignedBytes& scratch) const noexcept;
  void add_with_gap(const MemberRequest& request, std::span<std::byte> gap,
                    std::vector<MemberRequest>& to) const;
  Status turn(Group next, SweepWork& work, StripeLocks& locks);
  void fetch_checksums(std::uint64_t end);
  Status do_rest_alone(SweepWork& work);

  const MemberLayout& layout_;
  Roster& roster_;
  ChecksumTable& table_;
  BufferStock& stock_;
  Stripes& stripes_;
  StripeLoader& loader_;
  SlotOrder order_;
  std::uint64_t slot_ = 0;
  std::uint64_t fetched_end_ = 0;     // slot
  Group read_;                        // not decoded
  Group ready_;                       // decoded
  std::vector<std::uint64_t> alone_;  // stripes
  std::uint64_t slot_read_ = 0;       // the last one
  std::uint64_t slot_written_ = 0;
  AlignedBytes unused_;  // read into
  AlignedBytes zeros_;   // written
};

}  // namespace calpe::array
