// SPDX-License-Identifier: Apache-2.0
// lrc 8+2+2: compares all 4095 loss patterns with linear algebra in this test.
#include <algorithm>
#include <array>

#include <calpe/calpe.h>

#include "distributed/ceph/stripe.hpp"

namespace {

using ceph_host::Stripe;

constexpr std::size_t data_count = 8, shard_count = 12;
using Row = std::array<std::uint16_t, data_count>;

std::uint16_t multiply(std::uint16_t a, std::uint16_t b) {
  std::uint16_t product = 0;
  EXPECT_EQ(calpe_gf_multiply(8, 0, a, b, &product, nullptr), CALPE_OK);
  return product;
}

std::uint16_t inverse(std::uint16_t a) {
  std::uint16_t value = 0;
  EXPECT_EQ(calpe_gf_inverse(8, 0, a, &value, nullptr), CALPE_OK);
  return value;
}

// The span of a set of shards: rows with a leading one, indexed by its column.
class Span {
 public:
  void add(Row row) {
    reduce(row);
    const auto lead = std::find_if(row.begin(), row.end(), [](std::uint16_t e) { return e != 0; });
    if (lead == row.end()) return;
    const auto column = static_cast<std::size_t>(lead - row.begin());
    const std::uint16_t factor = inverse(*lead);
    for (std::uint16_t& entry : row)
      entry = multiply(entry, factor);
    rows_[column] = row;
    has_[column] = true;
  }

  bool contains(Row row) const {
    reduce(row);
    return std::all_of(row.begin(), row.end(), [](std::uint16_t e) { return e == 0; });
  }

 private:
  void reduce(Row& row) const {
    for (std::size_t column = 0; column < data_count; ++column) {
      const std::uint16_t factor = row[column];
      if (!has_[column] || factor == 0) continue;
      for (std::size_t i = 0; i < data_count; ++i)
        row[i] = static_cast<std::uint16_t>(row[i] ^ multiply(factor, rows_[column][i]));
    }
  }

  std::array<Row, data_count> rows_{};
  std::array<bool, data_count> has_{};
};

calpe_spec lrc_spec() {
  calpe_spec spec = {};
  spec.struct_size = sizeof spec;
  spec.family = CALPE_FAMILY_LRC;
  spec.data_shards = data_count;
  spec.parity_shards = shard_count - data_count;
  spec.local_groups = 2;
  return spec;
}

std::array<Row, shard_count> generator() {
  std::array<Row, shard_count> rows{};
  for (std::size_t i = 0; i < data_count; ++i)
    rows[i][i] = 1;
  const calpe_spec spec = lrc_spec();
  std::array<std::uint16_t, (shard_count - data_count) * data_count> parity{};
  EXPECT_EQ(calpe_parity_rows(&spec, parity.data(), parity.size(), nullptr), CALPE_OK);
  for (std::size_t i = 0; i < parity.size(); ++i)
    rows[data_count + i / data_count][i % data_count] = parity[i];
  return rows;
}

// spanned[s]: the shards that can be computed from the shards in s.
std::vector<std::uint32_t> spanned_by_subset() {
  const auto rows = generator();
  std::vector<std::uint32_t> spanned(1u << shard_count);
  for (std::uint32_t subset = 0; subset < spanned.size(); ++subset) {
    Span span;
    for (std::size_t i = 0; i < shard_count; ++i) {
      if ((subset >> i & 1) != 0) span.add(rows[i]);
    }
    for (std::size_t i = 0; i < shard_count; ++i) {
      if (span.contains(rows[i])) spanned[subset] |= 1u << i;
    }
  }
  return spanned;
}

class Lrc : public testing::Test {
 protected:
  static const std::vector<std::uint32_t>& spanned() {
    static const std::vector<std::uint32_t> table = spanned_by_subset();
    return table;
  }
  const Stripe stripe{
      ceph_host::require_code(
          {{"plugin", "calpe"}, {"profile", "lrc"}, {"k", "8"}, {"m", "4"}, {"l", "2"}}),
      4096, 3};
};

TEST_F(Lrc, DecodesExactlyWhatItsMatrixCan) {
  std::array<std::uint64_t, shard_count + 1> decoded{};
  for (std::uint32_t lost = 1; lost <= stripe.all(); ++lost) {
    const std::uint32_t available = stripe.all() & ~lost;
    const std::uint32_t named = stripe.minimum(lost, available);
    if ((lost & ~spanned()[available]) != 0) {
      ASSERT_EQ(named, 0u) << "accepted: " << lost;
      continue;
    }
    ASSERT_NE(named, 0u) << "refused: " << lost;
    ASSERT_TRUE(stripe.rebuilds(*stripe.code, named, lost)) << lost;
    const std::uint32_t for_object = stripe.minimum(stripe.data(), available);
    ASSERT_TRUE(stripe.reads_back(*stripe.code, for_object)) << lost;
    ++decoded[static_cast<std::size_t>(ceph_host::shard_count_of(lost))];
  }
  const calpe_spec spec = lrc_spec();
  std::array<calpe_pattern_count, 4> counts{};
  ASSERT_EQ(calpe_count_recoverable(&spec, counts.data(), counts.size(), nullptr), CALPE_OK);
  for (std::size_t losses = 1; losses <= counts.size(); ++losses)
    EXPECT_EQ(decoded[losses], counts[losses - 1].recoverable) << losses;
  EXPECT_EQ(decoded[5], 0u);
}

// Reads one chunk if several are lost: it may be recoverable although not all are.
TEST_F(Lrc, OneChunkIsReadOrRefusedWhateverElseIsLost) {
  for (std::uint32_t lost = 1; lost <= stripe.all(); ++lost) {
    const std::uint32_t available = stripe.all() & ~lost;
    for (std::uint32_t want = 1; want <= lost; want *= 2) {
      if ((lost & want) == 0) continue;
      const std::uint32_t named = stripe.minimum(want, available);
      ASSERT_EQ(named != 0, (spanned()[available] & want) != 0) << lost << " " << want;
      if (named != 0) {
        ASSERT_TRUE(stripe.rebuilds(*stripe.code, named, want)) << lost << " " << want;
      }
    }
  }
}

TEST_F(Lrc, OneLostChunkOfALocalGroupCostsItsGroup) {
  for (const int shard : {0, 1, 2, 3, 8}) {
    const std::uint32_t lost = 1u << shard;
    EXPECT_EQ(stripe.minimum(lost, stripe.all() & ~lost), 0b1'0000'1111u & ~lost);
  }
  for (const int shard : {4, 5, 6, 7, 9}) {
    const std::uint32_t lost = 1u << shard;
    EXPECT_EQ(stripe.minimum(lost, stripe.all() & ~lost), 0b10'1111'0000u & ~lost);
  }
}

TEST_F(Lrc, NoSmallerSetOfChunksWouldDo) {
  for (std::uint32_t lost = 1; lost <= stripe.all(); ++lost) {
    const std::uint32_t available = stripe.all() & ~lost;
    const std::uint32_t named = stripe.minimum(lost, available);
    if (named == 0) continue;
    for (std::uint32_t subset = available; subset != 0; subset = (subset - 1) & available) {
      if (ceph_host::shard_count_of(subset) >= ceph_host::shard_count_of(named)) continue;
      ASSERT_NE(lost & ~spanned()[subset], 0u) << lost << ": " << subset << " would do";
    }
  }
}

}  // namespace
