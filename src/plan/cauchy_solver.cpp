// SPDX-License-Identifier: Apache-2.0
#include "plan/cauchy_solver.hpp"

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
  for (std::uint32_t i = 0; i < 3 * order; ++i)
    exp_.push_back(field_->exp(i % order));
}

gf::Matrix CauchySolver::coefficients(std::span<const ShardIndex> reads,
                                      std::span<const ShardIndex> writes) const {
  CALPE_ASSERT(reads.size() == data_shards_);
  const std::uint32_t order = field_->order();
  std::vector<bool> is_read(points_.size());
  for (const ShardIndex s : reads)
    is_read[s] = true;
  std::vector<Element> unread;  // points
  for (std::size_t z = 0; z < points_.size(); ++z) {
    if (!is_read[z]) unread.push_back(points_[z]);
  }
  // log of the product of (z + s) over the reads s != z.
  const auto over_reads = [&](std::size_t z) {
    std::uint32_t sum = 0;
    for (const Element u : unread) {
      // An unread z meets itself here: the log of 0 is 2 * order, which vanishes below.
      sum += field_->log(static_cast<Element>(points_[z] ^ u));
    }
    return product_logs_[z] + order - sum % order;  // below 2 * order
  };

  std::vector<std::uint32_t> read_logs;  // b_s
  read_logs.reserve(reads.size());
  for (const ShardIndex s : reads) {
    read_logs.push_back((3 * order - scale_logs_[s] - over_reads(s) % order) % order);
  }
  gf::Matrix result(writes.size(), reads.size());
  for (std::size_t r = 0; r < writes.size(); ++r) {
    const ShardIndex t = writes[r];
    CALPE_ASSERT(!is_read[t]);
    const std::uint32_t write_log = (scale_logs_[t] + over_reads(t)) % order;  // a_t
    const auto row = result.row(r);
    for (std::size_t c = 0; c < reads.size(); ++c) {
      const auto sum = static_cast<Element>(points_[t] ^ points_[reads[c]]);
      row[c] = exp_[write_log + read_logs[c] + order - field_->log(sum)];
    }
  }
  return result;
}

}  // namespace calpe::plan
