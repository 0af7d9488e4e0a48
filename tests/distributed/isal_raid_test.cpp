// SPDX-License-Identifier: Apache-2.0
// Compares the RAID functions of our libisal.so.2 with ISA-L's: bytes, statuses, and damage that
// the checks must report.
#include <algorithm>
#include <cstring>
#include <memory>

#include "support/isal_pair.hpp"

namespace calpe::tests {
namespace {

constexpr std::size_t bytes_max = 4160;

class IsalRaid : public IsalPair {
 protected:
  // ISA-L requires shards aligned to 32 bytes.
  struct Array {
    explicit Array(std::size_t count) : memory(count * (bytes_max + 64)) {
      void* start = memory.data();
      std::size_t space = memory.size();
      std::align(64, 1, start, space);
      for (std::size_t i = 0; i < count; ++i)
        shards.push_back(static_cast<Byte*>(start) + i * bytes_max);
    }
    Byte* shard(std::size_t i) const { return static_cast<Byte*>(shards[i]); }
    std::vector<Byte> memory;
    std::vector<void*> shards;
  };

  // The status, and the resulting content of the array.
  static std::pair<int, std::vector<Byte>> ran(IsalFunctions::Raid* function, Array& array,
                                               std::size_t bytes, const std::vector<Byte>& before) {
    array.memory = before;
    const int status = function(static_cast<int>(array.shards.size()), static_cast<int>(bytes),
                                array.shards.data());
    return {status, array.memory};
  }

  void compare(IsalFunctions::Raid* IsalFunctions::*function, Array& array, std::size_t bytes) {
    const std::vector<Byte> before = random_bytes(array.memory.size());
    const auto expected = ran(theirs.*function, array, bytes, before);
    const auto got = ran(ours.*function, array, bytes, before);
    ASSERT_EQ(got.first, expected.first) << array.shards.size() << " x " << bytes;
    ASSERT_TRUE(got.second == expected.second) << array.shards.size() << " x " << bytes;
  }

  // The check accepts the generated shards and fails for any flipped bit.
  void check_damage(IsalFunctions::Raid* generate, IsalFunctions::Raid* check, Array& array,
                    std::size_t bytes) {
    const auto count = static_cast<int>(array.shards.size());
    const auto len = static_cast<int>(bytes);
    const std::vector<Byte> content = random_bytes(array.memory.size());
    std::copy(content.begin(), content.end(), array.memory.begin());
    ASSERT_EQ(generate(count, len, array.shards.data()), 0);
    ASSERT_EQ(check(count, len, array.shards.data()), 0);
    for (std::size_t i = 0; i < array.shards.size(); ++i) {
      for (const std::size_t at : {std::size_t{0}, bytes - 1, below(bytes), below(bytes)}) {
        const auto bit = static_cast<Byte>(1U << below(8));
        array.shard(i)[at] ^= bit;
        ASSERT_EQ(check(count, len, array.shards.data()), 1) << "shard " << i << ", byte " << at;
        array.shard(i)[at] ^= bit;
      }
    }
    ASSERT_EQ(check(count, len, array.shards.data()), 0);
  }
};

TEST_F(IsalRaid, Sums) {
  for (std::size_t count = 0; count <= 20; ++count) {
    Array array(count);
    for (std::size_t bytes = 0; bytes <= 4100; bytes += 1 + below(300))
      ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::xor_gen, array, bytes));
  }
  for (std::size_t bytes = 0; bytes <= 600; ++bytes) {
    Array array(6);
    ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::xor_gen, array, bytes));
    ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::xor_gen_base, array, bytes));
  }
}

TEST_F(IsalRaid, PAndQ) {
  for (std::size_t count = 0; count <= 20; ++count) {
    Array array(count);
    for (std::size_t bytes = 0; bytes <= 4100; bytes += 32 * (1 + below(12)))
      ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::pq_gen, array, bytes));
    for (std::size_t bytes = 1; bytes < 100; bytes += 1 + below(4))
      ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::pq_gen, array, bytes | 1));
    if (count < 3) continue;
    for (std::size_t bytes = 0; bytes <= 512; bytes += 16)
      ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::pq_gen_base, array, bytes));
  }
  // More than the powers of two are different.
  Array array(300);
  ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::pq_gen, array, 4096));
  ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::xor_gen, array, 4001));
}

TEST_F(IsalRaid, ChecksFindEveryDamage) {
  for (const std::size_t count : {4UL, 6UL, 14UL, 300UL}) {
    Array array(count);
    for (const std::size_t bytes : {16UL, 32UL, 2048UL, 2064UL, 4096UL}) {
      const bool both = bytes % 32 == 0;
      if (both) {
        ASSERT_NO_FATAL_FAILURE(check_damage(theirs.pq_gen, ours.pq_check, array, bytes));
        ASSERT_NO_FATAL_FAILURE(check_damage(ours.pq_gen, theirs.pq_check, array, bytes));
      }
      ASSERT_NO_FATAL_FAILURE(check_damage(ours.pq_gen_base, ours.pq_check, array, bytes));
      ASSERT_NO_FATAL_FAILURE(check_damage(theirs.xor_gen, ours.xor_check, array, bytes - 3));
      ASSERT_NO_FATAL_FAILURE(check_damage(ours.xor_gen, theirs.xor_check, array, bytes));
    }
  }
}

// Few shards and odd lengths: statuses of the checks for wrong content.
TEST_F(IsalRaid, StatusesOfChecks) {
  for (std::size_t count = 0; count <= 8; ++count) {
    Array array(count);
    for (const std::size_t bytes : {0UL, 1UL, 8UL, 16UL, 17UL, 48UL, 64UL, 100UL}) {
      ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::xor_check, array, bytes));
      ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::pq_check, array, bytes));
      if (count > 0) {
        ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::xor_check_base, array, bytes));
      }
      if (count > 2 && bytes % 16 == 0) {
        ASSERT_NO_FATAL_FAILURE(compare(&IsalFunctions::pq_check_base, array, bytes));
      }
    }
  }
  for (const auto function : {&IsalFunctions::xor_gen, &IsalFunctions::xor_check,
                              &IsalFunctions::pq_gen, &IsalFunctions::pq_check}) {
    Array array(6);
    EXPECT_EQ((ours.*function)(6, -32, array.shards.data()), 1);
    EXPECT_EQ((ours.*function)(-6, 32, array.shards.data()), 1);
  }
}

TEST_F(IsalRaid, BaseChecksSayWhere) {
  Array array(6);
  ASSERT_EQ(ours.pq_gen(6, 512, array.shards.data()), 0);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t at = 0; at < 512; at += 1 + below(40)) {
      array.shard(i)[at] ^= 9;
      EXPECT_EQ(ours.pq_check_base(6, 512, array.shards.data()),
                theirs.pq_check_base(6, 512, array.shards.data()));
      array.shard(i)[at] ^= 9;
    }
  }
}

}  // namespace
}  // namespace calpe::tests
