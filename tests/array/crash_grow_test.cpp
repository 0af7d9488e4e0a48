// SPDX-License-Identifier: Apache-2.0
// Crash states while an array grows, and of writes, rebuilds and a second growth afterwards. Each
// state has the old or the new size. What an older version of the program would find is checked,
// too: nothing, or the array as it was.
#include "array/crash_run.hpp"

namespace calpe::tests {
namespace {

bool is_sound() {
  return !testing::Test::HasFatalFailure();
}

void tell(const CrashRun::Counts& counts) {
  std::cout << counts.prefix_torn << " prefix-torn states of " << counts.epochs << " epochs, "
            << counts.random << " random ones; " << counts.crashed_twice
            << " crashed in recovery, too; " << counts.sets << " sets of disks lost; "
            << counts.older_versions << " that an older version can open\n";
}

// The sectors that growing writes, with nothing to be written by the checkpoint before: its
// superblocks; one copy of the new index; the superblocks of the new size; at opening, the other
// copy of the index, and superblocks.
TEST(ArrayCrash, AGrowth) {
  keep_memory();
  const CrashShape shape = {.data = 3, .parity = 2, .stripes = 3, .member_bytes = 1 << 20};
  std::cout << "CALPE_ARRAY_SEED=" << array_seed() << std::endl;
  CrashRun run(shape, array_seed());
  run.start();
  const auto block = [&] { return 4096 * run.random().below(run.array().bytes() / 4096); };
  const auto stripe = [&] {
    return shape.stripe_bytes() * run.random().below(run.array().bytes() / shape.stripe_bytes());
  };
  for (std::uint64_t i = 0; i + 1 < shape.stripes && is_sound(); ++i)
    run.write(i * shape.stripe_bytes(), shape.stripe_bytes(), Durability::cached);
  if (is_sound()) run.close();
  if (is_sound()) run.open();
  run.begin();
  std::uint64_t bytes = shape.bytes();
  for (const std::uint64_t stripes : {9U, 2U}) {
    for (unsigned i = 0; i < 3 && is_sound(); ++i)
      run.write(block(), 4096, Durability::durable);
    for (unsigned i = 0; i < 2 && is_sound(); ++i)
      run.checkpoint();  // so that both copies of the index are written
    if (!is_sound()) return;
    const CrashRun::Counts before = run.counts();
    const std::uint64_t sectors_before = before.sectors + run.sectors_since_epoch();
    run.grow(bytes + stripes * shape.stripe_bytes());
    if (!is_sound()) return;
    bytes = run.array().bytes();
    constexpr std::uint64_t index_pages = 3;
    constexpr std::uint64_t sectors_per_page = 8;
    EXPECT_EQ(run.counts().sectors - sectors_before,
              shape.members() * sectors_per_page * (1 + index_pages + 1 + index_pages + 1));
    EXPECT_EQ(run.counts().epochs - before.epochs, 5U);
    run.write(bytes - shape.stripe_bytes(), shape.stripe_bytes(), Durability::durable);
    for (unsigned i = 0; i < 3 && is_sound(); ++i)
      run.write(block(), 4096, Durability::durable);
    if (is_sound()) run.trim(stripe(), shape.stripe_bytes(), Durability::durable);
    if (is_sound()) run.write(stripe(), shape.stripe_bytes(), Durability::durable);
    if (is_sound()) run.checkpoint();
    if (is_sound()) run.close();
    if (is_sound()) run.open();
  }
  if (!is_sound()) return;
  run.finish();
  tell(run.counts());
  EXPECT_GE(run.counts().prefix_torn, 4'000U);
  EXPECT_GE(run.counts().older_versions, 100U);
}

// Grown, a member is replaced, and the array grows again: over all segments.
TEST(ArrayCrash, AReplacementInAGrownArray) {
  keep_memory();
  const CrashShape shape = {
      .data = 2, .parity = 2, .stripes = 2, .member_bytes = 1 << 20, .spares = 1};
  std::cout << "CALPE_ARRAY_SEED=" << array_seed() << std::endl;
  CrashRun run(shape, array_seed() + 1);
  run.start();
  if (is_sound()) run.grow(4 * shape.stripe_bytes());
  if (is_sound()) run.grow(5 * shape.stripe_bytes());
  const auto block = [&] { return 4096 * run.random().below(run.array().bytes() / 4096); };
  for (unsigned i = 0; i < 5 && is_sound(); ++i)
    run.write(i * shape.stripe_bytes(), shape.stripe_bytes(), Durability::cached);
  if (is_sound()) run.close();
  if (is_sound()) run.open();
  run.begin();
  if (is_sound()) run.replace(1, shape.members());
  for (bool is_done = false; !is_done && is_sound();) {
    run.write(block(), 4096, Durability::durable);
    if (is_sound()) is_done = run.rebuild_step();
  }
  if (is_sound()) run.write(block(), 4096, Durability::durable);
  if (!is_sound()) return;
  run.finish();
  tell(run.counts());
  EXPECT_GE(run.counts().prefix_torn, 1'000U);
}

}  // namespace
}  // namespace calpe::tests
