// SPDX-License-Identifier: Apache-2.0
#include "store/change/in_place_stripes.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/read/in_place_check.hpp"

namespace calpe::store {

namespace {

// Memory limit of a run: new blocks of all shards.
constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 24U;

}  // namespace

OriginalStripes::OriginalStripes(const OpenSet& files, const StripeCoder& coder,
                                 OriginalSource& now, OldChecksums& old,
                                 const ChangedBlocks& changed, const std::vector<bool>& is_kept,
                                 ThreadPool& helpers)
    : files_(files),
      coder_(coder),
      now_(now),
      old_(old),
      changed_(changed),
      is_kept_(is_kept),
      helpers_(helpers),
      data_shards_(files.header().spec.data_shards),
      parity_shards_(files.header().spec.parity_shards),
      block_bytes_(files.header().block_bytes) {}

Status OriginalStripes::update(const TakeBlocks& take, const OnProgress& on_progress) {
  const StripeRanges stripes = changed_.stripes();
  stripe_count_ = stripes.count();
  std::uint64_t done = 0;
  for (const StripeRun& range : stripes.runs()) {
    for (std::uint64_t stripe = range.first_stripe; stripe < range.end();) {
      const StripeRun run =
          files_.run_from(stripe, range.end(), memory_bytes / (data_shards_ + parity_shards_));
      CALPE_CHECK(update_run(run, take));
      stripe = run.end();
      done += run.stripe_count;
      if (on_progress) on_progress(done, stripe_count_);
    }
  }
  return Done{};
}

Status OriginalStripes::update_run(const StripeRun& run, const TakeBlocks& take) {
  run_ = run;
  CALPE_CHECK(read());
  for (std::size_t j = 0; j < run_.stripe_count; ++j) {
    CALPE_CHECK(check(j));
  }
  CALPE_CHECK(encode());
  return give(take);
}

std::uint64_t OriginalStripes::content_offset(std::size_t shard,
                                              std::uint64_t stripe) const noexcept {
  return (shard * files_.header().stripe_count + stripe) * block_bytes_;
}

Status OriginalStripes::read() {
  data_.resize(data_shards_ * run_.stripe_count * block_bytes_);
  is_same_.assign(data_shards_ * run_.stripe_count, 0);
  for (std::size_t i = 0; i < data_shards_; ++i) {
    const auto blocks = std::span(data_).subspan(i * run_.stripe_count * block_bytes_,
                                                 run_.stripe_count * block_bytes_);
    CALPE_CHECK(now_.read_data(blocks, content_offset(i, run_.first_stripe)));
    for (std::size_t j = 0; j < run_.stripe_count; ++j) {
      is_same_[i * run_.stripe_count + j] =
          old_.is_same(static_cast<ShardIndex>(i), run_.first_stripe + j, data(i, j)) ? 1 : 0;
    }
  }
  return Done{};
}

bool OriginalStripes::has_kept_bytes(std::size_t shard, std::uint64_t stripe) const {
  const auto pieces = now_.pieces_in(content_offset(shard, stripe), block_bytes_);
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const OriginalPiece& piece) { return is_kept_[piece.entry]; });
}

void OriginalStripes::add_unchecked(std::size_t shard, std::uint64_t stripe) {
  for (const OriginalPiece& piece : now_.pieces_in(content_offset(shard, stripe), block_bytes_)) {
    if (is_kept_[piece.entry]) unchecked_.insert(piece.entry);
  }
}

// A changed block may also have bytes of files that did not change. The block as it was shows
// whether they are still good.
Status OriginalStripes::check(std::size_t j) {
  const std::uint64_t stripe = run_.first_stripe + j;
  std::vector<ShardIndex> wanted;
  std::optional<ShardIndex> bad;
  for (std::size_t i = 0; i < data_shards_; ++i) {
    if (is_same_[i * run_.stripe_count + j] != 0) continue;
    const auto shard = static_cast<ShardIndex>(i);
    const bool is_changed = changed_.contains(shard, stripe);
    if (!is_changed || has_kept_bytes(i, stripe)) wanted.push_back(shard);
    if (!is_changed && !bad) bad = shard;
  }
  if (wanted.empty()) return Done{};
  CALPE_TRY(const Rebuilt outcome, rebuild_old(j, wanted));
  if (outcome == Rebuilt::done) {
    for (const ShardIndex shard : wanted) {
      const auto was = std::span(was_).subspan(shard * block_bytes_, block_bytes_);
      CALPE_CHECK(compare_kept(shard, stripe, was, data(shard, j)));
    }
  }
  if (bad) return damaged(*bad, stripe);
  if (outcome == Rebuilt::lost) {
    for (const ShardIndex shard : wanted)
      add_unchecked(shard, stripe);
  }
  if (outcome != Rebuilt::contradicting) return Done{};
  return make_error(ErrorCode::corrupt, "the blocks of stripe ", stripe,
                    " match their checksums but not each other; nothing was changed: run calpe ",
                    "repair first");
}

Result<Rebuilt> OriginalStripes::rebuild_old(std::size_t j, const std::vector<ShardIndex>& wanted) {
  const std::size_t shards = data_shards_ + parity_shards_;
  was_.resize(shards * block_bytes_);
  std::vector<Shard> blocks;
  std::vector<std::uint8_t> good(shards);
  for (std::size_t i = 0; i < shards; ++i) {
    const auto block = std::span(was_).subspan(i * block_bytes_, block_bytes_);
    blocks.emplace_back(block.data(), block.size());
    if (i >= data_shards_) {
      files_.read_any(i, {run_.first_stripe + j, 1},
                      {block.data(), block_bytes_, std::span(good).subspan(i, 1)});
    } else if (is_same_[i * run_.stripe_count + j] != 0) {
      std::memcpy(block.data(), data(i, j).data(), block_bytes_);
      good[i] = 1;
    }
  }
  return coder_.rebuild({blocks, good}, wanted);
}

Status OriginalStripes::compare_kept(std::size_t shard, std::uint64_t stripe,
                                     std::span<const std::byte> was,
                                     std::span<const std::byte> is) {
  const std::uint64_t begin = content_offset(shard, stripe);
  for (const OriginalPiece& piece : now_.pieces_in(begin, block_bytes_)) {
    if (!is_kept_[piece.entry]) continue;
    const std::uint64_t from = std::max(begin, piece.content_offset) - begin;
    const std::uint64_t to = std::min(begin + block_bytes_, piece.end()) - begin;
    if (std::memcmp(was.data() + from, is.data() + from, to - from) != 0) {
      return is_damaged(piece.entry);
    }
  }
  return Done{};
}

Status OriginalStripes::is_damaged(std::size_t entry) {
  CALPE_CHECK(now_.check_all());  // or written just now
  return original_damaged(now_.shown(entry), true);
}

// The stripe cannot be rebuilt, so it is not known which of the files in the block is damaged.
Status OriginalStripes::damaged(std::size_t shard, std::uint64_t stripe) {
  const auto pieces = now_.pieces_in(content_offset(shard, stripe), block_bytes_);
  if (!pieces.empty()) return is_damaged(pieces.front().entry);
  return make_error(ErrorCode::corrupt, "the checksum of stripe ", stripe, " in part ", shard,
                    " of the data is damaged; nothing was changed: run calpe repair first");
}

Status OriginalStripes::encode() {
  parity_.resize(parity_shards_ * run_.stripe_count * block_bytes_);
  std::vector<Status> outcomes(run_.stripe_count, Done{});
  helpers_.run(run_.stripe_count, [&](std::size_t j) {
    outcomes[j] = guarded([&] {
      std::vector<ConstShard> inputs;
      std::vector<Shard> outputs;
      for (std::size_t i = 0; i < data_shards_; ++i)
        inputs.emplace_back(data(i, j).data(), block_bytes_);
      for (std::size_t i = 0; i < parity_shards_; ++i)
        outputs.emplace_back(parity(i, j).data(), block_bytes_);
      return coder_.codec().encode(inputs, outputs);
    });
  });
  for (Status& outcome : outcomes) {
    CALPE_CHECK(std::move(outcome));
  }
  return Done{};
}

Status OriginalStripes::give(const TakeBlocks& take) {
  for (std::size_t i = 0; i < data_shards_; ++i) {
    for (std::size_t j = 0; j < run_.stripe_count; ++j) {
      if (is_same_[i * run_.stripe_count + j] != 0) continue;
      CALPE_CHECK(take(static_cast<ShardIndex>(i), run_.first_stripe + j, data(i, j)));
    }
  }
  for (std::size_t i = 0; i < parity_shards_; ++i) {
    const auto blocks = std::span(parity_).subspan(i * run_.stripe_count * block_bytes_,
                                                   run_.stripe_count * block_bytes_);
    CALPE_CHECK(take(static_cast<ShardIndex>(data_shards_ + i), run_.first_stripe, blocks));
  }
  return Done{};
}

}  // namespace calpe::store
