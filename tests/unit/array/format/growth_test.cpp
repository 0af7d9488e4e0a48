// SPDX-License-Identifier: Apache-2.0
// Sizes and superblocks of arrays that grew, features that a version does not know, and history
// that older versions ignore. The numbers are those of docs/array-format.md.
#include <algorithm>
#include <gtest/gtest.h>

#include "array/format/superblock.hpp"
#include "array/state/codec_cache.hpp"
#include "array/state/member_probe.hpp"
#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"
#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr Shape small_shape = {.rotated = 6, .members_max = 10};

Settings small() {
  Settings settings;
  settings.spec.data_shards = 4;
  settings.spec.parity_shards = 2;
  settings.chunk_bytes = 8192;
  settings.bytes = std::uint64_t{12} * 4 * 8192;
  settings.log_bytes = 65536;
  settings.spare_slots = 3;
  return settings;
}

constexpr std::uint64_t small_bytes = 229376;
constexpr std::uint64_t larger_bytes = 2670592;

Superblock superblock_of(const Settings& settings, const Shape& shape) {
  Superblock superblock;
  superblock.epoch = 12;
  superblock.previous = 10;
  superblock.settings = settings;
  superblock.settings.spec = codec_for(settings.spec)->spec();
  superblock.shape = shape;
  superblock.roles.resize(6);
  for (std::size_t role = 0; role < 6; ++role)
    superblock.roles[role].uuid[3] = static_cast<std::byte>(role);
  return superblock;
}

void seal(SuperblockBytes& bytes) {
  store_little(bytes.data() + 4088, store::plain_checksum(std::span(bytes).first(4088)));
}

template <class T>
SuperblockBytes with(SuperblockBytes bytes, std::size_t at, T value) {
  store_little(bytes.data() + at, value);
  seal(bytes);
  return bytes;
}

std::string refusal(const SuperblockBytes& bytes) {
  const auto parsed = parse_superblock(bytes);
  return parsed ? "" : parsed.error().message;
}

TEST(ArrayGrowth, LayoutMatchesTheDocument) {
  const auto to = grown(small(), small_shape, larger_bytes, 0);
  ASSERT_TRUE(to) << to.error().message;
  EXPECT_EQ(to->settings.bytes, std::uint64_t{300} * 4 * 8192);
  EXPECT_EQ(to->settings.spare_slots, 9U);
  const MemberLayout layout = layout_of(to->settings, to->shape);
  EXPECT_EQ(layout.stripes, 300U);
  EXPECT_EQ(layout.slots, 309U);
  EXPECT_EQ(layout.table_pages, 2U);
  EXPECT_EQ(layout.index_pages, 3U);
  EXPECT_EQ(layout.index_at, small_bytes);
  EXPECT_EQ(layout.member_bytes, larger_bytes);
  EXPECT_EQ(layout.page_at(0, 1), 98304U + 4096U);
  EXPECT_EQ(layout.page_at(1, 0), 253952U);
  EXPECT_EQ(layout.block_at(14, 1), 106496U + 14 * 8192 + 4096);
  EXPECT_EQ(layout.block_at(15, 0), 262144U);
  EXPECT_EQ(layout.block_at(308, 1), larger_bytes - 4096);
  EXPECT_EQ(layout.run_end(0), 1U);
  EXPECT_EQ(layout.run_end(1), 2U);
  EXPECT_TRUE(layout.is_run(3, 14));
  EXPECT_TRUE(layout.is_run(15, 17));
  EXPECT_FALSE(layout.is_run(14, 15));
}

// Everything that a member has, in any order: no two areas overlap, and none passes the end.
TEST(ArrayGrowth, AreasOfAllSegmentsAreApart) {
  Growth now = {small(), small_shape};
  for (unsigned growth = 1; growth <= growths_max; ++growth) {
    const std::uint64_t before = layout_of(now.settings, now.shape).member_bytes;
    const auto to = grown(now.settings, now.shape, before + 50'000 + 77'000 * growth, 0);
    ASSERT_TRUE(to) << to.error().message;
    now = *to;
    const MemberLayout layout = layout_of(now.settings, now.shape);
    ASSERT_EQ(layout.growths, growth);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> areas = {
        {0, log_at},
        {log_at, layout.log_bytes},
        {layout.copy_at(0), layout.index_pages * block_bytes},
        {layout.copy_at(1), layout.index_pages * block_bytes}};
    for (std::uint64_t page = 0; page < layout.table_pages; ++page)
      areas.emplace_back(layout.page_at(page, 0), 2 * block_bytes);
    for (std::uint32_t slot = 0; slot < layout.slots; ++slot)
      areas.emplace_back(layout.block_at(slot, 0), layout.chunk_bytes);
    std::sort(areas.begin(), areas.end());
    for (std::size_t i = 0; i + 1 < areas.size(); ++i)
      ASSERT_LE(areas[i].first + areas[i].second, areas[i + 1].first) << growth << " " << i;
    EXPECT_EQ(areas.back().first + areas.back().second, layout.member_bytes);
  }
  const auto once_more = grown(now.settings, now.shape, std::uint64_t{1} << 30U, 0);
  ASSERT_FALSE(once_more);
  EXPECT_EQ(once_more.error().message,
            "the array was grown 7 times, which is the most; copy the data to a new array");
}

TEST(ArrayGrowth, RefusesSizesThatDoNotFit) {
  const auto why = [](std::uint64_t member_bytes, std::uint64_t asked) {
    const auto to = grown(small(), small_shape, member_bytes, asked);
    return to ? std::to_string(to->settings.bytes / 32768) : to.error().message;
  };
  EXPECT_EQ(why(larger_bytes, 0), "300");
  EXPECT_EQ(why(larger_bytes - 1, 0), "299");
  EXPECT_EQ(why(larger_bytes, 20 * 32768 - 1), "20");
  EXPECT_EQ(why(larger_bytes, 301 * 32768),
            "the smallest member has 2670592 bytes; expected at least 2678784 for a capacity of "
            "9863168");
  EXPECT_EQ(why(small_bytes, 0),
            "the smallest member has 229376 bytes; expected at least 270336 for a capacity of "
            "425984");
  EXPECT_EQ(why(larger_bytes, 12 * 32768),
            "size is 393216; expected at least 425984, because the array has 393216 bytes");
}

TEST(ArrayGrowth, OnlyAGrownArrayNeedsANewerVersion) {
  const SuperblockBytes before = to_bytes(superblock_of(small(), small_shape));
  EXPECT_EQ(before[8], std::byte{1});
  EXPECT_EQ(std::count(before.begin() + 112, before.begin() + 128, std::byte{0}), 16);
  const auto to = grown(small(), small_shape, larger_bytes, 0);
  ASSERT_TRUE(to);
  const Superblock superblock = superblock_of(to->settings, to->shape);
  const SuperblockBytes bytes = to_bytes(superblock);
  EXPECT_EQ(bytes[8], std::byte{2});
  EXPECT_EQ(bytes[112], std::byte{1});
  EXPECT_EQ(load_little<std::uint32_t>(bytes.data() + 4032), 12U);
  EXPECT_EQ(load_little<std::uint32_t>(bytes.data() + 4036), 3U);
  const auto parsed = parse_superblock(bytes);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, superblock);
  EXPECT_EQ(parsed->shape, to->shape);
  EXPECT_EQ(layout_of(parsed->settings, parsed->shape).member_bytes, larger_bytes);
}

TEST(ArrayGrowth, RefusesSizesThatDidNotGrow) {
  const auto to = grown(small(), small_shape, larger_bytes, 0);
  ASSERT_TRUE(to);
  const SuperblockBytes bytes = to_bytes(superblock_of(to->settings, to->shape));
  for (const std::uint32_t stripes : {300U, 301U, 0xFFFFFFF0U})
    EXPECT_NE(refusal(with(bytes, 4032, stripes)).find("has grown from"), std::string::npos);
  EXPECT_NE(refusal(with(bytes, 4032, std::uint32_t{0})).find("from 0 stripes"), std::string::npos);
  EXPECT_NE(refusal(with(bytes, 4036, std::uint32_t{1})).find("1 spare slots"), std::string::npos);
  EXPECT_NE(refusal(with(bytes, 4036, std::uint32_t{400})).find("has grown"), std::string::npos);
  EXPECT_NE(refusal(with(bytes, 4048, std::uint32_t{20})).find("has a gap"), std::string::npos);
}

TEST(ArrayGrowth, FeaturesDecideWhoMayOpen) {
  const SuperblockBytes bytes = to_bytes(superblock_of(small(), small_shape));
  const SuperblockBytes newer = with(bytes, 8, std::uint32_t{2});
  EXPECT_EQ(refusal(newer), "");
  EXPECT_EQ(refusal(with(newer, 112, std::uint32_t{6})),
            "superblock: the array uses features 6 that this version does not know; use a newer "
            "version of Calpe");
  const auto readable = parse_superblock(with(newer, 116, std::uint32_t{8}));
  ASSERT_TRUE(readable);
  EXPECT_EQ(readable->unknown_features, 8U);
  EXPECT_EQ(refusal(with(newer, 120, std::uint32_t{0xFF})), "");  // compatible
  EXPECT_EQ(refusal(with(bytes, 8, std::uint32_t{3})),
            "superblock: version is 3; expected at most 2: use a newer version of Calpe");
  // Older versions wrote zeros, and these bytes have no meaning in version 1.
  EXPECT_EQ(refusal(with(bytes, 112, std::uint32_t{6})), "");
}

// The older copy of a superblock must not be used because the newer one cannot be read.
TEST(ArrayGrowth, ANewerSuperblockHidesTheOlderCopy) {
  MemoryMembers members{1, 1U << 20U};
  const SuperblockBytes old = to_bytes(superblock_of(small(), small_shape));
  const auto put = [&](unsigned copy, const SuperblockBytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), members.disks[0].now.begin() + copy * 4096);
  };
  put(0, old);
  EXPECT_TRUE(look_at(members, 0).superblock);
  const SuperblockBytes newer = with(with(old, 8, std::uint32_t{2}), 112, std::uint32_t{6});
  put(1, with(newer, 32, std::uint64_t{13}));
  const FoundPlace found = look_at(members, 0);
  EXPECT_FALSE(found.superblock);
  EXPECT_NE(found.why.find("features 6"), std::string::npos) << found.why;
  put(1, with(newer, 32, std::uint64_t{11}));
  EXPECT_TRUE(look_at(members, 0).superblock);
}

TEST(ArrayGrowth, HistoryIsStoredAndLargeNumbersStop) {
  Superblock superblock = superblock_of(small(), small_shape);
  superblock.roles[1].errors = {.reads = 7, .writes = 2, .blocks_wrong = 9, .blocks_repaired = 8};
  superblock.scrub = {.begun = 1'700'000'000,
                      .next = 4096,
                      .found = {1, 2, 3},
                      .complete = 4,
                      .last_begun = 1'600'000'000,
                      .last_end = 1'600'000'900,
                      .last_found = {5, 6, 7}};
  SuperblockBytes bytes = to_bytes(superblock);
  EXPECT_EQ(bytes[8], std::byte{1});
  EXPECT_EQ(load_little<std::uint32_t>(bytes.data() + 552 + 48), 7U);
  EXPECT_EQ(load_little<std::uint32_t>(bytes.data() + 556 + 48), 9U);
  EXPECT_EQ(load_little<std::uint32_t>(bytes.data() + 3584 + 4), 8U);
  EXPECT_EQ(load_little<std::uint16_t>(bytes.data() + 3840 + 2), 2U);
  EXPECT_EQ(load_little<std::uint64_t>(bytes.data() + 3968), 1'700'000'000U);
  EXPECT_EQ(load_little<std::uint64_t>(bytes.data() + 4008), 1'600'000'900U);
  auto parsed = parse_superblock(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->scrub, superblock.scrub);
  EXPECT_EQ(parsed->roles, superblock.roles);

  superblock.roles[1].errors = {.reads = std::uint64_t{1} << 40U,
                                .writes = 70'000,
                                .blocks_wrong = ~std::uint64_t{0},
                                .blocks_repaired = std::uint64_t{1} << 32U};
  parsed = parse_superblock(to_bytes(superblock));
  ASSERT_TRUE(parsed);
  const MemberErrors most = {.reads = 0xFFFFFFFF,
                             .writes = 0xFFFF,
                             .blocks_wrong = 0xFFFFFFFF,
                             .blocks_repaired = 0xFFFFFFFF};
  EXPECT_EQ(parsed->roles[1].errors, most);
}

}  // namespace
}  // namespace calpe::array
