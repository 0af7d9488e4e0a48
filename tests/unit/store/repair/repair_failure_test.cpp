// SPDX-License-Identifier: Apache-2.0
// A repair that fails or is killed leaves a set that can still be repaired, and no lasting
// leftovers.
#include <gtest/gtest.h>

#include "store/repair/repair_set.hpp"
#include "support/faulty_files.hpp"
#include "support/repaired_set.hpp"

namespace calpe::store {
namespace {

using conformance::Random;
using tests::Damage;
using tests::expect_whole;
using tests::Fault;
using tests::FaultyFiles;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::repair;

// Damage that requires each step of a repair: headers, sizes, blocks, new files.
struct Wound {
  const char* name;
  std::vector<std::pair<std::size_t, Damage>> damages;
};

const std::vector<Wound>& wounds() {
  static const std::vector<Wound> all = {
      {"lost and bit", {{0, Damage::lost}, {1, Damage::block_bit}}},
      {"headers", {{2, Damage::front_bit}, {4, Damage::back_bit}}},
      {"sizes", {{0, Damage::truncated}, {3, Damage::appended}}},
      {"moved along", {{1, Damage::shifted}, {2, Damage::narrowed}}},
      {"stale", {{1, Damage::half_stale}, {4, Damage::stale}}},
      // More than m shards: the content of a file must stay usable until it is replaced.
      {"all moved along",
       {{0, Damage::shifted},
        {1, Damage::shifted},
        {2, Damage::shifted},
        {3, Damage::shifted},
        {4, Damage::beheaded}}},
      {"all front headers",
       {{0, Damage::front_bit},
        {1, Damage::front_bit},
        {2, Damage::front_bit},
        {3, Damage::front_bit},
        {4, Damage::front_bit}}},
  };
  return all;
}

// Blocks that were good stay good after a failed call, or after the crash that follows it.
TEST(RepairFailure, EveryCallMayFail) {
  const MadeSet made({.generation = 2});
  const MadeSet older({.generation = 1, .seed = 9});
  for (const Wound& wound : wounds()) {
    for (const Fault fault :
         {Fault::input_output, Fault::no_space, Fault::short_read, Fault::crash}) {
      for (std::uint64_t call = 0;; ++call) {
        SCOPED_TRACE(text(wound.name, ", fault ", static_cast<int>(fault), " at call ", call));
        MemoryFiles memory;
        made.put(memory);
        Random random(4);
        for (const auto& [shard, kind] : wound.damages) {
          tests::damage(memory, made, older, shard, kind, random);
        }
        FaultyFiles files(memory);
        const auto set = tests::find_one(files);
        ASSERT_TRUE(set.has_value());
        files.fail_call(call, fault);
        const auto failed = repair_set(files, *set);
        if (!failed) {
          const bool is_lost =
              failed.error().code == ErrorCode::unrecoverable;  // because of failed reads
          EXPECT_TRUE(is_lost || failed.error().code == ErrorCode::io) << failed.error().message;
          EXPECT_NE(failed.error().message.find("disk"), std::string::npos)
              << failed.error().message;
        }
        ASSERT_TRUE(failed.has_value() || files.has_failed());
        const auto read = tests::read_content(memory);
        ASSERT_TRUE(read.has_value()) << read.error().message;
        ASSERT_TRUE(*read == made.content());
        const auto again = repair(memory);
        ASSERT_TRUE(again.has_value()) << again.error().message;
        const auto verified = verify_set(memory, *tests::find_one(memory), true);
        ASSERT_TRUE(verified.has_value() && verified->is_good());
        expect_whole(memory, made);
        ASSERT_FALSE(HasFailure());
        if (!files.has_failed()) break;
      }
    }
  }
}

}  // namespace
}  // namespace calpe::store
