// SPDX-License-Identifier: Apache-2.0
// Tables of kernels over GF(2^16) (wide_kernels.hpp).
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "backend/cpu/coefficient_tables.hpp"
#include "gf/field.hpp"

namespace calpe::backend::cpu {

// Products in GF(2^8): the entries of 0..255, then those of e * 0..255.
class WideProducts {
 public:
  WideProducts(const gf::Field& tower, CoefficientTableCache& cache);

  const std::byte* data() const noexcept { return entries_.data(); }
  // Writes the entries of a coefficient and returns their end.
  std::byte* write(gf::Element coefficient, std::byte* to) const;

 private:
  CoefficientTablesRef shared_tables_;  // rows that entries_ point to
  std::size_t entry_bytes_;
  std::vector<std::byte> entries_;
};

// Tables of the points with even indices, which are all that transforms use.
class WidePoints {
 public:
  WidePoints(std::span<const gf::Element> points, const WideProducts& products, TableKind kind);

  bool is_of(std::span<const gf::Element> points) const noexcept;
  const std::byte* data() const noexcept { return tables_.data(); }
  std::size_t subfield() const noexcept { return subfield_; }

 private:
  std::vector<gf::Element> points_;
  std::vector<std::byte> tables_;
  std::size_t subfield_ = 0;
};

// What the kernels of a device share, made when first used. Thread-safe.
class WideTableCache {
 public:
  explicit WideTableCache(TableKind kind) : kind_(kind), bytes_(kind) {}
  // Fails with compile_failed for another field than the tower.
  Result<std::shared_ptr<const WideProducts>> products(const gf::Field& field);
  std::shared_ptr<const WidePoints> points(std::span<const gf::Element> points,
                                           const WideProducts& products);

 private:
  const TableKind kind_;
  CoefficientTableCache bytes_;
  ForkMutex mutex_;
  std::shared_ptr<const WideProducts> products_;
  std::shared_ptr<const WidePoints> points_;
};

}  // namespace calpe::backend::cpu
