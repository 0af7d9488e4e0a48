// SPDX-License-Identifier: Apache-2.0
// A cached program that version 0.1.0 wrote is still found (tests/images).
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "kernel/entry_file.hpp"
#include "kernel/identity.hpp"

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

}  // namespace
}  // namespace calpe::kernel
