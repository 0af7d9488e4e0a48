// SPDX-License-Identifier: Apache-2.0
// Holds all blocks of a run of stripes in memory, file by file, for callers that check everything.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/little_endian.hpp"
#include "base/thread_pool.hpp"
#include "store/read/open_set.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::store {

// Buffer for the blocks of one file: a copy of a shard, or a missing shard.
struct Slot {
  ShardIndex index = 0;
  const ShardCopy* copy = nullptr;  // nullptr: missing
};

class StripeWindow {
 public:
  // `helpers` may be nullptr. Missing shards get memory only if they are to be rebuilt.
  StripeWindow(const OpenSet& files, ThreadPool* helpers, bool with_missing);

  std::span<const Slot> slots() const noexcept { return slots_; }  // ascending by index
  // Returns the longest run from `first` that fits the memory limit.
  StripeRun next_run(std::uint64_t first, std::uint64_t end) const noexcept;
  void read(const StripeRun& run);

  bool is_good(std::size_t slot, std::size_t j) const { return good_[slot][j] != 0; }
  // True if any slot of the shard has a good block.
  bool has_good(std::size_t index, std::size_t j) const;
  std::span<std::byte> blocks(std::size_t slot) { return blocks_[slot]; }

  // Returns stripe j of the run, with a good block for each shard if a slot has one. Valid until
  // the next read. The caller owns `shards` and `good`, k + m elements each.
  StripeBlocks stripe(std::size_t j, std::vector<Shard>& shards, std::vector<std::uint8_t>& good);
  // Rebuilds blocks that no slot has, and gives every slot of a shard its block. If the stripe is
  // lost, shares only the good blocks; the others are undefined.
  Result<Rebuilt> complete(const StripeCoder& coder, std::size_t j);

  // Calls work(slot) for every slot, on all threads.
  template <class Work>
  void for_each_slot(const Work& work) {
    run_parts(slots_.size(), work);
  }
  // Calls work(j) for every stripe, on all threads.
  template <class Work>
  void for_each_stripe(const Work& work) {
    run_parts(run_.stripe_count, work);
  }

 private:
  template <class Work>
  void run_parts(std::size_t parts, const Work& work) {
    if (helpers_ != nullptr) return helpers_->run(parts, work);
    for (std::size_t i = 0; i < parts; ++i) {
      work(i);
    }
  }

  void read_together(const StripeRun& run);

  const OpenSet& files_;
  ThreadPool* helpers_;
  bool with_missing_;
  StripeRun run_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> first_slot_;  // by shard index, plus an end entry
  std::vector<std::vector<std::byte>> blocks_;
  std::vector<std::vector<std::uint8_t>> good_;
  std::vector<Read> reads_;  // blocks and checksums, for each slot
  std::vector<LittleU64> checksums_;
};

}  // namespace calpe::store
