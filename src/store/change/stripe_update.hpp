// SPDX-License-Identifier: Apache-2.0
// Computes the changed blocks of stripes: parity from the difference if few blocks of a stripe
// changed, else from all of its data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "base/allocation_guard.hpp"
#include "base/thread_pool.hpp"
#include "store/change/content_changes.hpp"
#include "store/read/open_set.hpp"

namespace calpe::store {

struct StripeCounts {
  std::uint64_t by_delta = 0;
  std::uint64_t by_encode = 0;
  std::uint64_t same = 0;  // compared, no byte differs
  std::uint64_t blocks_written = 0;
  std::uint64_t shard_bytes_read = 0;
};

// Receives blocks of consecutive stripes of one shard, in ascending order per shard.
using TakeBlocks = std::function<Status(ShardIndex shard, std::uint64_t first_stripe,
                                        std::span<const std::byte> blocks)>;

class StripeUpdate {
 public:
  // Borrows everything; helpers may be nullptr. Stripes after the stripe_count of the set are new.
  StripeUpdate(const OpenSet& files, const Codec& codec, ChangedContent& content,
               ThreadPool* helpers);

  // Longest run from `first` that fits the memory limit and stays in its group.
  StripeRun next_run(std::uint64_t first, std::uint64_t end) const noexcept;
  // Passes all changed blocks to `take`. Fails if the content or `take` fails, and with corrupt if
  // a needed block is damaged.
  Status update(const StripeRun& run, const TakeBlocks& take);

  const StripeCounts& counts() const noexcept { return counts_; }

 private:
  enum class Way : std::uint8_t { none, delta, encode };
  std::byte* data(std::vector<std::byte>& content, std::size_t stripe, std::size_t shard) const {
    return content.data() + (stripe * data_shards_ + shard) * block_bytes_;
  }
  std::byte* parity(std::vector<std::byte>& blocks, std::size_t stripe, std::size_t shard) const {
    return blocks.data() + (shard * run_.stripe_count + stripe) * block_bytes_;
  }
  std::uint8_t& flag(std::vector<std::uint8_t>& flags, std::size_t shard,
                     std::size_t stripe) const {
    return flags[shard * run_.stripe_count + stripe];
  }
  bool is_new(std::size_t stripe) const noexcept {
    return run_.first_stripe + stripe >= files_.header().stripe_count;
  }

  void begin(const StripeRun& run);
  void mark_touched();
  Status read_marked();
  Status read_shard(std::size_t shard);
  Error bad_block(std::size_t shard, std::uint64_t stripe) const;
  void compare(std::size_t stripe);
  void choose_ways();
  Status code(std::size_t stripe);
  Status encode(std::size_t stripe, std::span<const Shard> outputs);
  Status add_delta(std::size_t stripe, std::span<const Shard> outputs);
  Status code_all();
  Status give(std::size_t shard, const TakeBlocks& take);

  template <class Work>
  void run_parts(std::size_t parts, const Work& work) {
    if (helpers_ != nullptr) return helpers_->run(parts, work);
    for (std::size_t i = 0; i < parts; ++i) {
      work(i);
    }
  }
  // First error of any thread.
  template <class Work>
  Status run_checked(std::size_t parts, const Work& work) {
    error_.reset();
    run_parts(parts, [&](std::size_t part) {
      const Status done = guarded([&] { return work(part); });
      if (done) return;
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = done.error();
    });
    if (error_) return *error_;
    return Done{};
  }

  const OpenSet& files_;
  const Codec& codec_;
  ChangedContent& content_;
  ThreadPool* helpers_;
  std::size_t data_shards_;
  std::size_t parity_shards_;
  std::size_t block_bytes_;
  StripeRun run_;
  std::vector<std::byte> old_data_;  // in content order
  std::vector<std::byte> new_data_;
  std::vector<std::byte> old_parity_;  // shard by shard
  std::vector<std::byte> new_parity_;
  std::vector<std::uint8_t> wanted_;  // by shard and stripe: to be read
  std::vector<std::uint8_t> is_read_;
  std::vector<std::uint8_t> differs_;
  std::vector<Way> ways_;  // by stripe
  std::vector<std::byte> run_blocks_;
  std::mutex mutex_;  // guards the two members below
  std::optional<Error> error_;
  StripeCounts counts_;
};

}  // namespace calpe::store
