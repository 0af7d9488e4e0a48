// SPDX-License-Identifier: Apache-2.0
#include "array/state/batch.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include "array/format/layout.hpp"

namespace calpe::array {
namespace {

// A server makes batches for years, so they must not leak memory.
TEST(ArrayBatch, ReusesMemoryAfterClear) {
  Settings settings;
  settings.spec.data_shards = 2;
  settings.spec.parity_shards = 1;
  settings.chunk_bytes = 8192;
  settings.bytes = std::uint64_t{12} * 2 * 8192;
  settings.log_bytes = 65536;
  const MemberLayout layout = layout_of(settings, {.rotated = 3, .members_max = 3});
  Batch batch(layout);
  const auto fill_and_clear = [&](unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
      batch.put_block(1, 2, 0, 0, 7);
      batch.put_block(1, 2, 1, 2, 8);
      batch.header({}, 7);
      batch.clear();
    }
  };
  fill_and_clear(10);
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  fill_and_clear(10'000);
  const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_LT(after, before + 100'000);
}

}  // namespace
}  // namespace calpe::array
