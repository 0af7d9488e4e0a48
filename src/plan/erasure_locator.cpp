// SPDX-License-Identifier: Apache-2.0
#include "plan/erasure_locator.hpp"

#include <bit>

#include "base/assert.hpp"

namespace calpe::plan {

namespace {

// Logs of the first `count` points; 0 for the first point, which is no factor of a derivative.
std::vector<std::int64_t> point_logs(const gf::Field& field, std::span<const gf::Element> points,
                                     std::size_t count) {
  std::vector<std::int64_t> logs(count);
  for (std::size_t i = 1; i < count; ++i)
    logs[i] = field.log(points[i]);
  return logs;
}

void walsh_hadamard(std::vector<std::int64_t>& v) {
  for (std::size_t half = 1; half < v.size(); half *= 2) {
    for (std::size_t b = 0; b < v.size(); b += 2 * half) {
      for (std::size_t j = b; j < b + half; ++j) {
        const std::int64_t x = v[j];
        const std::int64_t y = v[j + half];
        v[j] = x + y;
        v[j + half] = x - y;
      }
    }
  }
}

}  // namespace

std::vector<std::uint32_t> locator_logs_by_sums(const gf::Field& field,
                                                std::span<const gf::Element> points,
                                                std::span<const std::uint16_t> erased,
                                                std::size_t count) {
  const std::vector<std::int64_t> logs = point_logs(field, points, std::bit_ceil(count));
  std::vector<std::uint32_t> sums(count);
  for (std::size_t x = 0; x < count; ++x) {
    std::int64_t sum = 0;
    for (const std::uint16_t z : erased)
      sum += logs[x ^ z];
    sums[x] = static_cast<std::uint32_t>(sum % field.order());
  }
  return sums;
}

// Two transforms, products, one transform back, divided by its length. The numbers are exact: the
// first are at most n * 2^16 = 2^32; the products are reduced before they are summed.
std::vector<std::uint32_t> locator_logs_by_transform(const gf::Field& field,
                                                     std::span<const gf::Element> points,
                                                     std::span<const std::uint16_t> erased,
                                                     std::size_t count) {
  const std::size_t length = std::bit_ceil(count);
  const std::int64_t order = field.order();
  std::vector<std::int64_t> logs = point_logs(field, points, length);
  std::vector<std::int64_t> sums(length);
  for (const std::uint16_t z : erased)
    sums[z] = 1;
  walsh_hadamard(logs);
  walsh_hadamard(sums);
  for (std::size_t i = 0; i < length; ++i)
    sums[i] = sums[i] * logs[i] % order;
  walsh_hadamard(sums);
  // 2^w = 1 modulo the order, so 2^(w - s) divides by 2^s.
  const std::int64_t divide =
      std::int64_t{1} << (field.word_bits() - static_cast<unsigned>(std::countr_zero(length)));
  std::vector<std::uint32_t> result(count);
  for (std::size_t x = 0; x < count; ++x) {
    const std::int64_t sum = sums[x] % order * divide % order;
    result[x] = static_cast<std::uint32_t>(sum < 0 ? sum + order : sum);
  }
  return result;
}

std::vector<std::uint32_t> locator_logs(const gf::Field& field, std::span<const gf::Element> points,
                                        std::span<const std::uint16_t> erased, std::size_t count) {
  CALPE_ASSERT(count > 0 && points.size() >= std::bit_ceil(count) && points[0] == 0);
  // A term of a sum takes as long as a butterfly of the three transforms.
  const auto layers = static_cast<std::size_t>(std::bit_width(count));
  return erased.size() <= 3 * layers ? locator_logs_by_sums(field, points, erased, count)
                                     : locator_logs_by_transform(field, points, erased, count);
}

}  // namespace calpe::plan
