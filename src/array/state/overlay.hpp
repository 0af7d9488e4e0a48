// SPDX-License-Identifier: Apache-2.0
// Changes that are not in place yet: the batch that writers fill, the one that is being committed,
// and the one that is durable in the log but not yet in place. Reads look here first.
//
// Locks: one mutex for all batches. It is taken last: its holder takes no other lock and sends no
// request. Bytes of blocks are copied without it. Calls under "committing" also need the log's
// commit lock.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "array/state/batch.hpp"

namespace calpe::array {

using CountByRole = std::array<std::uint64_t, members_most>;

class Overlay {
 public:
  explicit Overlay(const MemberLayout& layout);

  // --- reading; any thread that holds the lock of the stripe ---

  // False if all batches are empty. Ask before looking up checksums in the table, as a change may
  // move from here to the table in between.
  bool has_any() const noexcept { return has_any_.load(std::memory_order_acquire); }
  struct Block {
    bool is_copied = false;   // bytes were copied; otherwise they are on the member
    std::uint64_t check = 0;  // its newest checksum
  };
  // The newest change of a block, or nullopt.
  std::optional<Block> find(std::uint64_t stripe, std::uint32_t column, unsigned role,
                            std::byte* to);

  // --- filling; any thread that holds the lock of the stripe ---

  // Calls put(batch) with the mutex held. put returns false, and changes nothing, if the batch is
  // full; then commit and try again. If put throws, the batch may hold a part of the change, and is
  // never committed.
  template <class Put>
  bool put(const Put& put) {
    return this->put(put, [] {});
  }
  // The same; calls fill() without the mutex if put returned true. The batch is not committed
  // before fill() returns, which copies bytes into blocks of the batch. It must not throw, or wait
  // for a commit.
  template <class Put, class Fill>
  bool put(const Put& put, const Fill& fill) {
    Batch* batch = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const bool was_torn = std::exchange(is_torn_, true);
      const bool is_put = put(*pending_);
      is_torn_ = was_torn;
      if (!is_put) return false;
      has_any_.store(true, std::memory_order_release);
      batch = pending_.get();
      batch->begin_fill();
    }
    fill();
    batch->end_fill();
    return true;
  }
  // Counts a block that a repair wrote and the next commit makes durable. Takes no lock. For a
  // block whose checksum goes through the log, call it inside put().
  void count_rewritten(unsigned role) noexcept { ++rewritten_[role]; }

  // --- committing; one thread at a time ----------------------------------------------------------
  // Makes the filled batch the one that is being committed. Returns the blocks counted since the
  // last commit, or nullopt if a failed allocation left a batch incomplete or uncommitted.
  std::optional<CountByRole> begin_commit();
  Batch& committing() noexcept { return *committing_; }
  // The committed batch is durable in the log. It is the one to be written in place; the one before
  // it must be in place.
  void begin_placing();
  Batch& placing() noexcept { return *placing_; }
  // The batch is in place.
  void end_placing();
  // Drops the pending changes; only before other threads use the array.
  void drop_pending();

 private:
  unsigned roles_;
  std::mutex mutex_;
  std::unique_ptr<Batch> pending_;
  std::unique_ptr<Batch> committing_;
  std::unique_ptr<Batch> placing_;
  bool is_torn_ = false;  // a put threw
  std::atomic<bool> has_any_ = false;
  std::array<std::atomic<std::uint64_t>, members_most> rewritten_ = {};
};

}  // namespace calpe::array
