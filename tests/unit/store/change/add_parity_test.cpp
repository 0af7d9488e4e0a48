// SPDX-License-Identifier: Apache-2.0
// A set that gains parity is byte for byte the set made with that parity.
#include "store/change/add_parity.hpp"

#include <bit>
#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "store/format/extended_spec.hpp"
#include "store/repair/repair_set.hpp"
#include "support/faulty_files.hpp"
#include "support/set_damage.hpp"

namespace calpe::store {
namespace {

using tests::Fault;
using tests::FaultyFiles;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::SetShape;

std::string folder(std::size_t shard) {
  return "disk" + std::to_string(shard);
}

std::vector<std::string> folders(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t shard = 0; shard < count; ++shard) {
    all.push_back(folder(shard));
  }
  return all;
}

void put(MemoryFiles& files, const MadeSet& set) {
  for (std::size_t shard = 0; shard < set.shard_count(); ++shard) {
    files.put(set.path(shard, folder(shard)), set.images()[shard]);
  }
}

SetShape with_parity(SetShape shape, unsigned parity) {
  shape.parity_shards = static_cast<std::uint16_t>(parity);
  return shape;
}

Result<AddParityReport> add(FileSystem& files, const MadeSet& set, unsigned parity,
                            unsigned jobs = 1) {
  const auto findings = find_sets(files, folders(set.shard_count()));
  if (!findings) return findings.error();
  const auto found = choose_set(*findings);
  if (!found) return found.error();
  AddParityOptions options = {.parity_shards = parity, .jobs = jobs};
  for (std::size_t shard = set.shard_count(); shard < set.shape().data_shards + parity; ++shard) {
    options.targets.push_back(folder(shard));
  }
  return add_parity(files, *found, options);
}

struct Step {
  CodeFamily family;
  std::uint16_t data, from, to, groups;
};

class AddParityTo : public testing::TestWithParam<Step> {};

TEST_P(AddParityTo, EqualsTheSetMadeWithThatParity) {
  const auto [family, data, from, to, groups] = GetParam();
  const SetShape shape = {.data_shards = data,
                          .parity_shards = from,
                          .stripes = 515,
                          .family = family,
                          .local_groups = groups};
  const MadeSet before(shape);
  MemoryFiles files;
  put(files, before);
  const auto report = add(files, before, to, 2);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  SetShape after = with_parity(shape, to);
  after.generation = report->after.generation;
  const MadeSet expected(after);
  ASSERT_EQ(files.images().size(), expected.shard_count());
  for (std::size_t shard = 0; shard < expected.shard_count(); ++shard) {
    EXPECT_EQ(files.at(expected.path(shard, folder(shard))), expected.images()[shard]) << shard;
  }
  // Lose as many shards as the code promises to survive: the first ones, which are data.
  const std::size_t lost = prove(report->after.spec)->losses;
  const auto all = folders(expected.shard_count());
  const auto found =
      choose_set(*find_sets(files, {all.begin() + static_cast<std::ptrdiff_t>(lost), all.end()}));
  auto reader = SetReader::open(files, *found);
  ASSERT_TRUE(reader.has_value());
  tests::Bytes content(found->header.content_bytes);
  ASSERT_TRUE(reader->read(content, 0).has_value());
  EXPECT_EQ(content, before.content());
}

INSTANTIATE_TEST_SUITE_P(
    Families, AddParityTo,
    testing::Values(Step{CodeFamily::hybrid, 3, 2, 5, 0}, Step{CodeFamily::hybrid, 10, 4, 6, 0},
                    Step{CodeFamily::cauchy, 4, 1, 3, 0}, Step{CodeFamily::vandermonde, 4, 2, 4, 0},
                    Step{CodeFamily::vandermonde_isal, 5, 2, 4, 0},
                    Step{CodeFamily::vandermonde_zfec, 4, 2, 3, 0},
                    Step{CodeFamily::vandermonde_lec, 4, 2, 3, 0},
                    Step{CodeFamily::raid6, 3, 1, 2, 0}, Step{CodeFamily::lch, 6, 5, 8, 0},
                    Step{CodeFamily::vandermonde_jerasure, 4, 1, 3, 0},
                    Step{CodeFamily::lrc, 6, 3, 4, 2}));

// The table of docs/codes.md.
bool is_stable(CodeFamily family, unsigned k, unsigned from, unsigned to, unsigned groups) {
  switch (family) {
    case CodeFamily::lch:
      return std::bit_ceil(from) == std::bit_ceil(to);
    case CodeFamily::vandermonde_jerasure:
      return from == 1 || k == 1;
    case CodeFamily::lrc:
      return from == groups || from - groups >= 3 || (from - groups == 1 && to - groups == 2);
    default:
      return true;
  }
}

TEST(ExtendedSpec, MatchesTheDocumentedFamilies) {
  std::size_t stable = 0;
  std::size_t unstable = 0;
  for (const Profile& profile : list_profiles()) {
    if (!profile.bytes_layout || profile.family == CodeFamily::default_code ||
        profile.family == CodeFamily::custom) {
      continue;
    }
    for (std::uint16_t k = 1; k <= 9; k += 2) {
      for (std::uint16_t from = 1; from <= 6; ++from) {
        for (std::uint16_t to = static_cast<std::uint16_t>(from + 1); to <= 9; ++to) {
          const std::uint16_t groups = profile.family == CodeFamily::lrc ? 2 : 0;
          const CodeSpec spec = {.family = profile.family,
                                 .data_shards = k,
                                 .parity_shards = from,
                                 .local_groups = groups};
          const auto codec = Codec::create(spec);
          if (!codec) continue;
          const auto extended = extended_spec(codec->spec(), to);
          if (!extended) continue;  // no such code: raid6 with 3 parities
          const bool expected = is_stable(profile.family, k, from, to, groups);
          EXPECT_EQ(extended->has_value(), expected)
              << profile.name << " " << k << "+" << from << " to " << to;
          ++(expected ? stable : unstable);
        }
      }
    }
  }
  EXPECT_GT(stable, 100U);
  EXPECT_GT(unstable, 50U);
}

TEST(ExtendedSpec, RequiresMoreParity) {
  const CodeSpec spec = Codec::create({.data_shards = 4, .parity_shards = 2})->spec();
  EXPECT_FALSE(extended_spec(spec, 2).has_value());
  EXPECT_FALSE(extended_spec(spec, 1).has_value());
  EXPECT_FALSE(extended_spec(spec, 253).has_value());
  EXPECT_TRUE(extended_spec(spec, 252).has_value());
}

void expect_refused(MemoryFiles& files, const MadeSet& set, unsigned parity,
                    const std::string& word) {
  const auto before = files.images();
  const auto report = add(files, set, parity);
  ASSERT_FALSE(report.has_value()) << word;
  const bool is_damage = word.ends_with("run calpe repair first");
  EXPECT_EQ(report.error().code, is_damage ? ErrorCode::corrupt : ErrorCode::invalid_argument);
  EXPECT_NE(report.error().message.find(word), std::string::npos) << report.error().message;
  EXPECT_EQ(files.images(), before);
}

TEST(AddParity, RefusesADamagedSet) {
  const MadeSet set({.stripes = 20});
  MemoryFiles files;
  put(files, set);
  files.at(set.path(1, folder(1)))[set.block_at(7)] ^= std::byte{1};
  expect_refused(files, set, 3, "is damaged in stripe 7; run calpe repair first");
  ASSERT_TRUE(files.remove(set.path(4, folder(4))).has_value());
  expect_refused(files, set, 3, "shard 4 is missing; run calpe repair first");
}

TEST(AddParity, RefusesWhenOldParityWouldChange) {
  const MadeSet set({.family = CodeFamily::lch});
  MemoryFiles files;
  put(files, set);
  expect_refused(files, set, 3, "would change with 3 parity shards");
}

// The content is the same before and after. It must stay readable with as many lost directories as
// the code had parity, and repair must complete the change.
TEST(AddParity, KilledAtEveryCall) {
  const MadeSet set({.stripes = 9});
  std::uint64_t calls = 0;
  {
    MemoryFiles files;
    put(files, set);
    FaultyFiles counting(files);
    ASSERT_TRUE(add(counting, set, 4).has_value());
    calls = counting.calls();
  }
  const auto all = folders(7);
  std::size_t more = 0;
  for (std::uint64_t call = 0; call < calls; ++call) {
    SCOPED_TRACE("killed at call " + std::to_string(call) + " of " + std::to_string(calls));
    MemoryFiles files;
    put(files, set);
    for (const std::string& path : all) {
      ASSERT_TRUE(files.make_folders(path).has_value());
    }
    FaultyFiles faulty(files);
    faulty.fail_call(call, Fault::crash);
    EXPECT_FALSE(add(faulty, set, 4).has_value());
    const auto expect_readable = [&](const std::vector<std::string>& places) {
      const auto found = choose_set(*find_sets(files, places));
      ASSERT_TRUE(found.has_value()) << found.error().message;
      auto reader = SetReader::open(files, *found);
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      tests::Bytes content(found->header.content_bytes);
      const Status read = reader->read(content, 0);
      ASSERT_TRUE(read.has_value()) << read.error().message;
      ASSERT_EQ(content, set.content());
    };
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = a; b < all.size(); ++b) {
        std::vector<std::string> left = all;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(b));
        if (a != b) left.erase(left.begin() + static_cast<std::ptrdiff_t>(a));
        expect_readable(left);
      }
    }
    ASSERT_TRUE(settle(files, all).has_value());
    const auto settled = choose_set(*find_sets(files, all));
    ASSERT_TRUE(settled.has_value());
    ASSERT_TRUE(repair_set(files, *settled).has_value());
    expect_readable(all);
    const auto report = verify_set(files, *choose_set(*find_sets(files, all)), true);
    EXPECT_TRUE(report->is_good());
    const unsigned parity = report->header.spec.parity_shards;
    EXPECT_TRUE(parity == 2 || parity == 4) << parity;
    more += parity == 4 ? 1U : 0U;
    EXPECT_FALSE(more > 0 && parity == 2) << "a committed change was rolled back";
  }
  EXPECT_GT(more, 0U);
  EXPECT_LT(more, calls);
}

}  // namespace
}  // namespace calpe::store
