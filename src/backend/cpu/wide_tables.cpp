// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/wide_tables.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"

namespace calpe::backend::cpu {

namespace {

constexpr std::size_t byte_values = 256;

}  // namespace

WideProducts::WideProducts(const gf::Field& tower, CoefficientTableCache& cache)
    : shared_tables_(cache.get(**gf::Field::create(8, tower.polynomial()))),
      entry_bytes_(table_entry_bytes(shared_tables_->kind())),
      entries_(2 * byte_values * entry_bytes_) {
  // u^2 = u + e
  constexpr gf::Element u = 256;
  const auto e = static_cast<gf::Element>(tower.multiply(u, u) ^ u);
  std::memcpy(entries_.data(), shared_tables_->entries(), byte_values * entry_bytes_);
  for (std::size_t q = 0; q < byte_values; ++q) {
    const std::size_t product = tower.multiply(e, static_cast<gf::Element>(q));
    std::memcpy(entries_.data() + (byte_values + q) * entry_bytes_,
                shared_tables_->entries() + product * entry_bytes_, entry_bytes_);
  }
}

std::byte* WideProducts::write(gf::Element coefficient, std::byte* to) const {
  const std::size_t p = coefficient % byte_values;
  const std::size_t q = coefficient / byte_values;
  for (const std::size_t entry : {p, byte_values + q, p ^ q}) {
    std::memcpy(to, entries_.data() + entry * entry_bytes_, entry_bytes_);
    to += entry_bytes_;
  }
  return to;
}

WidePoints::WidePoints(std::span<const gf::Element> points, const WideProducts& products,
                       TableKind kind)
    : points_(points.begin(), points.end()),
      tables_(points.size() / 2 * wide_table_entries * table_entry_bytes(kind)) {
  std::byte* to = tables_.data();
  for (std::size_t i = 0; i < points.size(); i += 2)
    to = products.write(points[i], to);
  subfield_ = static_cast<std::size_t>(
      std::ranges::find_if(points, [](gf::Element x) { return x >= byte_values; }) -
      points.begin());
}

bool WidePoints::is_of(std::span<const gf::Element> points) const noexcept {
  return std::ranges::equal(points, points_);
}

Result<std::shared_ptr<const WideProducts>> WideTableCache::products(const gf::Field& field) {
  if (field.word_bits() != 16 || field.polynomial() != gf::usual_polynomial(8)) {
    return make_error(ErrorCode::compile_failed, "field of ", field.word_bits(),
                      "-bit words: not supported; expected GF(2^16) over GF(2^8)");
  }
  {
    const std::lock_guard lock(mutex_);
    if (products_ != nullptr) return products_;
  }
  auto made = std::make_shared<const WideProducts>(field, bytes_);
  const std::lock_guard lock(mutex_);
  products_ = std::move(made);
  return products_;
}

// Made outside of the lock, as 2^15 tables take up to a millisecond.
std::shared_ptr<const WidePoints> WideTableCache::points(std::span<const gf::Element> points,
                                                         const WideProducts& products) {
  std::shared_ptr<const WidePoints> known;
  {
    const std::lock_guard lock(mutex_);
    known = points_;
  }
  if (known != nullptr && known->is_of(points)) return known;
  known = std::make_shared<const WidePoints>(points, products, kind_);
  const std::lock_guard lock(mutex_);
  points_ = known;
  return known;
}

}  // namespace calpe::backend::cpu
