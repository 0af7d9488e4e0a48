// SPDX-License-Identifier: Apache-2.0
// Computes decode coefficients in closed form for codes with a Cauchy form, without inverting.
//
// Such a code is a generalised Reed-Solomon code: shard z holds scale_z * f(z) for one polynomial f
// of degree below k, where z runs over the points. So any shard t follows from any k shards S by
// Lagrange interpolation, data and parity alike:
//
//   shard_t = sum over s in S of  a_t * b_s / (t + s)  * shard_s
//   a_t = scale_t * product over s in S of (t + s)
//   b_s = 1 / (scale_s * product over s' in S, s' != s, of (s + s'))
//
// This is again a generalised Cauchy matrix, so decoding has the same shape as encoding. The
// products over S are those over all points, divided by the m points that are not read: O(k * m).
// All steps are sums of logs in straight loops: 223+32 takes 4 microseconds.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "code/code.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::plan {

class CauchySolver {
 public:
  // Requires code.cauchy.
  explicit CauchySolver(const code::Code& code);

  // Returns writes x reads. Requires k distinct reads and no write among them.
  gf::Matrix coefficients(std::span<const ShardIndex> reads,
                          std::span<const ShardIndex> writes) const;

  gf::Element point(std::size_t shard) const noexcept { return points_[shard]; }
  // Log of scale_z, see above.
  std::uint32_t scale_log(std::size_t shard) const noexcept { return scale_logs_[shard]; }

 private:
  gf::FieldRef field_;
  std::size_t data_shards_;
  std::vector<gf::Element> points_;          // per shard
  std::vector<std::uint16_t> scale_logs_;    // per shard, below order; padded to row_step_
  std::vector<std::uint16_t> product_logs_;  // of (z + z') over all other points z'; padded
  std::size_t row_step_ = 0;
  std::vector<std::uint16_t> sum_logs_;  // of z + z', a row of row_step_ per z; 0 for z itself
  std::vector<gf::Element> exp_;         // the cycle three times, to add three logs at once
};

}  // namespace calpe::plan
