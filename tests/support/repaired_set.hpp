// SPDX-License-Identifier: Apache-2.0
// Repairs a set in memory, and looks whether it is what it was.
#pragma once
#include <gtest/gtest.h>

#include "store/repair/repair_set.hpp"
#include "support/set_damage.hpp"

namespace calpe::tests {

inline Result<store::RepairReport> repair(store::FileSystem& files,
                                          const store::RepairOptions& options = {}) {
  const auto set = find_one(files);
  if (!set) return set.error();
  return store::repair_set(files, *set, options);
}

// All shards are there, each at its own name with its own bytes, and nothing else is.
inline void expect_whole(const MemoryFiles& files, const MadeSet& made) {
  const auto images = files.images();
  for (std::size_t i = 0; i < made.shard_count(); ++i) {
    ASSERT_TRUE(images.contains(made.path(i))) << i;
    EXPECT_TRUE(images.at(made.path(i)) == made.images()[i]) << "shard " << i << " differs";
  }
  EXPECT_EQ(images.size(), made.shard_count());
}

}  // namespace calpe::tests
