// SPDX-License-Identifier: Apache-2.0
// Sets each field of a superblock and of a batch in the log to an invalid value with a valid
// checksum. All must be refused, superblocks with a reason.
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "array/format/superblock.hpp"
#include "array/state/codec_cache.hpp"
#include "base/little_endian.hpp"
#include "fuzz/array_checksums.hpp"

namespace calpe::array {
namespace {

using ::testing::HasSubstr;

constexpr Shape shape = {.rotated = 6, .members_max = 10};

Settings settings() {
  return {.spec = codec_for({.data_shards = 4, .parity_shards = 2})->spec(),
          .bytes = 393216,
          .chunk_bytes = 8192,
          .log_bytes = 65536,
          .spare_slots = 3};
}

Superblock sound() {
  Superblock superblock = {.array = {std::byte{7}}, .settings = settings(), .shape = shape};
  superblock.epoch = 12;
  superblock.previous = 10;
  superblock.role = 3;
  superblock.roles.resize(6);
  for (std::size_t role = 0; role < 6; ++role)
    superblock.roles[role].uuid[3] = static_cast<std::byte>(role);
  return superblock;
}

std::string parsed(std::span<const std::byte> bytes) {
  const auto superblock = parse_superblock(bytes);
  return superblock ? "accepted" : superblock.error().message;
}

std::string with(const std::function<void(Superblock&)>& change) {
  Superblock superblock = sound();
  change(superblock);
  return parsed(to_bytes(superblock));
}

std::string with_byte(std::size_t at, unsigned value) {
  SuperblockBytes bytes = to_bytes(sound());
  bytes[at] = static_cast<std::byte>(value);
  fuzz::put_right_superblock(bytes);
  return parsed(bytes);
}

TEST(ArrayRefusals, SuperblocksOfAnotherShape) {
  EXPECT_EQ(with([](Superblock&) {}), "accepted");
  EXPECT_EQ(with([](Superblock& s) { s.role = no_role; }), "accepted");  // a spare
  EXPECT_THAT(parsed(std::vector<std::byte>(512)), HasSubstr("has 512 bytes; expected 4096"));
  EXPECT_THAT(with_byte(0, 'C'), HasSubstr("no magic"));
  EXPECT_THAT(with_byte(8, 3), HasSubstr("version is 3; expected at most 2"));
  EXPECT_THAT(with([](Superblock& s) { s.shape.rotated = 0; }),
              HasSubstr("rotates over 0 members"));
  EXPECT_THAT(with([](Superblock& s) { s.shape.rotated = 7; }),
              HasSubstr("rotates over 7 members"));
  EXPECT_THAT(with([](Superblock& s) { s.shape.members_max = 5; }), HasSubstr("room for 5"));
  EXPECT_THAT(with([](Superblock& s) { s.shape.members_max = 65; }), HasSubstr("room for 65"));
}

TEST(ArrayRefusals, SuperblocksWithInvalidFields) {
  EXPECT_THAT(with([](Superblock& s) { s.settings.chunk_bytes = 5000; }),
              HasSubstr("chunk bytes is 5000"));
  EXPECT_THAT(with([](Superblock& s) { s.settings.bytes = 0; }), HasSubstr("a size is 0"));
  EXPECT_THAT(with([](Superblock& s) { s.settings.log_bytes = 0; }), HasSubstr("a size is 0"));
  EXPECT_THAT(with([](Superblock& s) { s.settings.spare_slots = 0; }), HasSubstr("a size is 0"));
  EXPECT_THAT(with([](Superblock& s) { s.settings.log_bytes = 8192; }),
              HasSubstr("log bytes is 8192; expected at least"));
  EXPECT_THAT(with([](Superblock& s) { s.settings.spec.matrix_hash = 0; }),
              HasSubstr("no matrix hash"));
  EXPECT_THAT(with([](Superblock& s) { s.role = 6; }), HasSubstr("member is 6"));
  EXPECT_THAT(with([](Superblock& s) { s.index_copy = 2; }), HasSubstr("index copy is 2"));
  EXPECT_THAT(with([](Superblock& s) { s.epoch = s.previous = 0; }), HasSubstr("epoch is 0"));
  EXPECT_THAT(with([](Superblock& s) { s.previous = 12; }), HasSubstr("epoch is 12 after 12"));
  EXPECT_THAT(with([](Superblock& s) { s.roles[4].uuid = s.roles[1].uuid; }),
              HasSubstr("members 1 and 4 have the same uuid"));
  EXPECT_THAT(with_byte(512 + 32, 3), HasSubstr("member 0 has state 3"));
  EXPECT_THAT(with_byte(512 + 48 + 33, 4), HasSubstr("member 1 has state 0 and flags 4"));
}

TEST(ArrayRefusals, InvalidSettings) {
  const auto refusal = [](const std::function<void(Settings&)>& change) {
    Settings changed = settings();
    change(changed);
    const Status status = check_settings(changed);
    return status ? "accepted" : status.error().message;
  };
  EXPECT_THAT(refusal([](Settings& s) { s.spec.data_shards = 0; }), HasSubstr("the code is 0+2"));
  EXPECT_THAT(refusal([](Settings& s) { s.spec.parity_shards = 0; }), HasSubstr("the code is 4+0"));
  EXPECT_THAT(refusal([](Settings& s) { s.spec.data_shards = 63; }), HasSubstr("at most 64"));
  EXPECT_THAT(refusal([](Settings& s) { s.spec.layout = Layout::packets; }),
              HasSubstr("the layout is packets"));
  EXPECT_THAT(refusal([](Settings& s) { s.spec.word_bits = 16; }),
              HasSubstr("word_bits is 16; expected 8"));
  EXPECT_THAT(refusal([](Settings& s) { s.chunk_bytes = 0; }), HasSubstr("chunk bytes is 0"));
  EXPECT_THAT(refusal([](Settings& s) { s.chunk_bytes = 2U << 20U; }), HasSubstr("up to 1048576"));
  EXPECT_THAT(refusal([](Settings& s) { s.bytes = 4097; }), HasSubstr("bytes is 4097"));
  EXPECT_THAT(refusal([](Settings& s) { s.bytes = std::uint64_t{1} << 62U; }),
              HasSubstr("expected a multiple of 4096 up to"));
  EXPECT_THAT(refusal([](Settings& s) { s.log_bytes = 4097; }), HasSubstr("log bytes is 4097"));
  EXPECT_THAT(refusal([](Settings& s) { s.log_bytes = std::uint64_t{1} << 62U; }),
              HasSubstr("log bytes is"));
  EXPECT_THAT(refusal([](Settings& s) { s.spare_slots = (1U << 20U) + 1; }),
              HasSubstr("spare slots is 1048577"));
  EXPECT_THAT(refusal([](Settings& s) {
                s.spec.data_shards = 1;
                s.chunk_bytes = 4096;
                s.bytes = std::uint64_t{1} << 44U;
              }),
              HasSubstr("there would be 4294967296 stripes; expected less than 4294967295"));
  Settings small = settings();
  small.bytes = 0;
  EXPECT_THAT(settle(small, shape, 100'000).error().message,
              HasSubstr("the smallest member has 100000 bytes"));
  small.spec.data_shards = 0;
  EXPECT_FALSE(settle(small, shape, 1U << 20U));
}

// A log with one record of each kind; any change must be refused.
class LogRefusals : public ::testing::Test {
 protected:
  LogRefusals() : layout_(layout_of(settings(), shape)) {
    name_ = {{std::byte{7}}, 9, 1};
    header_.name = name_;
    header_.roles = 0x3F;
    words_ = {0x11, 0, 0x22, 0, 0x33, 0};
    checks_.assign(6 * std::size_t{layout_.columns}, 0x44);
    header_.records = {{RecordKind::blocks, 1, 7, 5, 0x32, words_},
                       {RecordKind::whole, 0, 3, 4, 0x3F, checks_},
                       {RecordKind::hole, 0, no_slot, 2, 0, {}},
                       {RecordKind::zeros, 0, 10, 8, 0x3F, {}},
                       {RecordKind::chunk, 0, 8, 6, 1, std::span(checks_).first(layout_.columns)},
                       {RecordKind::block, 1, 9, 7, 1, std::span(checks_).first(1)}};
  }

  bool is_read() {
    std::vector<std::byte> bytes(2 * block_bytes);
    bytes.resize(write_header(header_, bytes));
    return parse_header(bytes, name_, layout_).has_value();
  }
  bool is_refused(std::size_t record, const std::function<void(LogRecord&)>& change) {
    const LogRecord before = header_.records[record];
    change(header_.records[record]);
    const bool is_refused = !is_read();
    header_.records[record] = before;
    return is_refused;
  }
  // Changes a field of the header.
  bool is_refused_with(std::size_t at, std::uint32_t value) {
    std::vector<std::byte> bytes(2 * block_bytes);
    bytes.resize(write_header(header_, bytes));
    store_little(bytes.data() + at, value);
    fuzz::put_right_log_header(bytes, name_.array);
    return !parse_header(bytes, name_, layout_).has_value();
  }

  MemberLayout layout_;
  BatchName name_;
  BatchHeader header_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> checks_;
};

TEST_F(LogRefusals, InvalidRecords) {
  ASSERT_TRUE(is_read());
  EXPECT_TRUE(is_refused(0, [](LogRecord& r) { r.kind = static_cast<RecordKind>(0); }));
  EXPECT_TRUE(is_refused(2, [](LogRecord& r) { r.kind = static_cast<RecordKind>(7); }));
  EXPECT_TRUE(is_refused(0, [&](LogRecord& r) { r.stripe = layout_.stripes; }));
  EXPECT_TRUE(is_refused(0, [](LogRecord& r) { r.roles |= 1U << 6U; }));
  EXPECT_TRUE(is_refused(2, [](LogRecord& r) { r.slot = 1; }));
  EXPECT_TRUE(is_refused(2, [](LogRecord& r) { r.column = 1; }));
  EXPECT_TRUE(is_refused(0, [&](LogRecord& r) { r.slot = static_cast<unsigned>(layout_.slots); }));
  EXPECT_TRUE(is_refused(0, [&](LogRecord& r) { r.column = 2; }));
  EXPECT_TRUE(is_refused(1, [](LogRecord& r) { r.column = 1; }));
  words_[1] = 1;  // after the only block of the member
  EXPECT_FALSE(is_read());
}

TEST_F(LogRefusals, DuplicateColumns) {
  words_[1] = words_[3] = words_[5] = 1;
  std::vector<std::uint64_t> more = {0x55, 0, 0x66, 0, 0x77, 0};
  header_.records.push_back({RecordKind::blocks, 1, 7, 5, 0x32, more});
  EXPECT_FALSE(is_read());
  header_.records.back().column = 0;
  EXPECT_TRUE(is_read());
  more[1] = 1;  // two blocks with one number
  EXPECT_FALSE(is_read());
}

// The records fill the header exactly; one more or a longer one would end after it.
TEST_F(LogRefusals, RecordsPastTheEndOfTheHeader) {
  constexpr std::size_t count = (block_bytes - log_header_fixed) / log_record_fixed;
  static_assert(log_header_fixed + count * log_record_fixed == block_bytes);
  header_.records.assign(count, {RecordKind::hole, 0, no_slot, 2, 0, {}});
  ASSERT_TRUE(is_read());
  EXPECT_FALSE(is_refused_with(44, count));
  EXPECT_FALSE(is_refused_with(44, count - 1));
  EXPECT_TRUE(is_refused_with(44, count + 1));
  std::vector<std::byte> bytes(2 * block_bytes);
  bytes.resize(write_header(header_, bytes));
  ASSERT_EQ(bytes.size(), block_bytes);
  std::byte* const last = bytes.data() + block_bytes - log_record_fixed;
  store_little(last, RecordKind::zeros);  // has no words
  store_little(last + 4, std::uint32_t{3});
  store_little(last + 16, std::uint64_t{0x3F});
  fuzz::put_right_log_header(bytes, name_.array);
  EXPECT_TRUE(parse_header(bytes, name_, layout_).has_value());
  store_little(last, RecordKind::whole);
  fuzz::put_right_log_header(bytes, name_.array);
  EXPECT_FALSE(parse_header(bytes, name_, layout_).has_value());
}

// With 64 members all bits of the roles are valid.
TEST_F(LogRefusals, SixtyFourMembersUseAllBits) {
  Settings wide = settings();
  wide.spec.data_shards = 60;
  wide.spec.parity_shards = 4;
  layout_ = layout_of(wide, {.rotated = 64, .members_max = 64});
  header_.roles = ~std::uint64_t{0};
  header_.records.assign(1, {RecordKind::zeros, 0, 3, 0, ~std::uint64_t{0}, {}});
  EXPECT_TRUE(is_read());
}

TEST_F(LogRefusals, HeadersThatContradictTheirContents) {
  EXPECT_FALSE(is_refused_with(24, 1));
  EXPECT_TRUE(is_refused_with(16, 8));         // generation
  EXPECT_TRUE(is_refused_with(32, 1U << 6U));  // roles
  EXPECT_TRUE(is_refused_with(40, 0));
  EXPECT_TRUE(is_refused_with(40, 4000));
  EXPECT_TRUE(is_refused_with(40, 1U << 30U));
  EXPECT_TRUE(is_refused_with(44, 1U << 20U));  // records
}

}  // namespace
}  // namespace calpe::array
