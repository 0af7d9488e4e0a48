// SPDX-License-Identifier: Apache-2.0
// Journals are read as specified, and nothing in them is trusted.
#include "store/find/redo_journal.hpp"

#include <gtest/gtest.h>

#include "base/little_endian.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "store/format/redo_layout.hpp"
#include "support/faulty_files.hpp"
#include "support/made_set.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::Fault;
using tests::MadeSet;
using tests::MemoryFiles;

struct Made {
  MadeSet set = MadeSet(tests::SetShape{});
  MemoryFiles files;
  ShardHeader before;
  ShardHeader after;
  std::string shard;
  std::string journal;

  Made() {
    set.put(files);
    shard = set.path(1);
    before = *parse_header(std::span(set.images()[1]).first(4096));
    after = before;
    after.generation = 5;
    after.stripe_count += 2;
    after.content_bytes += 2 * 3 * 64;
    after.manifest_offset = after.content_bytes;
    journal = redo_journal_path(shard, after);
  }
  // Writes the headers and a block after the old end.
  Status write() {
    auto writer = RedoWriter::create(files, shard, before, after);
    if (!writer) return writer.error();
    const HeaderBytes header = to_bytes(after);
    Status added = (*writer)->add(shard_file_bytes(after) - 4096, header);
    if (added) added = (*writer)->add(0, header);
    if (added) added = (*writer)->add(4096 + 64, Bytes(64, std::byte{7}));
    if (added) added = (*writer)->add(4096 + 128, Bytes(300, std::byte{8}));
    if (!added) return added;
    return (*writer)->finish();
  }
  std::optional<RedoJournal> read() {
    const auto file = files.open(journal);
    return file ? *read_redo_journal(**file) : std::nullopt;
  }
  Bytes expected() const {
    Bytes bytes = set.images()[1];
    bytes.resize(shard_file_bytes(after));
    const HeaderBytes header = to_bytes(after);
    std::copy(header.begin(), header.end(), bytes.begin());
    std::copy(header.begin(), header.end(), bytes.end() - 4096);
    std::fill_n(bytes.begin() + 4096 + 64, 64, std::byte{7});
    std::fill_n(bytes.begin() + 4096 + 128, 300, std::byte{8});
    return bytes;
  }
};

TEST(RedoJournal, HasTheLayoutOfTheSpecification) {
  Made made;
  EXPECT_TRUE(made.journal.ends_with("-s001-0000000000000005.redo")) << made.journal;
  EXPECT_TRUE(made.journal.starts_with("disk/.calpe-")) << made.journal;
  ASSERT_TRUE(made.write().has_value());
  const Bytes& raw = made.files.at(made.journal);
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;)
      value = value << 8U | std::to_integer<std::uint64_t>(raw[at + i]);
    return value;
  };
  const std::size_t data = 2 * 4096 + 64 + 300;
  EXPECT_EQ(std::memcmp(raw.data(), "calpe-j1", 8), 0);
  EXPECT_EQ(number(8, 4), 1U);
  EXPECT_EQ(number(12, 4), 3U) << "adjacent blocks are one write";
  EXPECT_EQ(number(32, 8), 1U);
  EXPECT_EQ(number(40, 8), 5U);
  EXPECT_EQ(number(48, 2), 1U);
  EXPECT_EQ(number(56, 8), shard_file_bytes(made.after));
  EXPECT_EQ(number(64, 8), data);
  ASSERT_EQ(raw.size(), 4096 + data + 3 * 32);
  EXPECT_EQ(number(72, 8), plain_checksum(std::span(raw).subspan(4096 + data)));
  EXPECT_EQ(number(4088, 8), plain_checksum(std::span(raw).first(4088)));
  EXPECT_EQ(number(4096 + data + 32, 8), 4096U + 64);  // the second write
  EXPECT_EQ(number(4096 + data + 40, 8), 364U);
}

TEST(RedoJournal, TheShardReadsAsIfReplayed) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const auto file =
      make_redone_file(*made.files.open(made.shard), *made.files.open(made.journal), *made.read());
  const Bytes expected = made.expected();
  ASSERT_EQ(*file->size(), expected.size());
  conformance::Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t offset = random.below(expected.size() + 10);
    Bytes piece(random.below(i % 2 == 0 ? 700 : 12000));
    const std::size_t there =
        offset < expected.size() ? std::min(piece.size(), expected.size() - offset) : 0;
    ASSERT_EQ(*file->read_at(piece, offset), there) << offset;
    ASSERT_TRUE(std::equal(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(there),
                           expected.begin() + static_cast<std::ptrdiff_t>(offset)))
        << offset << " +" << piece.size();
  }
  EXPECT_FALSE(file->write_at(Bytes(1), 0).has_value());
  EXPECT_FALSE(file->resize(1).has_value());
}

TEST(RedoJournal, IsReplayedAndRemoved) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const Bytes raw = made.files.at(made.journal);
  ASSERT_TRUE(redo_shard(made.files, made.shard, made.journal).has_value());
  EXPECT_EQ(made.files.at(made.shard), made.expected());
  EXPECT_FALSE(made.files.has(made.journal));
  // Again, as after a kill before the removal.
  made.files.put(made.journal, raw);
  ASSERT_TRUE(redo_shard(made.files, made.shard, made.journal).has_value());
  EXPECT_EQ(made.files.at(made.shard), made.expected());
}

TEST(RedoJournal, IsNotReplayedOnAnotherShard) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const auto before = made.files.images();
  EXPECT_FALSE(redo_shard(made.files, made.set.path(2), made.journal).has_value());
  // No shard at all, one of another set, and one with a newer generation.
  const Bytes own = made.files.at(made.shard);
  made.files.at(made.shard) = Bytes(100);
  EXPECT_FALSE(redo_shard(made.files, made.shard, made.journal).has_value());
  made.files.at(made.shard) = MadeSet(tests::SetShape{.uuid = 9}).images()[1];
  EXPECT_FALSE(redo_shard(made.files, made.shard, made.journal).has_value());
  made.files.at(made.shard) = MadeSet(tests::SetShape{.generation = 6}).images()[1];
  EXPECT_FALSE(redo_shard(made.files, made.shard, made.journal).has_value());
  made.files.at(made.shard) = own;
  made.files.at(made.journal)[4088] ^= std::byte{1};
  EXPECT_FALSE(redo_shard(made.files, made.shard, made.journal).has_value());
  EXPECT_EQ(made.files.at(made.set.path(2)), before.at(made.set.path(2)));
  EXPECT_EQ(made.files.at(made.shard), before.at(made.shard));
}

TEST(RedoJournal, DamagedBytesAreNotWritten) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  made.files.at(made.journal)[4096 + 2 * 4096 + 100] ^= std::byte{1};  // in the blocks
  ASSERT_TRUE(redo_shard(made.files, made.shard, made.journal).has_value());
  Bytes expected = made.expected();
  const Bytes& old = made.set.images()[1];
  std::copy_n(old.begin() + 4096 + 64, 364, expected.begin() + 4096 + 64);
  EXPECT_EQ(made.files.at(made.shard), expected);
}

TEST(RedoJournal, DetectsEveryFlippedBitInHeaderAndTable) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const Bytes raw = made.files.at(made.journal);
  const std::size_t table = raw.size() - 96;
  for (std::size_t at = 0; at < raw.size(); at += at < 90 || at >= table ? 1 : 37) {
    made.files.at(made.journal) = raw;
    made.files.at(made.journal)[at] ^= std::byte{0x10};
    const bool is_data = at >= 4096 && at < table;
    EXPECT_EQ(made.read().has_value(), is_data) << at;
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4095}, raw.size() - 1}) {
    made.files.at(made.journal) = Bytes(raw.begin(), raw.begin() + static_cast<long>(bytes));
    EXPECT_FALSE(made.read().has_value()) << bytes;
  }
  made.files.at(made.journal) = raw;
  EXPECT_TRUE(made.read().has_value());
}

// An attacker can make the checksums match, but not hide invalid fields.
TEST(RedoJournal, HostileFieldsAreRefused) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const Bytes raw = made.files.at(made.journal);
  const std::size_t table = raw.size() - 96;
  const auto accepts = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
    Bytes& now = made.files.at(made.journal);
    now = raw;
    for (std::size_t i = 0; i < bytes; ++i)
      now[at + i] = static_cast<std::byte>(value >> 8 * i);
    const std::uint64_t table_sum = plain_checksum(std::span(now).subspan(table));
    store_little(now.data() + 72, table_sum);
    const std::uint64_t sum = plain_checksum(std::span(now).first(4088));
    store_little(now.data() + 4088, sum);
    return made.read().has_value();
  };
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_TRUE(accepts(8, 1, 4));
  EXPECT_FALSE(accepts(8, 2, 4)) << "version";
  for (const std::uint64_t count : {0U, 1U, 2U, 4U, 1U << 22U, ~0U}) {
    EXPECT_FALSE(accepts(12, count, 4)) << "writes " << count;
  }
  EXPECT_FALSE(accepts(32, 0, 8)) << "generation before";
  EXPECT_FALSE(accepts(40, 1, 8)) << "the same generation";
  EXPECT_FALSE(accepts(48, 256, 2)) << "shard index";
  EXPECT_FALSE(accepts(56, huge, 8)) << "file size";
  EXPECT_FALSE(accepts(64, huge - 4096, 8)) << "data bytes";
  EXPECT_FALSE(accepts(100, 1, 1)) << "unused bytes";
  EXPECT_FALSE(accepts(table + 32, huge, 8)) << "offset";
  EXPECT_FALSE(accepts(table + 32, 4095, 8)) << "overlaps the header";
  EXPECT_FALSE(accepts(table + 40, 0, 8)) << "no bytes";
  EXPECT_FALSE(accepts(table + 40, huge, 8)) << "many bytes";
  EXPECT_FALSE(accepts(table + 48, 0, 8)) << "from the journal's header";
  EXPECT_FALSE(accepts(table + 48, huge, 8)) << "from after the journal's end";
  EXPECT_FALSE(accepts(table + 64, 4096, 8)) << "the last write is not the header";
  const std::uint64_t end = shard_file_bytes(made.after);
  EXPECT_FALSE(accepts(56, 8191, 8)) << "a file too short for two headers";
  EXPECT_FALSE(accepts(table, 1, 8)) << "the first write is not at the front";
  EXPECT_FALSE(accepts(table + 8, 4000, 8)) << "the first write is shorter than the header";
  EXPECT_FALSE(accepts(table + 40, end + 1, 8)) << "more than the file has";
  EXPECT_FALSE(accepts(table + 64, end - 4097, 8)) << "the last write ends before the file";
  EXPECT_FALSE(accepts(table + 72, 4000, 8)) << "the last write is shorter than the header";
}

TEST(RedoJournal, ATableHasAsManyWritesAsTheHeaderSays) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const Bytes& raw = made.files.at(made.journal);
  const auto header = parse_redo_header(std::span(raw).first(4096));
  ASSERT_TRUE(header.has_value());
  const std::vector<RedoWrite> writes = made.read()->writes;
  EXPECT_TRUE(is_table_good(*header, writes));
  EXPECT_FALSE(is_table_good(*header, std::span(writes).first(2)));
}

// Too few writes for a journal, and headers that no shard of the set has.
TEST(RedoJournal, WritesOnlyReadableJournals) {
  Made made;
  auto writer = RedoWriter::create(made.files, made.shard, made.before, made.after);
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE((*writer)->add(0, to_bytes(made.after)).has_value());
  EXPECT_FALSE((*writer)->finish().has_value()) << "the back header is missing";
  writer->reset();
  std::swap(made.before, made.after);  // back to an older generation
  writer = RedoWriter::create(made.files, made.shard, made.before, made.after);
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE((*writer)->add(0, to_bytes(made.after)).has_value());
  ASSERT_TRUE(
      (*writer)->add(shard_file_bytes(made.after) - 4096, to_bytes(made.after)).has_value());
  EXPECT_FALSE((*writer)->finish().has_value());
}

// If killed before the table was written, the file ends with the shard's header.
TEST(RedoJournal, IsNeverAShard) {
  Made made;
  Bytes raw(4096);
  const HeaderBytes header = to_bytes(made.after);
  raw.insert(raw.end(), header.begin(), header.end());
  made.files.put(made.journal, raw);
  const auto findings = find_sets(made.files, {"disk"});
  ASSERT_EQ(findings->sets.size(), 1U);
  EXPECT_EQ(findings->sets[0].header.generation, 1U);
}

// At any call: reports an error and leaves no unfinished journal.
TEST(RedoJournal, WritingFailsAtEveryCallAndLeavesNothing) {
  Made made;
  const auto run = [&](tests::FaultyFiles& files) -> Status {
    auto writer = RedoWriter::create(files, made.shard, made.before, made.after);
    if (!writer) return writer.error();
    const HeaderBytes header = to_bytes(made.after);
    // More than one piece, so that adding writes, too.
    Status done = (*writer)->add(4096, Bytes(600'000, std::byte{9}));
    if (done) done = (*writer)->add(0, header);
    if (done) done = (*writer)->add(shard_file_bytes(made.after) - 4096, header);
    return done ? (*writer)->finish() : done;
  };
  made.after.stripe_count += 20'000;
  made.after.content_bytes += std::uint64_t{20'000} * 3 * 64;
  made.after.manifest_offset = made.after.content_bytes;
  std::uint64_t calls = 0;
  {
    tests::FaultyFiles counting(made.files);
    ASSERT_TRUE(run(counting).has_value());
    calls = counting.calls();
    ASSERT_TRUE(made.files.has(made.journal));
    ASSERT_TRUE(made.files.remove(made.journal));
  }
  EXPECT_GE(calls, 11U);  // create, 3 pieces, 2 headers, table, header, 2 syncs, directory
  for (std::uint64_t call = 0; call < calls; ++call) {
    tests::FaultyFiles faulty(made.files);
    faulty.fail_call(call, Fault::input_output);
    EXPECT_FALSE(run(faulty).has_value()) << faulty.log()[call];
    EXPECT_FALSE(made.files.has(made.journal)) << faulty.log()[call];
  }
}

// Fails at any call, then replays again: the shard always ends with the new content.
TEST(RedoJournal, ReplayFailsAtEveryCallAndCanBeRepeated) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const auto images = made.files.images();
  std::uint64_t calls = 0;
  {
    tests::FaultyFiles counting(made.files);
    ASSERT_TRUE(redo_shard(counting, made.shard, made.journal).has_value());
    calls = counting.calls();
  }
  EXPECT_GE(calls, 15U);
  for (std::uint64_t call = 0; call < calls; ++call) {
    for (const Fault fault : {Fault::input_output, Fault::crash}) {
      for (const auto& [path, bytes] : images)
        made.files.put(path, bytes);
      tests::FaultyFiles faulty(made.files);
      faulty.fail_call(call, fault);
      const bool is_done = redo_shard(faulty, made.shard, made.journal).has_value();
      // One of the shard's two headers may be unreadable.
      const bool may_fail = faulty.log()[call].starts_with("read_at " + made.shard);
      EXPECT_TRUE(!is_done || (may_fail && fault != Fault::crash)) << faulty.log()[call];
      ASSERT_EQ(made.files.has(made.journal), !is_done) << faulty.log()[call];
      if (!is_done) {
        ASSERT_TRUE(redo_shard(made.files, made.shard, made.journal).has_value());
      }
      EXPECT_EQ(made.files.at(made.shard), made.expected()) << faulty.log()[call];
    }
  }
}

TEST(RedoJournal, ReadingFailsAtEveryCall) {
  Made made;
  ASSERT_TRUE(made.write().has_value());
  const RedoJournal redo = *made.read();
  for (const std::uint64_t call : {1U, 2U, 3U}) {  // after open: size, header, table
    tests::FaultyFiles faulty(made.files);
    faulty.fail_call(call, Fault::input_output);
    const auto file = *faulty.open(made.journal);
    EXPECT_FALSE(read_redo_journal(*file).has_value()) << faulty.log()[call];
  }
  // As if the journal ended early: it is invalid.
  for (const std::uint64_t call : {2U, 3U}) {
    tests::FaultyFiles faulty(made.files);
    faulty.fail_call(call, Fault::short_read);
    const auto file = *faulty.open(made.journal);
    const auto read = read_redo_journal(*file);
    ASSERT_TRUE(read.has_value());
    EXPECT_FALSE(read->has_value()) << faulty.log()[call];
  }
  // Reads the shard and its journal as one file: from the journal, and from the shard.
  for (const std::uint64_t offset : {0U, 4096U}) {
    for (const Fault fault : {Fault::input_output, Fault::short_read}) {
      tests::FaultyFiles faulty(made.files);
      const auto file =
          make_redone_file(*faulty.open(made.shard), *faulty.open(made.journal), redo);
      faulty.fail_call(0, fault);
      Bytes piece(64);
      const auto got = file->read_at(piece, offset);
      const bool is_zeros = fault == Fault::short_read && offset != 0;  // the shard grows
      EXPECT_EQ(got.has_value(), is_zeros) << offset;
    }
  }
}

TEST(RedoJournal, WritesMustNotOverlap) {
  Made made;
  auto writer = RedoWriter::create(made.files, made.shard, made.before, made.after);
  ASSERT_TRUE(writer.has_value());
  const HeaderBytes header = to_bytes(made.after);
  ASSERT_TRUE((*writer)->add(0, header).has_value());
  ASSERT_TRUE((*writer)->add(shard_file_bytes(made.after) - 4096, header).has_value());
  ASSERT_TRUE((*writer)->add(4096, Bytes(65)).has_value());
  ASSERT_TRUE((*writer)->add(4096 + 64, Bytes(64)).has_value());
  const Status done = (*writer)->finish();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(made.files.has(made.journal));
  writer->reset();
  EXPECT_FALSE(made.files.has(made.journal));
}

}  // namespace
}  // namespace calpe::store
