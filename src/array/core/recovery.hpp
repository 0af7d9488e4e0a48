// SPDX-License-Identifier: Apache-2.0
// Recovers an array from its logs after a crash. Every step may be interrupted; the next opening
// then repeats it.
//
// Locks: only one thread runs. run() needs Log::Locked; heal() must not hold it, as repairs commit.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/state/log_scan.hpp"

namespace calpe::array {

class Recovery {
 public:
  // `newest` is the superblock that was found; it has the generation of the log.
  Recovery(SharedState& shared, StripeLoader& loader, const Superblock& newest);
  // Replays the log. Fails if too few members are left. Fails before anything is written if a batch
  // is lost and a later one exists.
  Status run(Log::Locked& log);
  std::uint64_t batches_replayed() const noexcept { return batches_.size(); }
  // Rewrites blocks that were lost in a member's log. Call it after the checkpoint that follows
  // run().
  void heal();

 private:
  // Position of the newest block of a column in a role's log.
  struct Held {
    std::size_t batch = 0;
    std::size_t record = 0;
  };
  struct Entry {
    std::uint32_t slot = no_slot;
    std::uint64_t roles = 0;
    std::vector<Held> held = {};  // by role
  };
  // A block of a role that is copied from its log to its slot.
  struct Move {
    unsigned role = 0;
    std::uint64_t from = 0;  // offset in the log
    std::uint64_t to = 0;    // offset in the member
    const LogRecord* record = nullptr;
  };

  Status check_gap();
  void take(Log::Locked& log, std::size_t number);
  void write_in_place();
  void add_moves(const Entry& entry, std::uint64_t stripe, std::vector<Move>& moves);
  void run_moves(std::span<const Move> moves, std::span<std::byte> bytes);
  bool read_block(const FoundBatch& batch, const LogRecord& record, unsigned role,
                  std::span<std::byte> to);
  bool complete_tail();
  bool compute_part(FoundBatch& tail, unsigned role, std::span<std::byte> part);
  void overlay_tail(const FoundBatch& tail);

  const MemberLayout& layout_;
  const BlockCheck& check_;
  Roster& roster_;
  Index& index_;
  BufferStock& stock_;
  Overlay& overlay_;
  StripeLoader& loader_;
  const Superblock& newest_;
  LogScan scan_;
  std::vector<FoundBatch> batches_;
  std::map<std::uint64_t, Entry> entries_;  // by stripe and column
  std::vector<std::uint64_t> damaged_;      // stripes with a block that a log lacks
};

}  // namespace calpe::array
