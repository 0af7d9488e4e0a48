// SPDX-License-Identifier: Apache-2.0
// A cached program written by version 0.1.0 is still found (tests/images).
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kernel_cache/entry_file.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::kernel {
namespace {

TEST(CacheImage, OfTheFirstVersionIsRead) {
  std::ifstream file(CALPE_TEST_DATA "/images/program-cache-1.kernel", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto entry = unpack(bytes);
  ASSERT_TRUE(entry.has_value());
  std::string object;
  for (int i = 0; i < 256; ++i)
    object += static_cast<char>(i);
  EXPECT_EQ(entry->object, object);
  const std::string expected = content({.target = "openmp",
                                        .compiler = "/usr/bin/cc 12.2.0",
                                        .flags = {"-O2", "-march=x86-64-v3"},
                                        .source = "void f(void) {}\n"});
  EXPECT_EQ(entry->content, expected);
  EXPECT_EQ(digest(expected), "fd2cf889999385bf3ee155e5064cdaa4");
  EXPECT_EQ(pack(*entry), bytes);
}

// Lengths that do not fit the entry, with a valid checksum: another program's, or forged.
TEST(CacheImage, LengthsThatDoNotFitAreRefused) {
  constexpr std::size_t footer = 8 + 16 + 16;  // magic, checksum, two lengths
  const auto forged = [&](std::size_t from_end, char length) {
    std::string bytes = pack({.object = "object", .content = "content"});
    const std::size_t covered = bytes.size() - 8 - 16;
    bytes[bytes.size() - from_end] = length;
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes.data(), covered));
    bytes.replace(covered, 16, reinterpret_cast<const char*>(checksum.digest), 16);
    return bytes;
  };
  EXPECT_TRUE(unpack(forged(footer, 6)).has_value());
  EXPECT_FALSE(unpack(forged(footer, 14)).has_value());
  EXPECT_FALSE(unpack(forged(footer, 5)).has_value());
  EXPECT_FALSE(unpack(forged(footer - 8, 8)).has_value());
}

}  // namespace
}  // namespace calpe::kernel
