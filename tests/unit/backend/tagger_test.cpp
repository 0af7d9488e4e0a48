// SPDX-License-Identifier: Apache-2.0
// Tags of every CPU path against their definition, the constants of all fields, and the share of
// damage that short tags miss.
#include "backend/cpu/tagger.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "support/cpu_paths.hpp"
#include "support/guarded_shard.hpp"
#include "support/slow_tag.hpp"

namespace calpe::backend::cpu {
namespace {

using tests::slow_tag;
using tests::Tag;
using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

gf::FieldRef field_of(std::uint32_t polynomial) {
  return *gf::Field::create(8, polynomial);
}

Tag tag_of(const Tagger& tagger, std::span<const std::byte> shard) {
  Tag tag;
  const ConstShard only = shard;
  tagger.tag({&only, 1}, tag.data());
  return tag;
}

class TaggerOf : public testing::TestWithParam<const CpuKernels*> {};

TEST_P(TaggerOf, agrees_with_the_definition_at_every_length) {
  const gf::FieldRef field = field_of(0x11D);
  const Tagger tagger(*field, *GetParam());
  const Bytes bytes = random_bytes(200'003, 1);
  std::vector<std::size_t> lengths = {4096,   28'801, 30'719, 30'720, 30'721, 30'784,
                                      31'680, 61'440, 61'441, 65'536, 99'999, 200'000};
  for (std::size_t length = 0; length <= 1100; ++length)
    lengths.push_back(length);
  for (const std::size_t length : lengths) {
    const auto shard = std::span(bytes).subspan(length % 4, length);
    EXPECT_EQ(tag_of(tagger, shard), slow_tag(*field, 6, shard)) << length;
  }
}

TEST_P(TaggerOf, agrees_with_the_definition_over_other_fields) {
  for (const std::uint32_t polynomial : {0x11BU, 0x169U, 0x17BU, 0x1F9U}) {
    const gf::FieldRef field = field_of(polynomial);
    const Tagger tagger(*field, *GetParam());
    for (const std::size_t length : std::initializer_list<std::size_t>{8, 1000, 70'000}) {
      const Bytes shard = random_bytes(length, polynomial);
      EXPECT_EQ(tag_of(tagger, shard), slow_tag(*field, tag_constant(*field), shard)) << polynomial;
    }
  }
}

TEST_P(TaggerOf, takes_shards_in_pieces_of_whole_digits) {
  const Tagger tagger(*field_of(0x11D), *GetParam());
  const Bytes shard = random_bytes(100'001, 2);
  const Tag whole = tag_of(tagger, shard);
  for (const std::size_t piece :
       std::initializer_list<std::size_t>{64, 448, 960, 4096, 30'720, 65'536}) {
    TagState state;
    for (std::size_t at = 0; at < shard.size(); at += piece)
      tagger.take(state, shard.data() + at, std::min(piece, shard.size() - at));
    Tag tag;
    tagger.finish({&state, 1}, tag.data());
    EXPECT_EQ(tag, whole) << piece;
  }
}

TEST_P(TaggerOf, stays_within_the_shard) {
  const Tagger tagger(*field_of(0x11D), *GetParam());
  tests::GuardedShard memory(8192);
  const Bytes bytes = random_bytes(8192, 3);
  for (const tests::Guard guard : {tests::Guard::leading, tests::Guard::trailing}) {
    for (const std::size_t length :
         std::initializer_list<std::size_t>{0, 1, 63, 64, 65, 959, 961, 1984, 4095}) {
      for (std::size_t gap = 0; gap < 70; gap += 23) {
        memory.allow_writes(true);
        const Shard shard = memory.place({guard, gap}, length);
        std::copy_n(bytes.begin(), length, shard.begin());
        memory.allow_writes(false);
        EXPECT_EQ(tag_of(tagger, shard), tag_of(tagger, std::span(bytes).first(length)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(paths, TaggerOf, testing::ValuesIn(usable_paths()),
                         [](const auto& each) { return test_name_of(each.param); });

// Products of polynomials of degree 7 modulo z^8 + z^4 + z^3 + z^2 + c; index 0 is z^0.
using Power = std::array<gf::Element, 8>;
struct Extension {
  const gf::Field& field;
  gf::Element c;
  Power times(const Power& a, const Power& b) const {
    std::array<gf::Element, 15> all = {};
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j)
        all[i + j] ^= field.multiply(a[i], b[j]);
    }
    for (std::size_t i = 14; i >= 8; --i) {
      for (const std::size_t place : {4U, 3U, 2U})
        all[i - 8 + place] ^= all[i];
      all[i - 8] ^= field.multiply(c, all[i]);
    }
    Power result;
    std::copy_n(all.begin(), 8, result.begin());
    return result;
  }
  Power power_of_z(std::uint64_t exponent) const {
    Power result = {1};
    for (Power square = {0, 1}; exponent != 0; exponent /= 2, square = times(square, square)) {
      if (exponent % 2 != 0) result = times(result, square);
    }
    return result;
  }
  // z has order 2^64 - 1, so the polynomial is irreducible, too: for a product of factors of lower
  // degrees, the order would not have the factors 641 and 6700417 of 2^32 + 1.
  bool is_primitive() const {
    const Power one = {1};
    if (power_of_z(~std::uint64_t{0}) != one) return false;
    return std::ranges::none_of(
        std::array<std::uint64_t, 7>{3, 5, 17, 257, 641, 65537, 6700417},
        [&](std::uint64_t prime) { return power_of_z(~std::uint64_t{0} / prime) == one; });
  }
};

TEST(TagConstant, is_the_smallest_that_makes_the_polynomial_primitive) {
  std::size_t fields = 0;
  for (std::uint32_t polynomial = 0x100; polynomial < 0x200; ++polynomial) {
    const auto field = gf::Field::create(8, polynomial);
    if (!field) continue;
    ++fields;
    gf::Element smallest = 1;
    while (!Extension{**field, smallest}.is_primitive())
      ++smallest;
    EXPECT_EQ(tag_constant(**field), smallest) << polynomial;
  }
  EXPECT_EQ(fields, 30U);
}

// Two wrong bytes escape only if their tags are multiples of each other.
TEST(Tagger, tells_any_two_wrong_bytes) {
  const gf::FieldRef field = field_of(0x11D);
  const Tagger tagger(*field, *usable_paths().back());
  constexpr std::size_t bytes = 2 * 480 * 64;
  Bytes shard(bytes);
  std::set<Tag> directions;
  for (std::size_t i = 0; i < bytes; ++i) {
    shard[i] = std::byte{1};
    Tag tag = tag_of(tagger, shard);
    shard[i] = std::byte{0};
    const auto first = std::ranges::find_if(tag, [](std::byte b) { return b != std::byte{0}; });
    ASSERT_NE(first, tag.end()) << i;
    const gf::Element scale = field->inverse(static_cast<gf::Element>(*first));
    for (std::byte& b : tag)
      b = static_cast<std::byte>(field->multiply(scale, static_cast<gf::Element>(b)));
    directions.insert(tag);
  }
  EXPECT_EQ(directions.size(), bytes);
}

// Damage of shards, as the difference to what they were.
using Damage = std::function<void(Bytes& shard, std::mt19937& random)>;
const std::map<std::string, Damage>& damages() {
  static const std::map<std::string, Damage> all = {
      {"one bit",
       [](Bytes& shard, std::mt19937& random) {
         shard[random() % shard.size()] ^= std::byte{1} << (random() % 8);
       }},
      {"three bytes",
       [](Bytes& shard, std::mt19937& random) {
         for (int i = 0; i < 3; ++i)
           shard[random() % shard.size()] ^= static_cast<std::byte>(1 + random() % 255);
       }},
      {"random sector",
       [](Bytes& shard, std::mt19937& random) {
         const std::size_t at = random() % (shard.size() / 512) * 512;
         std::generate_n(shard.begin() + static_cast<std::ptrdiff_t>(at), 512,
                         [&] { return static_cast<std::byte>(random()); });
       }},
      {"zeroed sector",
       [](Bytes& shard, std::mt19937& random) {
         const std::size_t at = random() % (shard.size() / 512) * 512;
         std::fill_n(shard.begin() + static_cast<std::ptrdiff_t>(at), 512, std::byte{0});
       }},
      {"swapped sectors",
       [](Bytes& shard, std::mt19937& random) {
         const std::size_t count = shard.size() / 512;
         const std::size_t one = random() % count;
         const std::size_t other = (one + 1 + random() % (count - 1)) % count;
         std::swap_ranges(shard.begin() + static_cast<std::ptrdiff_t>(one * 512),
                          shard.begin() + static_cast<std::ptrdiff_t>(one * 512 + 512),
                          shard.begin() + static_cast<std::ptrdiff_t>(other * 512));
       }},
      {"shifted", [](Bytes& shard, std::mt19937& random) {
         const std::size_t by = 1 + random() % (shard.size() - 1);
         std::rotate(shard.begin(), shard.begin() + static_cast<std::ptrdiff_t>(by), shard.end());
       }}};
  return all;
}

// A byte of the tag misses random damage with 1 in 256, and two bytes with 1 in 65,536. Any whole
// tag that misses damage would be a sensation.
TEST(Tagger, misses_as_much_damage_as_its_length_says) {
  const Tagger tagger(*field_of(0x11D), *usable_paths().back());
  for (const auto& [name, damage] : damages()) {
    std::mt19937 random(4);
    constexpr int trials = 40'000;
    int one_byte = 0;
    int two_bytes = 0;
    const Bytes intact = random_bytes(8192, 5);
    const Tag expected = tag_of(tagger, intact);
    Bytes shard = intact;
    for (int trial = 0; trial < trials; ++trial) {
      damage(shard, random);
      const Tag tag = tag_of(tagger, shard);
      EXPECT_NE(tag, expected) << name;
      one_byte += tag[0] == expected[0] ? 1 : 0;
      two_bytes += tag[3] == expected[3] && tag[6] == expected[6] ? 1 : 0;
      shard = intact;
    }
    // Expected 156. One bit is no random damage: 367, as some positions have weight 0 in this byte.
    EXPECT_LT(one_byte, trials * 3 / 256) << name;
    EXPECT_LE(two_bytes, 8) << name;  // expected 0.6
  }
}

}  // namespace
}  // namespace calpe::backend::cpu
