// SPDX-License-Identifier: Apache-2.0
// The 256 table entries of one field for a kernel, so that a plan only copies them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/cpu/cpu_kernels.hpp"
#include "base/process_fork.hpp"
#include "gf/field.hpp"

namespace calpe::backend::cpu {

// Writes the table entry of c. TableKind::product_row also fills `row`, 256 bytes that the entry
// points to; other kinds leave it alone.
void fill_table(const gf::Field& field, TableKind kind, gf::Element c, std::byte* entry,
                std::byte* row);

class CoefficientTables {
 public:
  CoefficientTables(const gf::Field& field, TableKind kind);  // w = 8

  TableKind kind() const noexcept { return kind_; }

  // Copies the entries of the coefficients one after the other, table_entry_bytes(kind()) each.
  // Entries of TableKind::product_row point into this object.
  void gather(std::span<const std::uint8_t> coefficients, std::byte* to) const;

  // All 256 entries, as gather() copies them.
  const std::byte* entries() const noexcept { return entries_.data(); }

 private:
  TableKind kind_;
  std::vector<std::byte> entries_;
  std::vector<std::byte> product_rows_;  // TableKind::product_row only: 64 KiB
};

using CoefficientTablesRef = std::shared_ptr<const CoefficientTables>;

// One set of tables per polynomial. Thread-safe.
class CoefficientTableCache {
 public:
  explicit CoefficientTableCache(TableKind kind) : kind_(kind) {}
  CoefficientTablesRef get(const gf::Field& field);

 private:
  const TableKind kind_;
  ForkMutex mutex_;
  std::map<std::uint32_t, CoefficientTablesRef>
      by_polynomial_;  // only 30 polynomials are irreducible
};

}  // namespace calpe::backend::cpu
