// SPDX-License-Identifier: Apache-2.0
// Forgeries in a set with roots are detected and not used, even if the checksums match.
#include "store/read/root_check.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "files/bounded_files.hpp"
#include "store/read/set_roots.hpp"
#include "store/read/verify_set.hpp"
#include "support/rooted_set.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::RootedSet;
using tests::sample_key;

VerifyReport must_verify(RootedSet& set) {
  const auto found = tests::find_one(set.files());
  auto report = verify_set(set.files(), *found);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return *std::move(report);
}

std::vector<std::size_t> wrong_shards(const VerifyReport& report) {
  std::vector<std::size_t> wrong;
  for (const ShardState& shard : report.shards) {
    if (shard.root == RootState::wrong) wrong.push_back(shard.index);
    EXPECT_EQ(shard.root == RootState::wrong, shard.problem == "it does not match its root");
  }
  return wrong;
}

// As restore does it with the key.
Result<tests::Bytes> read_proven(RootedSet& set, const RootDemand& demand) {
  auto findings = find_sets(set.files(), {"disk"});
  CALPE_CHECK(keep_demanded(*findings, demand));
  CALPE_TRY(const FoundSet chosen, choose_set(*findings));
  CALPE_TRY(const FoundSet proven, distrust_unproven(set.files(), chosen));
  CALPE_TRY(SetReader reader, SetReader::open(set.files(), proven));
  tests::Bytes bytes(reader.header().content_bytes);
  CALPE_CHECK(reader.read(bytes, 0));
  return bytes;
}

void expect_proven(RootedSet& set) {
  const auto read = read_proven(set, {.key = sample_key()});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(*read == set.content());
}

void expect_refused(RootedSet& set, const RootDemand& demand, const std::string& words) {
  const auto read = read_proven(set, demand);
  ASSERT_FALSE(read.has_value()) << words;
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
}

TEST(RootCheck, AWholeSetIsGood) {
  for (const RootKind kind : {RootKind::sha256, RootKind::hmac}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{3000}, std::size_t{110'000}}) {
      RootedSet set({.data_bytes = bytes, .root_kind = kind});
      const VerifyReport report = must_verify(set);
      EXPECT_TRUE(report.is_good());
      for (const ShardState& shard : report.shards) {
        EXPECT_EQ(shard.root, RootState::good);
      }
      EXPECT_EQ(report.header.set_root, set.header().set_root);
      EXPECT_NE(report.header.set_root, Digest{});
      EXPECT_EQ(report.header.hmac != Digest{}, kind == RootKind::hmac);
    }
  }
}

TEST(RootCheck, WithoutRootsNothingIsComputed) {
  RootedSet set({.root_kind = RootKind::none});
  const VerifyReport report = must_verify(set);
  EXPECT_TRUE(report.is_good());
  EXPECT_EQ(report.shards[0].root, RootState::none);
  EXPECT_EQ(set.header().set_root, Digest{});
}

TEST(RootCheck, ThreadsAndASecondPassGiveTheSameRoots) {
  const tests::RootedShape shape = {.data_bytes = 3 * 64 * 1500};
  RootedSet set(shape);
  for (const unsigned jobs : {2U, 4U}) {
    tests::BoundedFiles files;
    tests::MemoryContent content(tests::rooted_data(shape));
    tests::RootedShape other = shape;
    other.jobs = jobs;
    const auto made = protect(files, content, tests::rooted_options(other));
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->header, set.header());
    const auto opened = OpenSet::open(files, *tests::find_one(files));
    const auto roots = compute_roots(*opened, sample_key(), jobs);
    ASSERT_TRUE(roots.has_value()) << roots.error().message;
    EXPECT_EQ(roots->set, set.header().set_root);
    EXPECT_EQ(roots->hmac, set.header().hmac);
    for (std::size_t i = 0; i < set.shard_count(); ++i) {
      const ShardHeader own = set.header_of(i);
      EXPECT_EQ(header_with_roots(set.header(), *roots, own.shard_index), own);
    }
  }
}

TEST(RootCheck, ComputingRootsNeedsEveryBlock) {
  RootedSet set;
  set.damage_block(2, 3);
  const auto opened = OpenSet::open(set.files(), *tests::find_one(set.files()));
  const auto roots = compute_roots(*opened, sample_key());
  ASSERT_FALSE(roots.has_value());
  EXPECT_EQ(roots.error().message, "shard 2 has no good block in stripe 3");
  EXPECT_EQ(compute_roots(*opened, {}).error().code, ErrorCode::invalid_argument);
}

TEST(RootCheck, FindsAForgedBlockAnywhere) {
  const std::uint64_t stripes = RootedSet().header().stripe_count;
  for (std::size_t shard = 0; shard < 5; ++shard) {
    for (const std::uint64_t stripe : {std::uint64_t{0}, std::uint64_t{7}, stripes - 1}) {
      RootedSet set;
      set.forge_block(shard, stripe);
      const VerifyReport report = must_verify(set);
      EXPECT_EQ(wrong_shards(report), std::vector<std::size_t>{shard});
      EXPECT_TRUE(report.is_repairable());
      EXPECT_FALSE(report.is_good());
      EXPECT_EQ(report.bad_stripes, stripes);
      expect_proven(set);
    }
  }
}

TEST(RootCheck, MoreForgedShardsThanParityAreNotUsed) {
  RootedSet set;
  for (const std::size_t shard : {0U, 2U, 4U}) {
    set.forge_block(shard, 1);
  }
  const VerifyReport report = must_verify(set);
  EXPECT_EQ(wrong_shards(report), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_FALSE(report.is_repairable());
  EXPECT_EQ(read_proven(set, {.key = sample_key()}).error().code, ErrorCode::unrecoverable);
}

TEST(RootCheck, ForgedRootsInOneHeader) {
  const std::vector<void (*)(ShardHeader&)> changes = {
      [](ShardHeader& h) { h.shard_root[31] ^= std::byte{1}; },
      [](ShardHeader& h) { h.root_path[0][0] ^= std::byte{1}; },
      [](ShardHeader& h) { h.root_path[2][9] ^= std::byte{1}; },
      [](ShardHeader& h) { h.shard_index = 2; }};
  for (const auto& change : changes) {
    RootedSet set;
    set.forge_header(1, change);
    const VerifyReport report = must_verify(set);
    EXPECT_FALSE(report.is_good());
    EXPECT_TRUE(report.is_repairable());
    expect_proven(set);
  }
}

// Each change makes the shard part of another set, so it is missing from its own.
TEST(RootCheck, OneHeaderWithOtherFields) {
  const std::vector<void (*)(ShardHeader&)> changes = {
      [](ShardHeader& h) { h.set_root[0] ^= std::byte{1}; },
      [](ShardHeader& h) { h.hmac[0] ^= std::byte{1}; }, [](ShardHeader& h) { h.name = "evil"; },
      [](ShardHeader& h) { ++h.generation; }};
  for (const auto& change : changes) {
    RootedSet set;
    set.forge_header(4, change);
    expect_proven(set);
  }
}

TEST(RootCheck, HeadersChangedConsistently) {
  const std::vector<void (*)(ShardHeader&)> changes = {
      [](ShardHeader& h) { h.name = "evil"; },
      [](ShardHeader& h) { --h.content_bytes, --h.manifest_offset; },
      [](ShardHeader& h) { --h.manifest_bytes, ++h.manifest_offset; }};
  for (const auto& change : changes) {
    RootedSet set;
    set.forge_headers(change);
    EXPECT_EQ(wrong_shards(must_verify(set)).size(), 5U);
    expect_refused(set, {.key = sample_key()}, "no shard matches its root");
  }
}

TEST(RootCheck, RemovedRoots) {
  RootedSet set;
  set.forge_headers([](ShardHeader& h) {
    h.root_kind = RootKind::none;
    h.shard_root = h.set_root = h.hmac = {};
    h.root_path = {};
  });
  EXPECT_TRUE(must_verify(set).is_good());
  expect_refused(set, {.key = sample_key()}, "it has no root");
  expect_refused(set, {.expected = set.header().set_root}, "it has no root");
  expect_refused(set, {.has_roots = true}, "it has no root");
}

TEST(RootCheck, ARemovedHmac) {
  RootedSet set;
  set.forge_headers([](ShardHeader& h) {
    h.root_kind = RootKind::sha256;
    h.hmac = {};
  });
  expect_refused(set, {.key = sample_key()}, "no HMAC");
  // The root covers the kind.
  expect_refused(set, {.has_roots = true}, "no shard matches its root");
}

TEST(RootCheck, OtherKeysAndRoots) {
  RootedSet set;
  std::vector<std::byte> other = sample_key();
  other.pop_back();  // the newline counts
  expect_refused(set, {.key = other}, "was not made with this key");
  Digest root = set.header().set_root;
  const auto read = read_proven(set, {.key = sample_key(), .expected = root, .has_roots = true});
  EXPECT_TRUE(read.has_value());
  root[0] ^= std::byte{1};
  expect_refused(set, {.expected = root}, "its root is " + to_text(set.header().set_root));
  set.forge_headers([](ShardHeader& h) { h.hmac[9] ^= std::byte{1}; });
  expect_refused(set, {.key = sample_key()}, "was not made with this key");
}

// Recreated without the key under the same uuid: everything matches except the HMAC.
TEST(RootCheck, ACompleteForeignSet) {
  RootedSet mine;
  RootedSet theirs({.seed = 2});
  const Digest hmac = mine.header().hmac;
  theirs.forge_headers([&](ShardHeader& h) { h.hmac = hmac; });
  expect_refused(theirs, {.key = sample_key()}, "was not made with this key");
  expect_refused(theirs, {.expected = mine.header().set_root}, "its root is");
  // It is not used instead of mine, although it was found first.
  for (std::size_t i = 0; i < 5; ++i) {
    mine.files().put("disk/a" + std::to_string(i), theirs.files().at(theirs.path(i)));
  }
  expect_proven(mine);
}

TEST(RootCheck, ShardsOfTwoSetsMixed) {
  RootedSet mine;
  const RootedSet theirs({.seed = 2});
  const ShardHeader header = mine.header();
  for (const std::size_t shard : {1U, 3U}) {
    mine.files().at(mine.path(shard)) = theirs.image(shard);
    mine.forge_header(shard, [&](ShardHeader& h) {
      h.set_root = header.set_root;
      h.hmac = header.hmac;
    });
  }
  EXPECT_EQ(wrong_shards(must_verify(mine)), (std::vector<std::size_t>{1, 3}));
  expect_proven(mine);
  // Also with the root claims of mine.
  const RootedSet whole;
  for (const std::size_t shard : {1U, 3U}) {
    const auto own = parse_header(std::span(whole.image(shard)).first(header_bytes));
    mine.forge_header(shard, [&](ShardHeader& h) { h = *own; });
  }
  EXPECT_EQ(wrong_shards(must_verify(mine)), (std::vector<std::size_t>{1, 3}));
  expect_proven(mine);
}

// In a damaged file, good blocks cannot be told from forged ones.
TEST(RootCheck, DamagedFilesAreNotProven) {
  RootedSet set;
  set.damage_block(0, 2);
  const VerifyReport report = must_verify(set);
  EXPECT_EQ(report.shards[0].root, RootState::unknown);
  EXPECT_EQ(report.bad_stripes, 1U);
  expect_proven(set);
  const auto proven = distrust_unproven(set.files(), *tests::find_one(set.files()));
  EXPECT_TRUE(proven->shards[0][0].is_distrusted);
  EXPECT_FALSE(proven->shards[1][0].is_distrusted);
}

TEST(RootCheck, AForgedCopyDoesNotHideTheOther) {
  RootedSet set;
  set.files().put("disk/a copy", set.image(1));
  set.forge_block(1, 4);
  const VerifyReport report = must_verify(set);
  EXPECT_FALSE(report.is_good());
  EXPECT_EQ(report.shards[1].root, RootState::wrong);
  EXPECT_EQ(report.lost_stripe_count, 0U);
  for (const std::size_t shard : {0U, 2U}) {
    ASSERT_TRUE(set.files().remove(set.path(shard)).has_value());
  }
  expect_proven(set);
}

}  // namespace
}  // namespace calpe::store
