// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/coefficient_tables.hpp"

#include <cstring>

#include "base/assert.hpp"

namespace calpe::backend::cpu {

namespace {

constexpr std::size_t element_count = 256;

std::byte product(const gf::Field& field, std::size_t c, std::size_t x) {
  return static_cast<std::byte>(
      field.multiply(static_cast<gf::Element>(c), static_cast<gf::Element>(x)));
}

void fill_nibbles(const gf::Field& field, std::size_t c, std::byte* entry) {
  for (std::size_t x = 0; x < 16; ++x) {
    entry[x] = product(field, c, x);
    entry[16 + x] = product(field, c, x << 4);
  }
}

// vgf2p8affineqb computes bit i of the product as the parity of x and byte 7 - i of the matrix. Bit
// t of byte 7 - i is therefore bit i of c * 2^t. Example: c = 1 is 0x0102040810204080.
void fill_affine(const gf::Field& field, std::size_t c, std::byte* entry) {
  std::uint64_t matrix = 0;
  for (std::size_t t = 0; t < 8; ++t) {
    const auto column = std::to_integer<std::uint64_t>(product(field, c, std::size_t{1} << t));
    for (std::size_t i = 0; i < 8; ++i) {
      matrix |= (column >> i & 1) << (8 * (7 - i) + t);
    }
  }
  std::memcpy(entry, &matrix, sizeof matrix);
}

template <std::size_t EntryBytes>
void copy_entries(std::span<const std::uint8_t> coefficients, const std::byte* entries,
                  std::byte* to) {
  for (const std::uint8_t c : coefficients) {
    std::memcpy(to, entries + c * EntryBytes, EntryBytes);
    to += EntryBytes;
  }
}

}  // namespace

void fill_table(const gf::Field& field, TableKind kind, gf::Element c, std::byte* entry,
                std::byte* row) {
  switch (kind) {
    case TableKind::product_row:
      for (std::size_t x = 0; x < element_count; ++x)
        row[x] = product(field, c, x);
      std::memcpy(entry, &row, sizeof row);
      break;
    case TableKind::nibbles:
      fill_nibbles(field, c, entry);
      break;
    case TableKind::affine:
      fill_affine(field, c, entry);
      break;
  }
}

CoefficientTables::CoefficientTables(const gf::Field& field, TableKind kind)
    : kind_(kind), entries_(element_count * table_entry_bytes(kind)) {
  CALPE_ASSERT(field.word_bits() == 8);
  if (kind == TableKind::product_row) product_rows_.resize(element_count * element_count);
  for (std::size_t c = 0; c < element_count; ++c) {
    fill_table(field, kind, static_cast<gf::Element>(c),
               entries_.data() + c * table_entry_bytes(kind),
               product_rows_.empty() ? nullptr : product_rows_.data() + c * element_count);
  }
}

void CoefficientTables::gather(std::span<const std::uint8_t> coefficients, std::byte* to) const {
  if (table_entry_bytes(kind_) == 8) {
    copy_entries<8>(coefficients, entries_.data(), to);
  } else {
    copy_entries<32>(coefficients, entries_.data(), to);
  }
}

CoefficientTablesRef CoefficientTableCache::get(const gf::Field& field) {
  const std::lock_guard lock(mutex_);
  CoefficientTablesRef& tables = by_polynomial_[field.polynomial()];
  if (tables == nullptr) tables = std::make_shared<const CoefficientTables>(field, kind_);
  return tables;
}

}  // namespace calpe::backend::cpu
