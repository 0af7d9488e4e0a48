// SPDX-License-Identifier: Apache-2.0
// Random sets with random damage: reading gives the right bytes or an error, and repair restores
// everything or touches nothing. CALPE_NIGHTLY=1 tries 100,000 sets.
#include <cstdlib>
#include <gtest/gtest.h>

#include "store/repair/repair_set.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using conformance::Random;
using tests::Bytes;
using tests::MadeSet;
using tests::MemoryFiles;

struct Generations {
  MadeSet newer;
  MadeSet older;
};

Generations make_sets(Random& random) {
  tests::SetShape shape = {.data_shards = random.between<std::uint16_t>(1, 6),
                           .parity_shards = random.between<std::uint16_t>(1, 4),
                           .block_bytes = 64 * random.between<std::uint32_t>(1, 3),
                           .stripes = 1 + random.below(random.one_in(4) ? 1100 : 20),
                           .generation = 2,
                           .seed = random.below(1000)};
  tests::SetShape older = shape;
  older.generation = 1;
  older.seed += 1;
  return {MadeSet(shape), MadeSet(older)};
}

struct Counts {
  std::uint64_t damaged_shards = 0;
  std::uint64_t restored = 0;
  std::uint64_t refused = 0;
};

// One set with damage in 0 .. k + m of its shards.
void try_once(const Generations& sets, Random& random, Counts& counts) {
  const MadeSet& made = sets.newer;
  MemoryFiles files;
  made.put(files);
  std::vector<std::size_t> order(made.shard_count());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  random.shuffle(std::span(order));
  const std::size_t most = random.one_in(3) ? order.size() : made.shape().parity_shards;
  const std::size_t damaged = random.below(most + 1);
  std::string what = text(made.shape().data_shards, "+", made.shape().parity_shards, ", ",
                          made.shape().stripes, " stripes;");
  for (std::size_t i = 0; i < damaged; ++i) {
    const auto kind = static_cast<tests::Damage>(random.below(tests::damage_kinds));
    what += text(" ", order[i], ":", static_cast<unsigned>(kind));
    tests::damage(files, made, sets.older, order[i], kind, random);
  }
  SCOPED_TRACE(what);
  counts.damaged_shards += damaged;

  const bool must_work = damaged <= made.shape().parity_shards;
  const auto before = files.images();
  const unsigned jobs = random.one_in(10) ? 2 : 1;
  const auto read = tests::read_content(files, 1 + random.below(100000), jobs);
  const auto set = tests::find_one(files);
  const bool is_older = set && set->header.generation == 1;
  const Bytes content = (is_older ? sets.older : made).content();
  if (must_work) {
    ASSERT_FALSE(is_older);
    ASSERT_TRUE(read.has_value()) << read.error().message;
  }
  if (read) {
    ASSERT_TRUE(*read == content) << "wrong bytes";
  }
  read ? ++counts.restored : ++counts.refused;
  if (!set) return;

  const auto repaired = repair_set(files, *set, {.jobs = jobs});
  if (!repaired) {
    ASSERT_FALSE(read.has_value());
    ASSERT_EQ(repaired.error().code, ErrorCode::unrecoverable) << repaired.error().message;
    ASSERT_EQ(files.images(), before);
    return;
  }
  ASSERT_TRUE(read.has_value());
  const auto after = tests::find_one(files);
  const auto verified = verify_set(files, *after, true);
  ASSERT_TRUE(verified.has_value());
  ASSERT_TRUE(verified->is_good());
  for (std::size_t i = 0; i < made.shard_count(); ++i) {
    ASSERT_TRUE(files.at(verified->shards[i].path) == (is_older ? sets.older : made).images()[i]);
  }
}

TEST(RandomDamage, RightBytesOrAnError) {
  const std::uint64_t least = std::getenv("CALPE_NIGHTLY") != nullptr ? 100'000 : 5'000;
  Random random = Random::of_test("RandomDamage");
  Counts counts;
  while (counts.damaged_shards < least) {
    const Generations sets = make_sets(random);
    for (int i = 0; i < 50; ++i) {
      try_once(sets, random, counts);
      ASSERT_FALSE(HasFatalFailure()) << conformance::repeat_with();
    }
  }
  std::cout << counts.damaged_shards << " damaged shards: " << counts.restored
            << " contents restored, " << counts.refused << " refused, 0 wrong; "
            << conformance::repeat_with() << "\n";
  EXPECT_GT(counts.restored, counts.refused);
  EXPECT_GT(counts.refused, 0U);
}

}  // namespace
}  // namespace calpe::store
