// SPDX-License-Identifier: Apache-2.0
// Compares parity with the installed ISA-L, decodes its parity, and compares refusals with its
// documented limits.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include <calpe/codec.hpp>

#include "support/formula_stripe.hpp"
#include "support/peer_library.hpp"
#include "support/rebuild_check.hpp"

namespace calpe::tests {
namespace {

using Byte = unsigned char;

// Declared as in ISA-L's erasure_code.h, where `rows` counts all k + m shards.
struct Isal {
  PeerLibrary library{"libisal.so.2", "libisal2"};
  void (*gf_gen_cauchy1_matrix)(Byte* matrix, int rows, int k) = nullptr;
  void (*gf_gen_rs_matrix)(Byte* matrix, int rows, int k) = nullptr;
  int (*gf_invert_matrix)(Byte* in, Byte* out, int size) = nullptr;
  void (*ec_init_tables)(int k, int rows, Byte* matrix, Byte* tables) = nullptr;
  void (*ec_encode_data)(int bytes, int k, int rows, Byte* tables, Byte** data,
                         Byte** coding) = nullptr;

  Isal() {
    library.find("gf_gen_cauchy1_matrix", gf_gen_cauchy1_matrix);
    library.find("gf_gen_rs_matrix", gf_gen_rs_matrix);
    library.find("gf_invert_matrix", gf_invert_matrix);
    library.find("ec_init_tables", ec_init_tables);
    library.find("ec_encode_data", ec_encode_data);
  }
};

using MakeMatrix = void (*)(Byte* matrix, int rows, int k);

class IsalInterop : public testing::Test {
 protected:
  void SetUp() override {
    if (!isal.library.missing().empty()) GTEST_SKIP() << isal.library.missing();
  }

  // All k + m rows, identity on top.
  static std::vector<Byte> generator(MakeMatrix make, std::size_t k, std::size_t m) {
    std::vector<Byte> matrix((k + m) * k);
    make(matrix.data(), static_cast<int>(k + m), static_cast<int>(k));
    return matrix;
  }

  // Overwrites the stripe's parity with ISA-L.
  void encode(const std::vector<Byte>& matrix, std::size_t k, std::size_t m,
              const FormulaStripe& stripe) const {
    std::vector<Byte> rows(matrix.begin() + static_cast<std::ptrdiff_t>(k * k), matrix.end());
    std::vector<Byte> tables(32 * k * m);  // 32 bytes per coefficient, as documented
    isal.ec_init_tables(static_cast<int>(k), static_cast<int>(m), rows.data(), tables.data());
    std::vector<Byte*> data = stripe.pointers<Byte>(0, k);
    std::vector<Byte*> parity = stripe.pointers<Byte>(k, m);
    isal.ec_encode_data(static_cast<int>(stripe.shard(0).size()), static_cast<int>(k),
                        static_cast<int>(m), tables.data(), data.data(), parity.data());
  }

  // Compares parity for five lengths, then decodes m losses at every position from ISA-L's parity.
  void compare(const Codec& codec, MakeMatrix make) {
    const std::size_t k = codec.spec().data_shards;
    const std::size_t m = codec.spec().parity_shards;
    const std::vector<Byte> matrix = generator(make, k, m);
    for (const std::size_t bytes : {1U, 64U, 257U, 4096U, 5000U}) {
      const FormulaStripe theirs = make_stripe(codec, bytes);
      const FormulaStripe ours = make_stripe(codec, bytes);
      encode(matrix, k, m, theirs);
      const Status done = codec.encode(ours.data(), ours.parity());
      ASSERT_TRUE(done) << done.error().message;
      for (std::size_t i = k; i < k + m; ++i) {
        ASSERT_TRUE(std::ranges::equal(ours.shard(i), theirs.shard(i)))
            << k << "+" << m << ", " << bytes << " bytes, parity " << i - k;
      }
      for (std::size_t first = 0; first < k + m; ++first) {
        ASSERT_TRUE(rebuilds(codec, theirs, losses_from(first, m, k + m)))
            << k << "+" << m << ", " << bytes << " bytes, lost from " << first;
      }
      ++compared_;
    }
  }

  Isal isal;
  std::size_t compared_ = 0;
};

CodeSpec spec_of(CodeFamily family, std::size_t k, std::size_t m) {
  return {.family = family,
          .data_shards = static_cast<std::uint16_t>(k),
          .parity_shards = static_cast<std::uint16_t>(m)};
}

TEST_F(IsalInterop, CauchyWritesTheBytesOfCauchy1) {
  for (std::size_t k = 1; k < 16; ++k) {
    for (std::size_t m = 1; k + m <= 16; ++m) {
      const auto codec = Codec::create(spec_of(CodeFamily::cauchy, k, m));
      ASSERT_TRUE(codec) << codec.error().message;
      ASSERT_NO_FATAL_FAILURE(compare(*codec, isal.gf_gen_cauchy1_matrix));
    }
  }
  EXPECT_EQ(compared_, 120U * 5);
}

TEST_F(IsalInterop, VandermondeWritesTheBytesOfRsWhereItIsAccepted) {
  for (std::size_t k = 1; k < 16; ++k) {
    for (std::size_t m = 1; k + m <= 16; ++m) {
      const auto codec = Codec::create(spec_of(CodeFamily::vandermonde_isal, k, m));
      if (!codec) {
        ASSERT_EQ(codec.error().code, ErrorCode::unproven) << codec.error().message;
        continue;
      }
      ASSERT_NO_FATAL_FAILURE(compare(*codec, isal.gf_gen_rs_matrix));
    }
  }
  // k <= 4: all 54 pairs; k = 5: m <= 5; k = 6..12: m <= 4; k = 13, 14, 15: 16 - k.
  EXPECT_EQ(compared_, (54U + 5 + 7 * 4 + 3 + 2 + 1) * 5);
}

// Returns the generator rows of the surviving shards.
std::vector<Byte> surviving_rows(const std::vector<Byte>& matrix, std::size_t k,
                                 const std::vector<ShardIndex>& lost) {
  std::vector<Byte> rows;
  for (std::size_t i = 0; i < matrix.size() / k; ++i) {
    if (std::ranges::find(lost, static_cast<ShardIndex>(i)) != lost.end()) continue;
    const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(i * k);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(k));
  }
  return rows;
}

// Limits documented for gf_gen_rs_matrix in erasure_code.h, with n = k + m: invertible for k <= 3;
// k = 4, n <= 25; k = 5, n <= 10; k <= 21, n - k = 4; n - k <= 3. Returns 0 if no m is refused.
std::size_t first_refused_parity(std::size_t k) {
  if (k <= 3) return 0;
  if (k == 4) return 22;
  if (k == 5) return 6;
  return k <= 21 ? 5 : 4;
}

TEST_F(IsalInterop, RefusalsAreTheDocumentedLimits) {
  for (std::size_t k = 1; k <= 24; ++k) {
    const std::size_t expected = first_refused_parity(k);
    const std::size_t most = expected == 0 ? byte_shard_count_max - k : expected;
    for (std::size_t m = 1; m <= most; ++m) {
      const auto proof = prove(spec_of(CodeFamily::vandermonde_isal, k, m));
      ASSERT_TRUE(proof) << proof.error().message;
      ASSERT_EQ(proof->proven(), m != expected) << k << "+" << m << ": " << proof->text;
    }
  }
}

// ISA-L cannot invert the matrix of any refuted pattern, also with more parity.
TEST_F(IsalInterop, InversionFailsOnEveryRefutedPattern) {
  std::size_t tried = 0;
  for (std::size_t k = 4; k <= 24; ++k) {
    const std::size_t refused = first_refused_parity(k);
    for (std::size_t m = refused; m < refused + 4; ++m) {
      const CodeSpec spec = spec_of(CodeFamily::vandermonde_isal, k, m);
      const auto codec = Codec::create(spec);
      ASSERT_FALSE(codec) << k << "+" << m;
      ASSERT_EQ(codec.error().code, ErrorCode::unproven);
      const std::vector<ShardIndex> lost = prove(spec)->dead_pattern;
      ASSERT_EQ(lost.size(), m);
      std::vector<Byte> rows = surviving_rows(generator(isal.gf_gen_rs_matrix, k, m), k, lost);
      std::vector<Byte> inverse(k * k);
      ASSERT_EQ(rows.size(), inverse.size());
      ASSERT_NE(isal.gf_invert_matrix(rows.data(), inverse.data(), static_cast<int>(k)), 0)
          << k << "+" << m;
      ++tried;
    }
  }
  EXPECT_EQ(tried, 21U * 4);
}

// Control: the same call succeeds on another pattern.
TEST_F(IsalInterop, InversionSucceedsOnOtherPatterns) {
  std::vector<Byte> rows =
      surviving_rows(generator(isal.gf_gen_rs_matrix, 10, 5), 10, {0, 1, 2, 3, 4});
  std::vector<Byte> inverse(rows.size());
  EXPECT_EQ(isal.gf_invert_matrix(rows.data(), inverse.data(), 10), 0);
}

}  // namespace
}  // namespace calpe::tests
