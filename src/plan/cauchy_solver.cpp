// SPDX-License-Identifier: Apache-2.0
#include "plan/cauchy_solver.hpp"

#include <array>

#include "base/assert.hpp"

namespace calpe::plan {

namespace {
using gf::Element;
}

CauchySolver::CauchySolver(const code::Code& code)
    : field_(code.field), data_shards_(code.data_shards()) {
  CALPE_ASSERT(code.cauchy.has_value());
  const code::CauchyForm& form = *code.cauchy;
  const std::uint32_t order = field_->order();
  points_ = form.column_points;
  points_.insert(points_.end(), form.row_points.begin(), form.row_points.end());

  const auto product_log = [&](std::size_t z, std::size_t count) {
    std::uint64_t sum = 0;  // over the first `count` points but z itself
    for (std::size_t other = 0; other < count; ++other) {
      if (other != z) sum += field_->log(static_cast<Element>(points_[z] ^ points_[other]));
    }
    return static_cast<std::uint32_t>(sum % order);
  };
  for (std::size_t z = 0; z < points_.size(); ++z) {
    product_logs_.push_back(product_log(z, points_.size()));
    const std::uint32_t over_data = product_log(z, data_shards_);
    // f(y_j) = data_j * c_j * product over other data points; parity_i = r_i * f(x_i) / product.
    const std::uint32_t log =
        z < data_shards_ ? 2 * order - field_->log(form.column_scales[z]) - over_data
                         : field_->log(form.row_scales[z - data_shards_]) + order - over_data;
    scale_logs_.push_back(log % order);
  }
  for (std::uint32_t i = 0; i <= 3 * order; ++i)
    exp_.push_back(field_->exp(i % order));
  sum_logs_.reserve(points_.size() * points_.size());
  for (const Element z : points_) {
    for (const Element other : points_) {
      const auto sum = static_cast<Element>(z ^ other);
      sum_logs_.push_back(sum == 0 ? std::uint16_t{0}
                                   : static_cast<std::uint16_t>(field_->log(sum)));
    }
  }
}

gf::Matrix CauchySolver::coefficients(std::span<const ShardIndex> reads,
                                      std::span<const ShardIndex> writes) const {
  CALPE_ASSERT(reads.size() == data_shards_);
  const std::size_t shards = points_.size();
  const std::uint32_t order = field_->order();
  // Below 2^w, and congruent: order is 2^w - 1, so the upper bits count once more.
  const auto fold = [&](std::uint32_t log) {
    log = (log & order) + (log >> field_->word_bits());
    return (log & order) + (log >> field_->word_bits());
  };
  std::array<bool, shard_count_max> is_read = {};
  for (const ShardIndex s : reads)
    is_read[s] = true;
  // log of the product of (z + s) over the reads s other than z, for every shard z: all points but
  // those that are not read.
  std::array<std::uint32_t, shard_count_max> over_unread = {};
  for (std::size_t u = 0; u < shards; ++u) {
    if (is_read[u]) continue;
    const std::uint16_t* const row = sum_logs_.data() + u * shards;
    for (std::size_t z = 0; z < shards; ++z)
      over_unread[z] += row[z];
  }
  std::array<std::uint32_t, shard_count_max> read_logs;   // b_s, at most order
  std::array<std::uint32_t, shard_count_max> write_logs;  // a_t, at most order
  for (std::size_t z = 0; z < shards; ++z) {
    const std::uint32_t over_reads = fold(product_logs_[z] + order - fold(over_unread[z]));
    read_logs[z] = fold(2 * order - scale_logs_[z] - over_reads);
    write_logs[z] = fold(scale_logs_[z] + over_reads);
  }
  gf::Matrix result(writes.size(), reads.size());
  std::array<std::uint32_t, shard_count_max> logs;
  for (std::size_t r = 0; r < writes.size(); ++r) {
    const ShardIndex t = writes[r];
    CALPE_ASSERT(!is_read[t]);
    const std::uint16_t* const sums = sum_logs_.data() + t * shards;
    for (std::size_t z = 0; z < shards; ++z)
      logs[z] = write_logs[t] + read_logs[z] + order - sums[z];
    const auto row = result.row(r);
    for (std::size_t c = 0; c < reads.size(); ++c)
      row[c] = exp_[logs[reads[c]]];
  }
  return result;
}

}  // namespace calpe::plan
