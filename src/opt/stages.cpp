// SPDX-License-Identifier: Apache-2.0
#include "opt/stages.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

namespace calpe::opt {

namespace {

using gf::BitMatrix;

// The target may have more columns.
void add_row(BitMatrix& to, std::size_t target, const BitMatrix& from, std::size_t row) {
  const auto sum = to.row(target);
  const auto addend = from.row(row);
  for (std::size_t i = 0; i < addend.size(); ++i)
    sum[i] ^= addend[i];
}

BitMatrix columns_between(const BitMatrix& all, std::size_t first, std::size_t end) {
  BitMatrix part(all.rows(), end - first);
  for (std::size_t r = 0; r < all.rows(); ++r) {
    for (std::size_t c = first; c < end; ++c) {
      if (all.get(r, c)) part.flip(r, c - first);
    }
  }
  return part;
}

// Multiplies `solved` by the inverse of `matrix`. Returns false if there is no inverse.
bool solve(BitMatrix matrix, BitMatrix& solved) {
  for (std::size_t pivot = 0; pivot < matrix.rows(); ++pivot) {
    std::size_t found = pivot;
    while (found < matrix.rows() && !matrix.get(found, pivot))
      ++found;
    if (found == matrix.rows()) return false;
    if (found != pivot) {
      std::ranges::swap_ranges(matrix.row(found), matrix.row(pivot));
      std::ranges::swap_ranges(solved.row(found), solved.row(pivot));
    }
    for (std::size_t r = 0; r < matrix.rows(); ++r) {
      if (r == pivot || !matrix.get(r, pivot)) continue;
      add_row(matrix, r, matrix, pivot);
      add_row(solved, r, solved, pivot);
    }
  }
  return true;
}

// Shards whose sum of rows, bit by bit, is lighter than one of them.
struct Relation {
  std::vector<std::size_t> shards;  // the last is the one to replace
  std::ptrdiff_t gain = 0;          // in ones
};

class RelationSearch {
 public:
  RelationSearch(const BitMatrix& rows, std::size_t units)
      : rows_(rows), units_(units), shards_(rows.rows() / units) {}

  Relation best() {
    Relation best;
    // With few shards, tries all sets. With many, tries only the sum of all.
    constexpr std::size_t shards_few = 6;
    const std::uint32_t all = (std::uint32_t{1} << std::min(shards_, bits)) - 1;
    for (std::uint32_t set = shards_ <= shards_few ? 3 : all; set <= all && set != 0; ++set) {
      if ((set & (set - 1)) == 0) continue;
      Relation relation = relation_of(set);
      if (relation.gain > best.gain) best = std::move(relation);
    }
    return best;
  }

 private:
  // Bits of a set. Further shards are always in the set: with that many, only the full set is
  // tried.
  static constexpr std::size_t bits = 31;

  Relation relation_of(std::uint32_t set) {
    Relation relation;
    for (std::size_t shard = 0; shard < shards_; ++shard) {
      if (shard >= bits || (set >> shard & 1) != 0) relation.shards.push_back(shard);
    }
    const auto heaviest = std::ranges::max_element(
        relation.shards, {}, [&](std::size_t shard) { return weight_of(shard); });
    std::iter_swap(heaviest, relation.shards.end() - 1);
    BitMatrix sum(units_, rows_.columns());
    for (const std::size_t shard : relation.shards) {
      for (std::size_t unit = 0; unit < units_; ++unit)
        add_row(sum, unit, rows_, shard * units_ + unit);
    }
    const std::size_t instead = sum.ones() + units_ * (relation.shards.size() - 1);
    relation.gain = static_cast<std::ptrdiff_t>(weight_of(relation.shards.back())) -
                    static_cast<std::ptrdiff_t>(instead);
    return relation;
  }

  std::size_t weight_of(std::size_t shard) const {
    std::size_t ones = 0;
    for (std::size_t unit = 0; unit < units_; ++unit) {
      for (const std::uint64_t word : rows_.row(shard * units_ + unit))
        ones += static_cast<std::size_t>(std::popcount(word));
    }
    return ones;
  }

  const BitMatrix& rows_;
  const std::size_t units_;
  const std::size_t shards_;
};

// Returns the stage as it is, or with one shard computed last, from the sum of the others.
Stage use_relation(Stage stage, std::size_t units) {
  const Relation relation = RelationSearch(stage.rows, units).best();
  if (relation.gain <= 0) return stage;
  const std::size_t columns = stage.columns.size();
  const std::size_t replaced = relation.shards.back();
  const std::size_t behind = stage.rows.rows() - units;  // where the replaced rows go
  Stage result{BitMatrix(stage.rows.rows(), columns + (relation.shards.size() - 1) * units),
               std::move(stage.columns),
               {}};
  for (std::size_t r = 0; r < stage.rows.rows(); ++r) {
    if (r / units == replaced) continue;
    add_row(result.rows, result.targets.size(), stage.rows, r);
    result.targets.push_back(stage.targets[r]);
  }
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (const std::size_t shard : relation.shards)
      add_row(result.rows, behind + unit, stage.rows, shard * units + unit);
    result.targets.push_back(stage.targets[replaced * units + unit]);
  }
  for (std::size_t i = 0; i + 1 < relation.shards.size(); ++i) {
    for (std::size_t unit = 0; unit < units; ++unit) {
      result.rows.flip(behind + unit, result.columns.size());
      result.columns.push_back(stage.targets[relation.shards[i] * units + unit]);
    }
  }
  return result;
}

std::vector<ir::Value> values_from(ir::Value first, std::size_t count) {
  std::vector<ir::Value> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Uses the last input shards, as many as there are outputs, for the syndromes.
std::optional<Stages> factor(const ir::Program::Shape& shape, const BitMatrix& bits) {
  const std::size_t rows = bits.rows();
  if (rows == 0 || rows >= bits.columns()) return std::nullopt;
  const BitMatrix tail = columns_between(bits, bits.columns() - rows, bits.columns());
  BitMatrix light = bits;
  if (!solve(tail, light)) return std::nullopt;
  Stages stages{.temporaries = static_cast<std::uint32_t>(rows), .in_order = {}};
  const std::vector<ir::Value> syndromes = values_from(shape.inputs + shape.outputs, rows);
  stages.in_order.push_back({std::move(light), values_from(0, shape.inputs), syndromes});
  stages.in_order.push_back(
      use_relation({tail, syndromes, values_from(shape.inputs, shape.outputs)}, shape.unit_count));
  return stages;
}

std::size_t ones_of(const Stages& stages) {
  std::size_t ones = 0;
  for (const Stage& stage : stages.in_order)
    ones += stage.rows.ones();
  return ones;
}

}  // namespace

Stages plan_stages(const ir::Program::Shape& shape, const BitMatrix& bits,
                   std::size_t temporaries_max) {
  Stages whole;
  whole.in_order.push_back(
      use_relation({bits, values_from(0, shape.inputs), values_from(shape.inputs, shape.outputs)},
                   shape.unit_count));
  if (bits.rows() > temporaries_max) return whole;
  std::optional<Stages> factored = factor(shape, bits);
  if (factored && ones_of(*factored) < ones_of(whole)) return *std::move(factored);
  return whole;
}

}  // namespace calpe::opt
