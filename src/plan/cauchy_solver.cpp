// SPDX-License-Identifier: Apache-2.0
#include "plan/cauchy_solver.hpp"

#include <array>
#include <bitset>

#include "base/assert.hpp"

namespace calpe::plan {

namespace {
using gf::Element;
constexpr std::size_t lanes = 16;  // divides byte_shard_count_max
}  // namespace

CauchySolver::CauchySolver(const code::Code& code)
    : field_(code.field), data_shards_(code.data_shards()) {
  CALPE_ASSERT(code.cauchy.has_value());
  const code::CauchyForm& form = *code.cauchy;
  const std::uint32_t order = field_->order();
  points_ = form.column_points;
  points_.insert(points_.end(), form.row_points.begin(), form.row_points.end());

  const auto product_log = [&](std::size_t z, std::size_t count) {
    std::uint64_t sum = 0;  // over the first `count` points except z
    for (std::size_t other = 0; other < count; ++other) {
      if (other != z) sum += field_->log(static_cast<Element>(points_[z] ^ points_[other]));
    }
    return static_cast<std::uint32_t>(sum % order);
  };
  for (std::size_t z = 0; z < points_.size(); ++z) {
    product_logs_.push_back(static_cast<std::uint16_t>(product_log(z, points_.size())));
    const std::uint32_t over_data = product_log(z, data_shards_);
    // f(y_j) = data_j * c_j * product over other data points; parity_i = r_i * f(x_i) / product.
    const std::uint32_t log =
        z < data_shards_ ? 2 * order - field_->log(form.column_scales[z]) - over_data
                         : field_->log(form.row_scales[z - data_shards_]) + order - over_data;
    scale_logs_.push_back(static_cast<std::uint16_t>(log % order));
  }
  for (std::uint32_t i = 0; i <= 3 * order; ++i)
    exp_.push_back(field_->exp(i % order));
  row_step_ = (points_.size() + lanes - 1) / lanes * lanes;
  sum_logs_.assign(points_.size() * row_step_, 0);
  for (std::size_t z = 0; z < points_.size(); ++z) {
    for (std::size_t other = 0; other < points_.size(); ++other) {
      if (other == z) continue;
      const auto sum = static_cast<Element>(points_[z] ^ points_[other]);
      sum_logs_[z * row_step_ + other] = static_cast<std::uint16_t>(field_->log(sum));
    }
  }
  product_logs_.resize(row_step_);
  scale_logs_.resize(row_step_);
}

gf::Matrix CauchySolver::coefficients(std::span<const ShardIndex> reads,
                                      std::span<const ShardIndex> writes) const {
  CALPE_ASSERT(reads.size() == data_shards_);
  using Logs = std::array<std::uint16_t, byte_shard_count_max>;  // the largest sum is 255 * 254
  const auto order = static_cast<std::uint16_t>(field_->order());
  const unsigned word_bits = field_->word_bits();
  // Reduces to at most order, congruent: order is 2^w - 1, so the upper bits are added once more.
  const auto fold = [=](unsigned log) {
    log = (log & order) + (log >> word_bits);
    return static_cast<std::uint16_t>((log & order) + (log >> word_bits));
  };
  // Fixed steps, so that the compiler vectorises the loop.
  const auto for_all = [this](const auto& each) {
    for (std::size_t first = 0; first < row_step_; first += lanes) {
      for (std::size_t z = first; z < first + lanes; ++z)
        each(z);
    }
  };
  std::bitset<byte_shard_count_max> is_read;
  for (const ShardIndex s : reads)
    is_read[s] = true;
  // For every shard z, the log of the product of (z + s) over the reads s other than z: all points
  // except those that are not read.
  Logs over_unread;
  for_all([&](std::size_t z) { over_unread[z] = 0; });
  for (std::size_t u = 0; u < points_.size(); ++u) {
    if (is_read[u]) continue;
    const std::uint16_t* const row = sum_logs_.data() + u * row_step_;
    for_all([&](std::size_t z) {
      over_unread[z] = static_cast<std::uint16_t>(over_unread[z] + row[z]);
    });
  }
  Logs read_logs;   // b_s, at most order
  Logs write_logs;  // a_t, at most order
  for_all([&](std::size_t z) {
    const unsigned over_reads = fold(product_logs_[z] + order - fold(over_unread[z]));
    read_logs[z] = fold(2U * order - scale_logs_[z] - over_reads);
    write_logs[z] = fold(scale_logs_[z] + over_reads);
  });
  struct Run {
    std::size_t first;
    std::size_t end;
  };
  std::array<Run, byte_shard_count_max> runs;
  std::size_t run_count = 0;
  for (const ShardIndex s : reads) {
    if (run_count == 0 || runs[run_count - 1].end != s) runs[run_count++] = {.first = s, .end = s};
    ++runs[run_count - 1].end;
  }
  gf::Matrix result(writes.size(), reads.size());
  Logs logs;
  for (std::size_t r = 0; r < writes.size(); ++r) {
    const ShardIndex t = writes[r];
    CALPE_ASSERT(!is_read[t]);
    const std::uint16_t* const sums = sum_logs_.data() + t * row_step_;
    const auto write_log = static_cast<std::uint16_t>(write_logs[t] + order);
    for_all([&](std::size_t z) {
      logs[z] = static_cast<std::uint16_t>(write_log + read_logs[z] - sums[z]);
    });
    // Handle runs of consecutive reads, the usual case, at once.
    Element* next = result.row(r).data();
    const Element* const exp = exp_.data();
    for (std::size_t run = 0; run < run_count; ++run) {
      for (std::size_t z = runs[run].first; z < runs[run].end; ++z)
        *next++ = exp[logs[z]];
    }
  }
  return result;
}

}  // namespace calpe::plan
