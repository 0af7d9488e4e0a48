// SPDX-License-Identifier: Apache-2.0
#include "plan/wide_rows.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/assert.hpp"
#include "plan/erasure_locator.hpp"

namespace calpe::plan {

namespace {

using gf::Element;

// Cosets that contain one of these shards.
std::size_t coset_count(const code::Code& code, std::span<const ShardIndex> shards) {
  std::vector<bool> is_in((code.field->size() >> code.lch->log_size) + 1);
  for (const ShardIndex shard : shards)
    is_in[lch_place(code, shard) >> code.lch->log_size] = true;
  return static_cast<std::size_t>(std::ranges::count(is_in, true));
}

}  // namespace

std::vector<std::uint16_t> lch_places(const code::Code& code, std::span<const ShardIndex> shards) {
  std::vector<std::uint16_t> places;
  places.reserve(shards.size());
  for (const ShardIndex shard : shards)
    places.push_back(lch_place(code, shard));
  return places;
}

// Compares numbers of products. A transform of N values has N/2 * log2 N butterflies, each with one
// product and two additions. Decoding has two transforms more than the cosets read and written.
bool prefers_rows(const code::Code& code, std::span<const ShardIndex> reads,
                  std::span<const ShardIndex> writes) {
  const std::size_t cells = reads.size() * writes.size();
  if (cells == 0) return true;
  if (cells > wide_cells_max) return false;
  const unsigned log_size = code.lch->log_size;
  if (log_size < 2) return true;
  const std::size_t cosets = coset_count(code, reads) + coset_count(code, writes) + 2;
  const std::size_t butterflies = cosets * (std::size_t{log_size} << (log_size - 1));
  return cells < butterflies;
}

// With E the positions of no shard of the basis and L(x) = product over E of (x + w_z), f * L has
// degree below the number n of points. As a polynomial through its values at all n, its derivative
// at a position t of E is the sum of f(s) L(s) / (w_t + w_s). It is also f(t) L'(t).
gf::Matrix wide_rows(const code::Code& code, std::span<const ShardIndex> basis,
                     std::span<const ShardIndex> reads, std::span<const ShardIndex> writes) {
  const gf::Field& field = *code.field;
  const std::size_t count = (std::size_t{1} << code.lch->log_size) + code.data_shards();
  CALPE_ASSERT(basis.size() == code.data_shards());
  std::vector<bool> is_known(count);
  for (const ShardIndex shard : basis)
    is_known[lch_place(code, shard)] = true;
  std::vector<std::uint16_t> unknown;
  for (std::size_t place = 0; place < count; ++place) {
    if (!is_known[place]) unknown.push_back(static_cast<std::uint16_t>(place));
  }
  const std::vector<std::uint32_t> logs = locator_logs(field, code.lch->points, unknown, count);
  const std::uint32_t order = field.order();
  gf::Matrix rows(writes.size(), reads.size());
  for (std::size_t r = 0; r < writes.size(); ++r) {
    const std::size_t to = lch_place(code, writes[r]);
    CALPE_ASSERT(!is_known[to]);
    for (std::size_t c = 0; c < reads.size(); ++c) {
      const std::size_t from = lch_place(code, reads[c]);
      const std::uint32_t log =
          logs[from] + 2 * order - logs[to] - field.log(code.lch->points[to ^ from]);
      rows(r, c) = field.exp(log % order);
    }
  }
  return rows;
}

// The shards are the values of polynomials of degree below k, times the values of the polynomial
// that is zero at all positions without a shard.
std::vector<std::uint32_t> wide_dual_logs(const code::Code& code,
                                          std::span<const ShardIndex> available,
                                          std::span<const ShardIndex> shards) {
  const gf::Field& field = *code.field;
  const std::size_t size = std::size_t{1} << code.lch->log_size;
  const std::size_t count = std::bit_ceil(size + code.data_shards());
  std::vector<std::uint16_t> empty(count - size - code.data_shards());
  std::iota(empty.begin(), empty.end(), static_cast<std::uint16_t>(size + code.data_shards()));
  const auto scales = locator_logs(field, code.lch->points, empty, count);
  const auto products = locator_logs(field, code.lch->points, lch_places(code, available), count);
  std::vector<std::uint32_t> logs;
  logs.reserve(shards.size());
  for (const std::uint16_t place : lch_places(code, shards)) {
    const std::uint64_t log = std::uint64_t{scales[place]} + products[place];
    logs.push_back(
        static_cast<std::uint32_t>((2 * std::uint64_t{field.order()} - log) % field.order()));
  }
  return logs;
}

}  // namespace calpe::plan
