// SPDX-License-Identifier: Apache-2.0
// Staged columns of a row: as many as fit, and a whole unit of codes over GF(2^16).
#include "engine/run/staging.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace calpe::engine {
namespace {

CodeSpec spec_of(std::uint32_t data_shards, unsigned word_bits) {
  CodeSpec spec;
  spec.data_shards = data_shards;
  spec.parity_shards = 200;
  spec.word_bits = static_cast<std::uint8_t>(word_bits);
  return spec;
}

std::size_t columns_of(std::size_t rows, std::size_t columns_min) {
  const auto device = *backend::open_device("cpu");
  Staging staging(*device, rows, columns_min);
  std::fill_n(staging.data(), rows * staging.columns(), std::byte{1});
  return staging.columns();
}

TEST(Staging, SharesItsBytesBetweenTheRows) {
  EXPECT_EQ(columns_of(1, Staging::few_columns), Staging::bytes);
  EXPECT_EQ(columns_of(100, Staging::few_columns), 640U);
  EXPECT_EQ(columns_of(2400, Staging::few_columns), 27U);
  EXPECT_EQ(columns_of(4096, Staging::few_columns), 16U);
  EXPECT_EQ(columns_of(4097, Staging::few_columns), 64U);
}

// 27 columns of 1000+200 would take as long as 64.
TEST(Staging, HasWholeUnitsForWideCodes) {
  EXPECT_EQ(staged_columns_min(spec_of(50, 8)), Staging::few_columns);
  const std::size_t least = staged_columns_min(spec_of(1000, 16));
  EXPECT_EQ(least, wide_unit_bytes);
  for (const std::size_t rows : {1U, 1000U, 1024U, 1025U, 2400U, 131'072U})
    EXPECT_EQ(columns_of(rows, least) % wide_unit_bytes, 0U) << rows;
}

}  // namespace
}  // namespace calpe::engine
