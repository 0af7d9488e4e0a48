// SPDX-License-Identifier: Apache-2.0
// Operands are renamed where they are whole words.
#include "base/rename.hpp"

#include <array>
#include <gtest/gtest.h>

namespace calpe {
namespace {

TEST(RenameTest, WholeWordsOnly) {
  const std::array names = {Rename{"new_bytes", "new"}, Rename{"shards[4]", "rebuilt[1]"},
                            Rename{"shards[1]", "rebuilt[0]"}};
  EXPECT_EQ(renamed("new_bytes has 7 bytes; expected 8", names), "new has 7 bytes; expected 8");
  EXPECT_EQ(renamed("my_new_bytes, new_bytes2 and new_bytes", names),
            "my_new_bytes, new_bytes2 and new");
  EXPECT_EQ(renamed("shards[4] overlaps shards[1], not shards[41]", names),
            "rebuilt[1] overlaps rebuilt[0], not shards[41]");
  EXPECT_EQ(renamed("", names), "");
}

TEST(RenameTest, EachOnce) {
  const std::array names = {Rename{"a", "b"}, Rename{"b", "a"}};
  EXPECT_EQ(renamed("a overlaps b", names), "b overlaps a");
}

}  // namespace
}  // namespace calpe
