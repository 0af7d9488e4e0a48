// SPDX-License-Identifier: Apache-2.0
// Compares parity with the installed Jerasure, decodes its parity, and compares the refused
// lengths.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include <calpe/codec.hpp>

#include "support/formula_stripe.hpp"
#include "support/peer_library.hpp"
#include "support/rebuild_check.hpp"

namespace calpe::tests {
namespace {

struct Free {
  void operator()(int* memory) const noexcept { std::free(memory); }
};
using IntMatrix = std::unique_ptr<int[], Free>;  // Jerasure returns malloc'ed memory
using MakeMatrix = int* (*)(int k, int m, int w);

// Declared as in jerasure.h, reed_sol.h and cauchy.h of Jerasure 2.0, which loads GF-Complete.
struct Jerasure {
  PeerLibrary library{"libJerasure.so.2", "libjerasure2"};
  MakeMatrix reed_sol_vandermonde_coding_matrix = nullptr;
  MakeMatrix cauchy_original_coding_matrix = nullptr;
  MakeMatrix cauchy_good_general_coding_matrix = nullptr;
  int* (*jerasure_matrix_to_bitmatrix)(int k, int m, int w, int* matrix) = nullptr;
  void (*jerasure_matrix_encode)(int k, int m, int w, int* matrix, char** data, char** coding,
                                 int bytes) = nullptr;
  void (*jerasure_bitmatrix_encode)(int k, int m, int w, int* bitmatrix, char** data, char** coding,
                                    int bytes, int packet_bytes) = nullptr;

  Jerasure() {
    library.find("reed_sol_vandermonde_coding_matrix", reed_sol_vandermonde_coding_matrix);
    library.find("cauchy_original_coding_matrix", cauchy_original_coding_matrix);
    library.find("cauchy_good_general_coding_matrix", cauchy_good_general_coding_matrix);
    library.find("jerasure_matrix_to_bitmatrix", jerasure_matrix_to_bitmatrix);
    library.find("jerasure_matrix_encode", jerasure_matrix_encode);
    library.find("jerasure_bitmatrix_encode", jerasure_bitmatrix_encode);
  }
};

// A length that Jerasure accepts: whole groups of w packets, packets of whole machine words.
struct PacketLength {
  std::uint32_t packet_bytes = 0;
  std::size_t groups = 0;
};
constexpr PacketLength packet_lengths[] = {
    {.packet_bytes = 8, .groups = 1},   {.packet_bytes = 8, .groups = 7},
    {.packet_bytes = 24, .groups = 2},  {.packet_bytes = 64, .groups = 3},
    {.packet_bytes = 520, .groups = 1},
};

class JerasureInterop : public testing::Test {
 protected:
  void SetUp() override {
    if (!jerasure.library.missing().empty()) GTEST_SKIP() << jerasure.library.missing();
  }

  // Compares our parity with Jerasure's in `theirs`, then decodes m losses of that at two
  // positions.
  void compare(const Codec& codec, const FormulaStripe& theirs) {
    const std::size_t k = codec.spec().data_shards;
    const std::size_t m = codec.spec().parity_shards;
    const FormulaStripe ours = make_stripe(codec, theirs.shard(0).size());
    const Status done = codec.encode(ours.data(), ours.parity());
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = k; i < k + m; ++i) {
      ASSERT_TRUE(std::ranges::equal(ours.shard(i), theirs.shard(i))) << "parity " << i - k;
    }
    for (const std::size_t first : {std::size_t{0}, k / 2}) {
      ASSERT_TRUE(rebuilds(codec, theirs, losses_from(first, m, k + m)));
    }
    ++compared_;
  }

  // Compares one (k, m, w) for all five lengths.
  void compare_packets(CodeFamily family, MakeMatrix make, const CodeSpec& shape) {
    const int k = static_cast<int>(shape.data_shards);
    const int m = static_cast<int>(shape.parity_shards);
    const int w = shape.word_bits;
    const IntMatrix matrix(make(k, m, w));
    ASSERT_NE(matrix, nullptr);
    const IntMatrix bits(jerasure.jerasure_matrix_to_bitmatrix(k, m, w, matrix.get()));
    for (const PacketLength& length : packet_lengths) {
      CodeSpec spec = shape;
      spec.family = family;
      spec.packet_bytes = length.packet_bytes;
      const auto codec = Codec::create(spec);
      ASSERT_TRUE(codec) << codec.error().message;
      const std::size_t bytes = length.groups * codec->shard_bytes_multiple();
      ASSERT_EQ(bytes, length.groups * shape.word_bits * length.packet_bytes);
      SCOPED_TRACE(testing::Message() << k << "+" << m << ", w = " << w << ", " << bytes
                                      << " bytes in packets of " << length.packet_bytes);
      const FormulaStripe theirs = make_stripe(*codec, bytes);
      auto data = theirs.pointers<char>(0, shape.data_shards);
      auto parity = theirs.pointers<char>(shape.data_shards, shape.parity_shards);
      jerasure.jerasure_bitmatrix_encode(k, m, w, bits.get(), data.data(), parity.data(),
                                         static_cast<int>(bytes),
                                         static_cast<int>(length.packet_bytes));
      ASSERT_NO_FATAL_FAILURE(compare(*codec, theirs));
    }
  }

  // Compares every (k, m) with k + m <= 16 over every field that is large enough.
  void compare_all_packets(CodeFamily family, MakeMatrix make) {
    for (unsigned w = 2; w <= 8; ++w) {
      const std::size_t shards_max = std::min<std::size_t>(16, std::size_t{1} << w);
      for (std::size_t k = 1; k < shards_max; ++k) {
        for (std::size_t m = 1; k + m <= shards_max; ++m) {
          ASSERT_NO_FATAL_FAILURE(compare_packets(family, make,
                                                  {.layout = Layout::packets,
                                                   .data_shards = static_cast<std::uint16_t>(k),
                                                   .parity_shards = static_cast<std::uint16_t>(m),
                                                   .word_bits = static_cast<std::uint8_t>(w)}));
        }
      }
    }
    // C(4, 2) pairs for w = 2, C(8, 2) for w = 3, C(16, 2) for each of w = 4..8.
    EXPECT_EQ(compared_, (6U + 28 + 5 * 120) * std::size(packet_lengths));
  }

  Jerasure jerasure;
  std::size_t compared_ = 0;
};

TEST_F(JerasureInterop, VandermondeWritesTheBytesOfReedSolVan) {
  for (std::size_t k = 1; k < 16; ++k) {
    for (std::size_t m = 1; k + m <= 16; ++m) {
      const auto codec = Codec::create({.family = CodeFamily::vandermonde_jerasure,
                                        .data_shards = static_cast<std::uint16_t>(k),
                                        .parity_shards = static_cast<std::uint16_t>(m)});
      ASSERT_TRUE(codec) << codec.error().message;
      const int ik = static_cast<int>(k);
      const int im = static_cast<int>(m);
      const IntMatrix matrix(jerasure.reed_sol_vandermonde_coding_matrix(ik, im, 8));
      ASSERT_NE(matrix, nullptr);
      for (const std::size_t bytes : {8U, 64U, 264U, 4096U, 5000U}) {  // multiples of sizeof(long)
        SCOPED_TRACE(testing::Message() << k << "+" << m << ", " << bytes << " bytes");
        const FormulaStripe theirs = make_stripe(*codec, bytes);
        auto data = theirs.pointers<char>(0, k);
        auto parity = theirs.pointers<char>(k, m);
        jerasure.jerasure_matrix_encode(ik, im, 8, matrix.get(), data.data(), parity.data(),
                                        static_cast<int>(bytes));
        ASSERT_NO_FATAL_FAILURE(compare(*codec, theirs));
      }
    }
  }
  EXPECT_EQ(compared_, 120U * 5);
}

TEST_F(JerasureInterop, CauchyOrigWritesTheBytesOfCauchyOrig) {
  compare_all_packets(CodeFamily::cauchy_orig, jerasure.cauchy_original_coding_matrix);
}

TEST_F(JerasureInterop, CauchyGoodWritesTheBytesOfCauchyGood) {
  compare_all_packets(CodeFamily::cauchy_good, jerasure.cauchy_good_general_coding_matrix);
}

// Jerasure refuses by aborting, so each refusal runs in its own process.
using JerasureRefusal = JerasureInterop;

TEST_F(JerasureRefusal, RefusesTheSameLengths) {
  const IntMatrix matrix(jerasure.cauchy_good_general_coding_matrix(4, 2, 4));
  const IntMatrix bits(jerasure.jerasure_matrix_to_bitmatrix(4, 2, 4, matrix.get()));
  for (const CodeFamily family : {CodeFamily::cauchy_orig, CodeFamily::cauchy_good}) {
    const auto codec = Codec::create({.family = family,
                                      .layout = Layout::packets,
                                      .data_shards = 4,
                                      .parity_shards = 2,
                                      .word_bits = 4,
                                      .packet_bytes = 16});
    ASSERT_TRUE(codec) << codec.error().message;
    ASSERT_EQ(codec->shard_bytes_multiple(), 64U);
    for (std::size_t bytes = 0; bytes <= 256; bytes += 4) {  // parity is never longer than data
      const FormulaStripe stripe = make_stripe(*codec, bytes);
      const Status done = codec->encode(stripe.data(), stripe.parity());
      ASSERT_EQ(done.has_value(), bytes % 64 == 0) << bytes;
      if (!done) {
        ASSERT_EQ(done.error().code, ErrorCode::invalid_argument);
      }
    }
  }
  for (const int bytes : {4, 16, 32, 60, 68, 96, 120}) {
    const FormulaStripe stripe(
        {.data_shards = 4, .parity_shards = 2, .data_bytes = 128, .parity_bytes = 128});
    auto data = stripe.pointers<char>(0, 4);
    auto parity = stripe.pointers<char>(4, 2);
    EXPECT_DEATH(jerasure.jerasure_bitmatrix_encode(4, 2, 4, bits.get(), data.data(), parity.data(),
                                                    bytes, 16),
                 "size.* % .packetsize.*w.* != 0")
        << bytes;
  }
}

TEST_F(JerasureRefusal, PacketsOfPartsOfAWordAreRefused) {
  const IntMatrix matrix(jerasure.cauchy_original_coding_matrix(4, 2, 4));
  const IntMatrix bits(jerasure.jerasure_matrix_to_bitmatrix(4, 2, 4, matrix.get()));
  const FormulaStripe stripe(
      {.data_shards = 4, .parity_shards = 2, .data_bytes = 128, .parity_bytes = 128});
  auto data = stripe.pointers<char>(0, 4);
  auto parity = stripe.pointers<char>(4, 2);
  for (const unsigned packet_bytes : {1U, 4U, 12U, 20U}) {
    const auto codec = Codec::create({.family = CodeFamily::cauchy_orig,
                                      .layout = Layout::packets,
                                      .data_shards = 4,
                                      .parity_shards = 2,
                                      .word_bits = 4,
                                      .packet_bytes = packet_bytes});
    ASSERT_FALSE(codec);
    EXPECT_EQ(codec.error().code, ErrorCode::invalid_argument);
    EXPECT_DEATH(jerasure.jerasure_bitmatrix_encode(4, 2, 4, bits.get(), data.data(), parity.data(),
                                                    static_cast<int>(4 * packet_bytes),
                                                    static_cast<int>(packet_bytes)),
                 "packetsize.* % sizeof");
  }
}

}  // namespace
}  // namespace calpe::tests
