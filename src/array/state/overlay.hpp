// SPDX-License-Identifier: Apache-2.0
// Changes that are not in their place yet: the batch that writers fill, and the one that is being
// committed. Reads look here first.
//
// Locks: one mutex for both batches. It is taken last: its holder takes no other lock and sends no
// request. Calls under "committing" also need the log's commit lock.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "array/state/batch.hpp"

namespace calpe::array {

using CountByRole = std::array<std::uint64_t, members_most>;

class Overlay {
 public:
  explicit Overlay(const MemberLayout& layout);

  // --- reading; any thread that has the stripe's lock --------------------------------------------
  // False: no batch has anything. A reader asks before it looks checksums up in the table: a change
  // may move from here to there in between.
  bool has_any() const noexcept { return has_any_.load(std::memory_order_acquire); }
  struct Block {
    bool is_copied = false;   // its bytes were copied; otherwise the member has them
    std::uint64_t check = 0;  // its newest checksum
  };
  // The newest change of a block, or nullopt when the overlay has none.
  std::optional<Block> find(std::uint64_t stripe, std::uint32_t column, unsigned role,
                            std::byte* to);

  // --- filling; any thread that has the stripe's lock --------------------------------------------
  // Calls put(batch) with the mutex held. put returns false, and changes nothing, when the batch
  // has no room; commit then, and try again.
  template <class Put>
  bool put(const Put& put) {
    const std::lock_guard lock(mutex_);
    if (!put(*pending_)) return false;
    has_any_.store(true, std::memory_order_release);
    return true;
  }
  // Counts a block that a repair has written: the next commit makes it durable. Takes no lock; for
  // a block whose checksum goes through the log, call it inside put().
  void count_rewritten(unsigned role) noexcept { ++rewritten_[role]; }

  // --- committing; one thread at a time ----------------------------------------------------------
  // What was put so far becomes the batch that is being committed. Returns the blocks that were
  // counted since the last commit.
  CountByRole begin_commit();
  Batch& committing() noexcept { return *committing_; }
  // The committed batch is in its place.
  void end_commit();
  // Drops what was put; only before other threads use the array.
  void drop_pending();

 private:
  unsigned roles_;
  std::mutex mutex_;
  std::unique_ptr<Batch> pending_;
  std::unique_ptr<Batch> committing_;
  std::atomic<bool> has_any_ = false;
  std::array<std::atomic<std::uint64_t>, members_most> rewritten_ = {};
};

}  // namespace calpe::array
