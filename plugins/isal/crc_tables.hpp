// SPDX-License-Identifier: Apache-2.0
// Tables for eight bytes of a message at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "isal/crc_form.hpp"

namespace calpe_isal {

// tables[z][b] = CRC of the byte b and z zeros after it.
using CrcTables = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr CrcTables make_crc_tables(const CrcForm& form) {
  CrcTables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::uint64_t value = form.is_reflected ? byte : std::uint64_t{byte} << 56;
    for (int bit = 0; bit < 8; ++bit)
      value = times_x(form, value);
    tables[0][byte] = value;
  }
  for (std::size_t zeros = 1; zeros < 8; ++zeros) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t value = tables[zeros - 1][byte];
      tables[zeros][byte] = form.is_reflected ? value >> 8 ^ tables[0][value & 255]
                                              : value << 8 ^ tables[0][value >> 56];
    }
  }
  return tables;
}

}  // namespace calpe_isal
