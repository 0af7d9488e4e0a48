// SPDX-License-Identifier: Apache-2.0
// Crash states while a member is replaced, live or after it failed: of the beginning, of writes
// next to the copy or the rebuild, of progress that becomes durable, of the moment when the new
// disk has everything, and after it. Each state is recovered and completed before any m disks are
// lost; some copies are not.
#include "array/crash_run.hpp"

namespace calpe::tests {
namespace {

bool is_sound() {
  return !testing::Test::HasFatalFailure();
}

TEST(ArrayCrash, AReplacementOfALiveMember) {
  keep_memory();
  const CrashShape shape = {.data = 3, .parity = 2, .stripes = 3, .spares = 1};
  std::cout << "CALPE_ARRAY_SEED=" << array_seed() << std::endl;
  CrashRun run(shape, array_seed());
  run.start();
  for (std::uint64_t i = 0; i + 1 < shape.stripes && is_sound(); ++i) {
    run.write(i * shape.stripe_bytes(), shape.stripe_bytes(), Durability::cached);
  }
  if (is_sound()) run.close();
  if (is_sound()) run.open();
  run.begin();
  const bool is_night = std::getenv("CALPE_NIGHTLY") != nullptr;
  unsigned spare = shape.members();
  std::vector<unsigned> places(shape.members());
  std::iota(places.begin(), places.end(), 0U);
  for (unsigned round = 0; round < (is_night ? 12U : 1U) && is_sound(); ++round) {
    const auto role = static_cast<unsigned>(run.random().below(shape.members()));
    const auto block = [&] { return 4096 * run.random().below(shape.bytes() / 4096); };
    const auto stripe = [&] { return shape.stripe_bytes() * run.random().below(shape.stripes); };
    run.replace(role, spare);
    bool is_done = false;
    while (!is_done && is_sound()) {
      run.write(block(), 4096, Durability::durable);
      if (run.random().coin() && is_sound())
        run.write(stripe(), shape.stripe_bytes(), Durability::durable);
      if (is_sound()) is_done = run.rebuild_step();
    }
    if (!is_sound()) break;
    EXPECT_EQ(run.array().status().now.members[role].place, spare);
    std::swap(places[role], spare);
    run.write(block(), 4096, Durability::durable);
    if (is_sound()) run.trim(stripe(), shape.stripe_bytes(), Durability::durable);
    if (is_sound()) run.checkpoint();
    if (is_sound()) run.write(block(), 4096, Durability::durable);
  }
  if (!is_sound()) return;
  run.finish();
  const CrashRun::Counts& counts = run.counts();
  std::cout << counts.prefix_torn << " prefix-torn states of " << counts.epochs << " epochs, "
            << counts.random << " random ones; " << counts.crashed_twice
            << " crashed in recovery, too; " << counts.sets << " sets of disks lost\n";
  EXPECT_GE(counts.prefix_torn, 2'000U);
}

TEST(ArrayCrash, ARebuild) {
  keep_memory();
  const CrashShape shape = {
      .data = 3, .parity = 2, .stripes = 4, .spares = 1, .completes_rebuilds = true};
  std::cout << "CALPE_ARRAY_SEED=" << array_seed() << std::endl;
  CrashRun run(shape, array_seed() + 1);
  run.start();
  const auto block = [&] { return 4096 * run.random().below(shape.bytes() / 4096); };
  const auto stripe = [&] { return shape.stripe_bytes() * run.random().below(shape.stripes); };
  for (unsigned i = 0; i < 8 && is_sound(); ++i)  // in slots of any order
    run.write(stripe(), shape.stripe_bytes(), Durability::cached);
  if (is_sound()) run.close();
  if (is_sound()) run.open();
  const bool is_night = std::getenv("CALPE_NIGHTLY") != nullptr;
  unsigned spare = shape.members();
  for (unsigned round = 0; round < (is_night ? 12U : 1U) && is_sound(); ++round) {
    const auto role = static_cast<unsigned>(run.random().below(shape.members()));
    const unsigned left = run.array().status().now.members[role].place;
    run.fail(role);
    if (is_sound()) run.write(block(), 4096, Durability::durable);
    if (is_sound()) run.replace(role, spare);
    if (round == 0) run.begin();
    bool is_done = false;
    while (!is_done && is_sound()) {
      run.write(block(), 4096, Durability::durable);
      if (run.random().coin() && is_sound())
        run.write(stripe(), shape.stripe_bytes(), Durability::durable);
      if (run.random().one_in(4) && is_sound())
        run.trim(stripe(), shape.stripe_bytes(), Durability::durable);
      if (is_sound()) is_done = run.rebuild_step();
    }
    if (!is_sound()) break;
    EXPECT_EQ(run.array().status().now.may_fail, shape.parity);
    spare = left;
    run.write(block(), 4096, Durability::durable);
    if (is_sound()) run.checkpoint();
  }
  if (!is_sound()) return;
  run.finish();
  const CrashRun::Counts& counts = run.counts();
  std::cout << counts.prefix_torn << " prefix-torn states of " << counts.epochs << " epochs, "
            << counts.random << " random ones; " << counts.crashed_twice
            << " crashed in recovery, too; " << counts.sets << " sets of disks lost\n";
  EXPECT_GE(counts.prefix_torn, 1'000U);
}

}  // namespace
}  // namespace calpe::tests
