// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/equations_decode.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/linear_map.hpp"

namespace calpe::tools {

namespace {

// A sum of units of the stripe, data first. As an equation, the sum is zero.
using UnitSum = std::vector<std::uint64_t>;

bool has(const UnitSum& sum, std::size_t unit) {
  return (sum[unit / 64] >> (unit % 64) & 1) != 0;
}
void flip(UnitSum& sum, std::size_t unit) {
  sum[unit / 64] ^= std::uint64_t{1} << (unit % 64);
}
void add(UnitSum& sum, const UnitSum& other) {
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] ^= other[i];
}

class Solver {
 public:
  Solver(const ir::Program& encoder, std::span<const ShardIndex> lost)
      : encoder_(encoder), map_(ir::bit_map(encoder)), lost_(lost.begin(), lost.end()) {
    for (const ShardIndex shard : lost_) {
      for (std::size_t b = 0; b < units_per_shard() && shard < encoder.input_shards(); ++b)
        unknown_.push_back(shard * units_per_shard() + b);
    }
    pivots_.resize(unknown_.size());
  }

  // Takes equations of surviving parity, shard by shard, until every unknown has a pivot.
  bool solve() {
    std::size_t solved = 0;
    for (std::uint32_t p = 0; p < encoder_.outputs() && solved < unknown_.size(); ++p) {
      const std::size_t unit = encoder_.inputs() + p;
      if (lost_.contains(static_cast<ShardIndex>(unit / units_per_shard()))) continue;
      UnitSum equation = sum_of_parity(p);
      flip(equation, unit);
      solved += take(std::move(equation)) ? 1 : 0;
    }
    return solved == unknown_.size();
  }

  // Returns the unit in terms of surviving units. Call after solve().
  UnitSum sum_of(std::size_t unit) const {
    UnitSum sum = unit < encoder_.inputs()
                      ? UnitSum(words(), 0)
                      : sum_of_parity(static_cast<std::uint32_t>(unit - encoder_.inputs()));
    if (unit < encoder_.inputs()) flip(sum, unit);
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      if (has(sum, unknown_[i])) add(sum, pivots_[i]);
    }
    return sum;
  }

 private:
  std::size_t units_per_shard() const { return encoder_.unit_count(); }
  std::size_t words() const { return (encoder_.inputs() + encoder_.outputs() + 63) / 64; }

  UnitSum sum_of_parity(std::uint32_t p) const {
    UnitSum sum(words(), 0);
    std::ranges::copy(map_.row(p), sum.begin());
    return sum;
  }

  // Returns false if the equation depends on the earlier ones.
  bool take(UnitSum equation) {
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      if (!pivots_[i].empty() && has(equation, unknown_[i])) add(equation, pivots_[i]);
    }
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      if (!has(equation, unknown_[i])) continue;
      for (UnitSum& pivot : pivots_) {
        if (!pivot.empty() && has(pivot, unknown_[i])) add(pivot, equation);
      }
      pivots_[i] = std::move(equation);
      return true;
    }
    return false;
  }

  const ir::Program& encoder_;
  gf::BitMatrix map_;
  std::set<ShardIndex> lost_;
  std::vector<std::size_t> unknown_;  // units of lost data
  std::vector<UnitSum> pivots_;       // by unknown: its equation, or empty
};

Status check_lost(const ir::Program& encoder, std::span<const ShardIndex> lost) {
  const std::uint32_t shards = encoder.input_shards() + encoder.output_shards();
  std::set<ShardIndex> seen;
  for (const ShardIndex shard : lost) {
    if (shard >= shards)
      return invalid("lost shard ", shard, " does not exist; expected 0..", shards - 1);
    if (!seen.insert(shard).second) return invalid("lost shard ", shard, " is named twice");
  }
  return Done{};
}

}  // namespace

Result<BitDecoder> decode_bits(const ir::Program& encoder, std::span<const ShardIndex> lost) {
  CALPE_CHECK(check_lost(encoder, lost));
  std::vector<ShardIndex> writes(lost.begin(), lost.end());
  std::ranges::sort(writes);
  Solver solver(encoder, writes);
  if (!solver.solve()) {
    return make_error(ErrorCode::unrecoverable, "losing shards ",
                      join(std::span<const ShardIndex>(writes)),
                      " cannot be rebuilt: the other shards do not determine them");
  }
  const std::uint32_t w = encoder.unit_count();
  const std::uint32_t shards = encoder.input_shards() + encoder.output_shards();
  std::vector<UnitSum> sums;
  std::set<ShardIndex> read;
  for (const ShardIndex shard : writes) {
    for (std::uint32_t b = 0; b < w; ++b) {
      sums.push_back(solver.sum_of(shard * w + b));
      for (std::uint32_t unit = 0; unit < shards * w; ++unit) {
        if (has(sums.back(), unit)) read.insert(static_cast<ShardIndex>(unit / w));
      }
    }
  }
  std::vector<ShardIndex> reads(read.begin(), read.end());
  ir::Program program(encoder.field_ref(),
                      {.dialect = ir::Dialect::xor_,
                       .inputs = static_cast<std::uint32_t>(reads.size()) * w,
                       .outputs = static_cast<std::uint32_t>(writes.size()) * w,
                       .unit_count = w});
  for (std::uint32_t r = 0; r < sums.size(); ++r) {
    std::vector<ir::Term> terms;
    for (std::uint32_t i = 0; i < reads.size() * w; ++i) {
      if (has(sums[r], reads[i / w] * w + i % w)) terms.push_back({.value = i});
    }
    program.append(program.output(r), terms);
  }
  return BitDecoder{std::move(program), std::move(reads), std::move(writes)};
}

}  // namespace calpe::tools
