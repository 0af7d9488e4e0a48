// SPDX-License-Identifier: Apache-2.0
#include "store/change/stripe_update.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

// Memory limit of a run: old and new blocks of all shards.
constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 24U;

// Compares both ways by blocks read and blocks multiplied. Compared blocks were read already.
bool is_delta_cheaper(std::size_t data, std::size_t parity, std::size_t read, std::size_t differ) {
  return parity + differ < (data - read) + data;
}

}  // namespace

StripeUpdate::StripeUpdate(const OpenSet& files, const Codec& codec, ChangedContent& content,
                           ThreadPool* helpers)
    : files_(files),
      codec_(codec),
      content_(content),
      helpers_(helpers),
      data_shards_(codec.spec().data_shards),
      parity_shards_(codec.spec().parity_shards),
      block_bytes_(files.header().block_bytes) {}

StripeRun StripeUpdate::next_run(std::uint64_t first, std::uint64_t end) const noexcept {
  return files_.run_from(first, end, memory_bytes / (2 * (data_shards_ + parity_shards_)));
}

Status StripeUpdate::update(const StripeRun& run, const TakeBlocks& take) {
  begin(run);
  mark_touched();
  CALPE_CHECK(read_marked());
  new_data_ = old_data_;
  const std::uint64_t stripe_bytes = data_shards_ * block_bytes_;
  CALPE_CHECK(content_.write_over(new_data_, run.first_stripe * stripe_bytes));
  run_parts(run.stripe_count, [&](std::size_t stripe) { compare(stripe); });
  choose_ways();
  CALPE_CHECK(read_marked());
  CALPE_CHECK(code_all());
  for (std::size_t shard = 0; shard < data_shards_ + parity_shards_; ++shard) {
    CALPE_CHECK(give(shard, take));
  }
  return Done{};
}

void StripeUpdate::begin(const StripeRun& run) {
  run_ = run;
  const std::size_t shards = data_shards_ + parity_shards_;
  old_data_.assign(run.stripe_count * data_shards_ * block_bytes_, std::byte{0});
  old_parity_.resize(run.stripe_count * parity_shards_ * block_bytes_);
  wanted_.assign(run.stripe_count * shards, 0);
  is_read_.assign(run.stripe_count * shards, 0);
  differs_.assign(run.stripe_count * shards, 0);
  ways_.assign(run.stripe_count, Way::none);
}

void StripeUpdate::mark_touched() {
  const std::uint64_t stripe_bytes = data_shards_ * block_bytes_;
  const std::uint64_t run_begin = run_.first_stripe * stripe_bytes;
  content_.for_each_part(
      run_begin, run_.stripe_count * stripe_bytes, [&](std::uint64_t begin, std::uint64_t end) {
        const std::size_t last = (end - 1 - run_begin) / block_bytes_;
        for (std::size_t block = (begin - run_begin) / block_bytes_; block <= last; ++block) {
          flag(wanted_, block % data_shards_, block / data_shards_) = 1;
        }
      });
}

// Reads wanted blocks that are not in memory yet; new stripes have none.
Status StripeUpdate::read_marked() {
  return run_checked(data_shards_ + parity_shards_,
                     [&](std::size_t shard) { return read_shard(shard); });
}

Status StripeUpdate::read_shard(std::size_t shard) {
  const auto is_due = [&](std::size_t stripe) {
    return flag(wanted_, shard, stripe) != 0 && flag(is_read_, shard, stripe) == 0 &&
           !is_new(stripe);
  };
  std::array<std::uint8_t, group_stripes> good;
  for (std::size_t stripe = 0; stripe < run_.stripe_count; ++stripe) {
    std::size_t end = stripe;
    while (end < run_.stripe_count && is_due(end)) {
      flag(is_read_, shard, end) = 1;
      ++end;
    }
    if (end == stripe) continue;
    const StripeRun part = {run_.first_stripe + stripe, end - stripe};
    const auto verdicts = std::span(good).first(part.stripe_count);
    if (shard < data_shards_) {
      files_.read_any(shard, part,
                      {data(old_data_, stripe, shard), data_shards_ * block_bytes_, verdicts});
    } else {
      files_.read_any(shard, part,
                      {parity(old_parity_, stripe, shard - data_shards_), block_bytes_, verdicts});
    }
    const auto bad = std::find(verdicts.begin(), verdicts.end(), std::uint8_t{0});
    const auto bad_stripe = static_cast<std::uint64_t>(bad - verdicts.begin());
    if (bad != verdicts.end()) return bad_block(shard, part.first_stripe + bad_stripe);
    const std::scoped_lock lock(mutex_);
    counts_.shard_bytes_read += part.stripe_count * block_bytes_;
    stripe = end - 1;
  }
  return Done{};
}

Error StripeUpdate::bad_block(std::size_t shard, std::uint64_t stripe) const {
  const auto copies = files_.copies_of(shard);
  const std::string read_error = files_.read_error_text();
  return make_error(read_error.empty() ? ErrorCode::corrupt : ErrorCode::io,
                    copies.empty() ? text("shard ", shard) : copies.front().found.path,
                    ": the block of stripe ", stripe,
                    " is damaged; nothing was changed: run calpe repair first", read_error);
}

void StripeUpdate::compare(std::size_t stripe) {
  std::size_t read = 0;
  std::size_t differ = 0;
  for (std::size_t shard = 0; shard < data_shards_; ++shard) {
    if (is_new(stripe)) {
      flag(differs_, shard, stripe) = 1;
      continue;
    }
    if (flag(wanted_, shard, stripe) == 0) continue;
    ++read;
    const bool is_other = std::memcmp(data(old_data_, stripe, shard),
                                      data(new_data_, stripe, shard), block_bytes_) != 0;
    if (is_other) flag(differs_, shard, stripe) = 1;
    differ += is_other ? 1 : 0;
  }
  if (is_new(stripe)) {
    ways_[stripe] = Way::encode;
  } else if (differ != 0) {
    ways_[stripe] =
        is_delta_cheaper(data_shards_, parity_shards_, read, differ) ? Way::delta : Way::encode;
  }
}

// Marks the further blocks to read.
void StripeUpdate::choose_ways() {
  for (std::size_t stripe = 0; stripe < run_.stripe_count; ++stripe) {
    const Way way = ways_[stripe];
    counts_.by_delta += way == Way::delta ? 1 : 0;
    counts_.by_encode += way == Way::encode ? 1 : 0;
    counts_.same += way == Way::none ? 1 : 0;
    for (std::size_t shard = 0; shard < data_shards_ + parity_shards_; ++shard) {
      const bool is_parity = shard >= data_shards_;
      if ((way == Way::delta && is_parity) || (way == Way::encode && !is_parity)) {
        flag(wanted_, shard, stripe) = 1;
      }
    }
  }
}

Status StripeUpdate::code_all() {
  new_parity_.resize(old_parity_.size());
  return run_checked(run_.stripe_count, [&](std::size_t stripe) { return code(stripe); });
}

Status StripeUpdate::code(std::size_t stripe) {
  if (ways_[stripe] == Way::none) return Done{};
  std::vector<Shard> outputs;
  for (std::size_t i = 0; i < parity_shards_; ++i) {
    outputs.emplace_back(parity(new_parity_, stripe, i), block_bytes_);
  }
  return ways_[stripe] == Way::encode ? encode(stripe, outputs) : add_delta(stripe, outputs);
}

Status StripeUpdate::encode(std::size_t stripe, std::span<const Shard> outputs) {
  std::vector<ConstShard> inputs;
  for (std::size_t i = 0; i < data_shards_; ++i) {
    // Blocks read only now are in the old bytes alone.
    const bool is_changed = flag(differs_, i, stripe) != 0;
    inputs.emplace_back(data(is_changed ? new_data_ : old_data_, stripe, i), block_bytes_);
  }
  for (std::size_t i = 0; i < parity_shards_; ++i) {
    flag(differs_, data_shards_ + i, stripe) = 1;
  }
  return codec_.encode(inputs, outputs);
}

Status StripeUpdate::add_delta(std::size_t stripe, std::span<const Shard> outputs) {
  for (std::size_t i = 0; i < parity_shards_; ++i) {
    std::memcpy(outputs[i].data(), parity(old_parity_, stripe, i), block_bytes_);
  }
  for (std::size_t i = 0; i < data_shards_; ++i) {
    if (flag(differs_, i, stripe) == 0) continue;
    const Codec::Change change = {
        .data_index = static_cast<ShardIndex>(i), .offset = 0, .shard_bytes = block_bytes_};
    CALPE_CHECK(codec_.update(change, ConstShard(data(old_data_, stripe, i), block_bytes_),
                              ConstShard(data(new_data_, stripe, i), block_bytes_), outputs));
  }
  for (std::size_t i = 0; i < parity_shards_; ++i) {
    // A local parity of lrc does not depend on data of other groups.
    if (std::memcmp(outputs[i].data(), parity(old_parity_, stripe, i), block_bytes_) != 0) {
      flag(differs_, data_shards_ + i, stripe) = 1;
    }
  }
  return Done{};
}

Status StripeUpdate::give(std::size_t shard, const TakeBlocks& take) {
  for (std::size_t stripe = 0; stripe < run_.stripe_count;) {
    run_blocks_.clear();
    std::size_t end = stripe;
    for (; end < run_.stripe_count && flag(differs_, shard, end) != 0; ++end) {
      const std::byte* block = shard < data_shards_
                                   ? data(new_data_, end, shard)
                                   : parity(new_parity_, end, shard - data_shards_);
      run_blocks_.insert(run_blocks_.end(), block, block + block_bytes_);
    }
    if (end == stripe) {
      ++stripe;
      continue;
    }
    counts_.blocks_written += end - stripe;
    CALPE_CHECK(take(static_cast<ShardIndex>(shard), run_.first_stripe + stripe, run_blocks_));
    stripe = end;
  }
  return Done{};
}

}  // namespace calpe::store
