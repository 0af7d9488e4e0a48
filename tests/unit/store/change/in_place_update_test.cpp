// SPDX-License-Identifier: Apache-2.0
// An update of kept originals reads only changed files and writes only the parity of their stripes.
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

#include "support/kept_tree.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::KeptTree;
using tests::pattern;

class InPlaceUpdate : public testing::Test {
 protected:
  UpdatedOriginals update(const UpdateOriginalsOptions& options = {}) {
    const auto updated = trial_.update(options);
    EXPECT_TRUE(updated) << updated.error().message;
    return updated ? *updated : UpdatedOriginals{};
  }
  std::string refusal(const UpdateOriginalsOptions& options = {}) {
    const auto before = trial_.files.images();
    const auto updated = trial_.update(options);
    EXPECT_FALSE(updated);
    EXPECT_EQ(trial_.files.images(), before) << "a refused update changed parity";
    if (updated) return "";
    EXPECT_EQ(updated.error().code, ErrorCode::corrupt);
    return updated.error().message;
  }
  // Removes a file and repairs it from the parity.
  void expect_restorable(const std::string& name) {
    EXPECT_EQ(trial_.verify(), "") << name;
    const std::string bytes = tests::read_bytes(trial_.file(name));
    fs::remove(trial_.file(name));
    EXPECT_EQ(trial_.repair(), "") << name;
    EXPECT_TRUE(tests::read_bytes(trial_.file(name)) == bytes) << name;
    tests::set_time(trial_.tree, 1000, 7);
  }

  KeptTree trial_;
};

TEST_F(InPlaceUpdate, ReadsTheChangedFileAndItsStripes) {
  trial_.put("a", pattern(6400, 1));
  trial_.put("b", pattern(64, 2));
  trial_.put("c", pattern(640, 3));
  const ShardHeader before = trial_.protect();
  EXPECT_EQ(before.stripe_count, 28U);
  trial_.flip("b", 60, 2000);
  const UpdatedOriginals updated = update();
  EXPECT_EQ(updated.changed, std::vector<std::string>{"b"});
  EXPECT_EQ(updated.stripes_encoded, 1U);
  EXPECT_EQ(updated.file_bytes_read, 64U + 4 * 64U);
  EXPECT_FALSE(updated.is_all_encoded);
  EXPECT_EQ(updated.paths.size(), 2U);
  EXPECT_EQ(updated.header.uuid, before.uuid);
  EXPECT_GT(updated.header.generation, before.generation);
  expect_restorable("b");
  EXPECT_TRUE(update().paths.empty()) << "nothing changed";
}

TEST_F(InPlaceUpdate, ATimeOrModeAloneChangesOnlyTheList) {
  trial_.put("a", pattern(1000, 1));
  trial_.put("b", pattern(1000, 2));
  trial_.protect();
  trial_.put("a", pattern(1000, 1), 2000);
  fs::permissions(trial_.file("b"), fs::perms::owner_read);
  EXPECT_EQ(update({.dry_run = true}).changed, std::vector<std::string>{"a"}) << "not read yet";
  const UpdatedOriginals updated = update();
  EXPECT_TRUE(updated.changed.empty());
  EXPECT_EQ(updated.metadata, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(updated.stripes_encoded, 0U);
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(InPlaceUpdate, DamageThatIsNotReadStaysRepairable) {
  const std::string good = pattern(6400, 1);
  trial_.put("a", good);
  trial_.put("b", pattern(64, 2));
  trial_.protect();
  trial_.flip("a", 100, 1000);  // in the second stripe
  trial_.flip("b", 10, 2000);   // in another one
  EXPECT_EQ(update().changed, std::vector<std::string>{"b"});
  EXPECT_EQ(trial_.verify(), "a: damaged; ");
  EXPECT_EQ(trial_.repair(), "");
  EXPECT_TRUE(tests::read_bytes(trial_.file("a")) == good);
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(InPlaceUpdate, DamageInAChangedStripeIsRefused) {
  for (const bool checksum : {false, true}) {
    trial_.put("a", pattern(6400, 1));
    trial_.put("b", pattern(6400, 2));
    trial_.protect();
    trial_.flip("b", 6399, 2000);
    // The last block of the content is in the last stripe of the last part.
    for (const std::size_t at : {49U * 64, 49U * 64 + 63}) {
      trial_.flip("a", at, 1000);
      EXPECT_NE(refusal({.checksum = checksum}).find("tree/a is damaged"), std::string::npos) << at;
      trial_.flip("a", at, 1000);
    }
    update({.checksum = checksum});
    expect_restorable("b");
    for (const auto& [path, bytes] : trial_.files.images())
      EXPECT_TRUE(trial_.files.remove(path));
  }
}

TEST_F(InPlaceUpdate, AnotherSizeWithTheSameTimeIsDamage) {
  trial_.put("a", pattern(6400, 1));
  trial_.put("b", pattern(6400, 2));
  trial_.protect();
  trial_.put("a", pattern(6399, 1));
  trial_.flip("b", 5, 2000);
  EXPECT_NE(refusal().find("tree/a is damaged: it has another size"), std::string::npos);
  trial_.put("a", pattern(6400, 1));
  EXPECT_FALSE(update().is_all_encoded);
}

// Only the checksum of the whole block exists, and it no longer matches.
TEST_F(InPlaceUpdate, DamageNextToAChangeInTheSameBlockIsRefused) {
  trial_.put("a", pattern(1000, 1));
  trial_.put("b", pattern(10, 2));
  trial_.put("c", pattern(1000, 3));
  trial_.protect();
  trial_.flip("b", 5, 2000);
  for (const auto& [name, at] : {std::pair("a", 999U), std::pair("c", 0U)}) {
    trial_.flip(name, at, 1000);
    EXPECT_NE(refusal().find(text("tree/", name, " is damaged")), std::string::npos);
    trial_.flip(name, at, 1000);
  }
  EXPECT_EQ(update().stripes_encoded, 1U);
  expect_restorable("b");
}

TEST_F(InPlaceUpdate, RemovedRenamedAndCutFilesKeepTheirStripes) {
  for (const char* name : {"a", "b", "c", "d"})
    trial_.put(name, pattern(3000, static_cast<unsigned>(*name)));
  trial_.protect();
  fs::remove(trial_.file("b"));
  fs::rename(trial_.file("c"), trial_.file("moved"));
  trial_.put("d", pattern(2000, 'd'), 2000);
  tests::set_time(trial_.tree, 1000, 7);
  UpdatedOriginals updated = update();
  EXPECT_FALSE(updated.is_all_encoded);
  EXPECT_EQ(updated.removed, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(updated.added, std::vector<std::string>{"moved"});
  EXPECT_EQ(updated.changed, std::vector<std::string>{"d"});
  // The renamed and cut files and two neighbours, then all stripes, because b had a part of each.
  // Too little of one stripe is left to rebuild it, so a is compared with its digest.
  EXPECT_EQ(updated.file_bytes_read, 3000U + 2000 + 56 + 56 + 3000 + 3000 + 2000 + 3000);
  expect_restorable("moved");
  // The gap that b has left takes a new file.
  trial_.put("new", pattern(2500, 9), 2000);
  trial_.put("a", pattern(3000, 'a') + "more", 2000);
  updated = update();
  EXPECT_FALSE(updated.is_all_encoded);
  expect_restorable("new");
  expect_restorable("a");
}

TEST_F(InPlaceUpdate, MoreStripesOrMuchUnusedSpaceEncodeEverything) {
  trial_.put("a", pattern(3000, 1));
  trial_.put("b", pattern(3000, 2));
  const ShardHeader before = trial_.protect();
  trial_.put("c", pattern(300, 3));
  UpdatedOriginals updated = update();
  EXPECT_TRUE(updated.is_all_encoded);
  EXPECT_GT(updated.header.stripe_count, before.stripe_count);
  expect_restorable("c");
  fs::remove(trial_.file("a"));
  EXPECT_FALSE(update().is_all_encoded);
  fs::remove(trial_.file("b"));
  updated = update({.removed_percent_max = 100});
  EXPECT_TRUE(updated.is_all_encoded);
  EXPECT_EQ(updated.header.content_bytes, 300U);
  EXPECT_EQ(updated.header.block_bytes, before.block_bytes);
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(InPlaceUpdate, MissingAndDamagedParityIsMadeAgain) {
  trial_.put("a", pattern(3000, 1));
  trial_.protect();
  std::int64_t seconds = 2000;
  const auto expect_rebuilt = [&](const std::string& what, const auto& damage) {
    tests::Bytes bytes = trial_.files.at(trial_.parity_path(5));
    EXPECT_TRUE(trial_.files.remove(trial_.parity_path(5)));
    damage(bytes);
    if (!bytes.empty()) trial_.files.put(trial_.parity_path(5), bytes);
    trial_.flip("a", 100, seconds++);
    EXPECT_TRUE(update().is_all_encoded) << what;
    EXPECT_EQ(trial_.verify(), "") << what;
  };
  expect_rebuilt("missing", [](tests::Bytes& bytes) { bytes.clear(); });
  const std::size_t blocks = 12 * 64;
  for (const std::size_t at : {std::size_t{0}, 4096 + blocks, 4096 + blocks + 5 * 4096 + 8,
                               4096 + blocks + 6 * 4096 + 30}) {
    expect_rebuilt(text("byte ", at), [&](tests::Bytes& bytes) { bytes[at] ^= std::byte{1}; });
  }
  // A damaged parity block is not read. It stays as it is, or is written again.
  trial_.files.at(trial_.parity_path(5))[4096] ^= std::byte{1};
  trial_.flip("a", 100, seconds++);
  EXPECT_FALSE(update().is_all_encoded);
  EXPECT_EQ(trial_.verify(), "parity 5; ");
  trial_.flip("a", 10, seconds++);
  EXPECT_FALSE(update().is_all_encoded);
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(InPlaceUpdate, ChecksumReadsEverythingFirst) {
  trial_.put("a", pattern(3000, 1));
  trial_.put("b", pattern(3000, 2));
  trial_.protect();
  trial_.flip("b", 5, 1000);
  EXPECT_TRUE(update().paths.empty());
  EXPECT_NE(refusal({.checksum = true}).find("tree/b is damaged"), std::string::npos);
  trial_.flip("b", 5, 1000);
  trial_.files.at(trial_.parity_path(4))[4096] ^= std::byte{1};
  EXPECT_TRUE(update({.checksum = true}).is_all_encoded);
  EXPECT_EQ(trial_.verify(), "");
  trial_.flip("b", 5, 2000);
  EXPECT_FALSE(update({.checksum = true}).is_all_encoded);
  expect_restorable("b");
}

TEST_F(InPlaceUpdate, RemovingMostOfTheFilesIsRefused) {
  trial_.put("a", pattern(3000, 1));
  for (const char* name : {"b", "c", "d"})
    trial_.put(name, "1234567890");
  trial_.protect();
  for (const char* name : {"b", "c", "d"})
    fs::remove(trial_.file(name));
  EXPECT_EQ(update({.dry_run = true}).removed_percent, 75U);
  const auto expect_refused = [&](const UpdateOriginalsOptions& options) {
    const auto before = trial_.files.images();
    const auto refused = trial_.update(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(trial_.files.images(), before);
  };
  expect_refused({});
  expect_refused({.checksum = true});
  trial_.files.at(trial_.parity_path(4))[0] ^= std::byte{1};  // everything would be encoded
  expect_refused({});
  EXPECT_TRUE(update({.removed_percent_max = 75}).is_all_encoded);
  EXPECT_EQ(trial_.verify(), "");
}

TEST_F(InPlaceUpdate, HolesMayMove) {
  tests::write_sparse(trial_.file("sparse"), tests::mib, {{0, 10000}, {tests::mib / 2, 10000}});
  tests::set_time(trial_.file("sparse"), 1000, 7);
  trial_.put("a", pattern(60'000, 1));
  trial_.protect();
  tests::write_sparse(trial_.file("sparse"), tests::mib, {{0, 5000}, {tests::mib / 4, 5000}});
  tests::set_time(trial_.file("sparse"), 2000, 7);
  EXPECT_EQ(update().changed, std::vector<std::string>{"sparse"});
  expect_restorable("sparse");
}

// Many random edits, with several groups of stripes. What an update writes is what a new set has.
TEST_F(InPlaceUpdate, RandomEdits) {
  std::mt19937 chance(29);
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(chance);
  };
  std::int64_t seconds = 1000;  // no two files have the same time
  for (int i = 0; i < 12; ++i)
    trial_.put(std::to_string(i), pattern(1 + below(30'000), static_cast<unsigned>(i)), ++seconds);
  trial_.protect();
  std::size_t in_place = 0;
  for (int round = 0; round < 60; ++round) {
    ++seconds;
    for (std::size_t edits = 1 + below(3); edits > 0; --edits, ++seconds) {
      const std::string name = std::to_string(below(13));
      const bool is_there = fs::exists(trial_.file(name));
      const auto size = is_there ? static_cast<std::size_t>(fs::file_size(trial_.file(name))) : 0;
      switch (is_there ? below(5) : 0) {
        case 0:
          trial_.put(name, pattern(1 + below(20'000), static_cast<unsigned>(round)), seconds);
          break;
        case 1:
          fs::remove(trial_.file(name));
          break;
        case 2:
          fs::rename(trial_.file(name), trial_.file(std::to_string(below(13))));
          break;
        default:
          trial_.flip(name, below(size), seconds);
          break;
      }
    }
    const UpdatedOriginals updated = update({.jobs = 2, .removed_percent_max = 100});
    in_place += !updated.paths.empty() && !updated.is_all_encoded ? 1 : 0;
    ASSERT_EQ(trial_.verify(), "") << round;
    for (const auto& [name, bytes] : trial_.read_all())
      ASSERT_TRUE(bytes == tests::read_bytes(trial_.file(name))) << round << " " << name;
  }
  EXPECT_GT(in_place, 20U);
}

}  // namespace
}  // namespace calpe::store
