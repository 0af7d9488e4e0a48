// SPDX-License-Identifier: Apache-2.0
#include "array/core/stripe_decoder.hpp"

#include <array>
#include <bit>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

struct Indices {
  std::array<ShardIndex, members_most> all = {};
  std::size_t count = 0;
  explicit Indices(std::uint64_t shards) {
    for (; shards != 0; shards &= shards - 1) {
      all[count++] = static_cast<ShardIndex>(std::countr_zero(shards));
    }
  }
  std::span<const ShardIndex> span() const { return std::span(all).first(count); }
};

}  // namespace

StripeDecoder::StripeDecoder(SharedState& shared)
    : layout_(shared.layout),
      check_(shared.check),
      codec_(shared.codec),
      settings_(shared.settings),
      roster_(shared.roster),
      lost_(shared.lost) {}

std::uint64_t StripeDecoder::offset_of(const StripeAt& at, unsigned shard,
                                       std::uint32_t column) const {
  return at.stripe * layout_.stripe_bytes() + std::uint64_t{shard} * layout_.chunk_bytes +
         column * block_bytes;
}

// Not if too many members are out: then the blocks are missing, and may come back.
void StripeDecoder::note_lost(const StripeAt& at, const StripeBuffer& buffer,
                              std::uint32_t column) {
  if (roster_.is_failed()) return;
  for (unsigned shard = 0; shard < layout_.data; ++shard) {
    const std::uint64_t offset = offset_of(at, shard, column);
    if (buffer.states[buffer.at(shard, column)] == BlockState::good) continue;
    if (offset < settings_.bytes) lost_.add(offset);
  }
}

void StripeDecoder::forget_found(const StripeAt& at, const StripeBuffer& buffer) {
  if (!lost_.is_any()) return;
  for (unsigned shard = 0; shard < layout_.data; ++shard) {
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      if (buffer.states[buffer.at(shard, column)] == BlockState::good)
        lost_.remove(offset_of(at, shard, column), block_bytes);
    }
  }
}

std::uint64_t StripeDecoder::good_shards(const StripeBuffer& buffer, std::uint32_t column) const {
  std::uint64_t shards = 0;
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    if (buffer.states[buffer.at(shard, column)] == BlockState::good) {
      shards |= std::uint64_t{1} << shard;
    }
  }
  return shards;
}

Status StripeDecoder::decode_run(const StripeAt& at, StripeBuffer& buffer, std::uint32_t first,
                                 std::uint32_t count) {
  const std::uint64_t good = good_shards(buffer, first);
  std::uint64_t lost = 0;
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    const std::size_t i = buffer.at(shard, first);
    if (buffer.states[i] != BlockState::good && buffer.needs[i] != 0) {
      lost |= std::uint64_t{1} << shard;
    }
  }
  if (lost == 0) return Done{};
  const auto good_count = static_cast<unsigned>(std::popcount(good));
  if (good_count < layout_.data) {
    blocks_unreadable_ += count;
    for (std::uint32_t column = first; column < first + count; ++column)
      note_lost(at, buffer, column);
    return make_error(ErrorCode::corrupt, "stripe ", at.stripe, " has ", good_count,
                      " good blocks in column ", first, "; expected at least ", layout_.data);
  }
  const Indices available(good);
  const Indices wanted(lost);
  CALPE_TRY(const Plan plan, codec_.plan_decode(available.span(), wanted.span()));
  std::array<ConstShard, members_most> inputs = {};
  std::array<Shard, members_most> outputs = {};
  for (std::size_t i = 0; i < plan.reads().size(); ++i) {
    inputs[i] = buffer.blocks(plan.reads()[i], first, count);
  }
  for (std::size_t i = 0; i < plan.writes().size(); ++i) {
    outputs[i] = buffer.blocks(plan.writes()[i], first, count);
  }
  CALPE_CHECK(codec_.run(plan, std::span(inputs).first(plan.reads().size()),
                         std::span(outputs).first(plan.writes().size())));
  for (const ShardIndex shard : plan.writes()) {
    for (std::uint32_t column = first; column < first + count; ++column) {
      CALPE_CHECK(accept(at, buffer, shard, column));
    }
  }
  return Done{};
}

// A decoded block is good unless its checksum is known and does not match.
Status StripeDecoder::accept(const StripeAt& at, StripeBuffer& buffer, unsigned shard,
                             std::uint32_t column) {
  const std::size_t i = buffer.at(shard, column);
  if (buffer.states[i] == BlockState::wrong) {
    const unsigned role = layout_.role_of(shard, at.stripe);
    const BlockPlace place{role, at.stripe, at.slot, column};
    const std::uint64_t expected = buffer.checks[i];
    if (expected != unknown_check && check_.of(place, buffer.block(shard, column)) != expected) {
      ++blocks_unreadable_;
      note_lost(at, buffer, column);
      return make_error(ErrorCode::corrupt, "stripe ", at.stripe, ", column ", column,
                        ": the decoded block of member ", role,
                        " does not match its checksum either");
    }
    buffer.needs[i] = needs_rewrite;
  }
  buffer.states[i] = BlockState::good;
  return Done{};
}

Status StripeDecoder::decode(const StripeAt& at, StripeBuffer& buffer) {
  // The state of a column for decoding; runs of columns with equal state are decoded together.
  const auto is_same = [&](std::uint32_t a, std::uint32_t b) {
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      const std::size_t i = buffer.at(shard, a);
      const std::size_t j = buffer.at(shard, b);
      const bool is_good = buffer.states[i] == BlockState::good;
      if (is_good != (buffer.states[j] == BlockState::good)) return false;
      if (!is_good && (buffer.needs[i] != 0) != (buffer.needs[j] != 0)) return false;
    }
    return true;
  };
  std::uint32_t first = 0;
  Status result = Done{};
  while (first < layout_.columns) {
    std::uint32_t end = first + 1;
    while (end < layout_.columns && is_same(first, end))
      ++end;
    Status run = decode_run(at, buffer, first, end - first);
    if (!run) result = std::move(run);  // continue with the other columns
    first = end;
  }
  forget_found(at, buffer);
  return result;
}

}  // namespace calpe::array
