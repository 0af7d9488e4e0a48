// SPDX-License-Identifier: Apache-2.0
// Repairs a set in memory and compares it with the original.
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

// True if all shards exist under their names with their bytes, and nothing else exists.
inline void expect_whole(const MemoryFiles& files, const MadeSet& made) {
  const auto images = files.images();
  for (std::size_t i = 0; i < made.shard_count(); ++i) {
    ASSERT_TRUE(images.contains(made.path(i))) << i;
    EXPECT_TRUE(images.at(made.path(i)) == made.images()[i]) << "shard " << i << " differs";
  }
  EXPECT_EQ(images.size(), made.shard_count());
}

}  // namespace calpe::tests
