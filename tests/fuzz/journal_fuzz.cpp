// SPDX-License-Identifier: Apache-2.0
// Hostile redo journals: a journal that read_redo_journal() accepts can be read completely, never
// beyond its ends and never with more memory than the file has. The shards next to it are still
// found. The input is flags, the length of the file, then parts of a journal: header, and table at
// its end.
#include <algorithm>
#include <cstring>
#include <span>

#include "files/bounded_files.hpp"
#include "fuzz/property.hpp"
#include "store/find/redo_journal.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/block_checksum.hpp"
#include "support/made_set.hpp"

namespace calpe::fuzz {

namespace {

using tests::Bytes;

constexpr std::uint8_t flag_checksums_as_they_are = 1;
constexpr std::size_t header_part = 96;
constexpr std::size_t entry_bytes = 32;

const tests::MadeSet& made() {
  static const tests::MadeSet set({.data_shards = 2, .parity_shards = 1, .stripes = 3});
  return set;
}

void put_right(Bytes& raw) {
  std::uint64_t data_bytes = 0;
  std::memcpy(&data_bytes, raw.data() + 64, sizeof data_bytes);
  if (data_bytes <= raw.size() - store::header_bytes) {
    const std::uint64_t table =
        store::plain_checksum(std::span(raw).subspan(store::header_bytes + data_bytes));
    std::memcpy(raw.data() + 72, &table, sizeof table);
  }
  constexpr std::size_t checked = store::header_bytes - 8;
  const std::uint64_t header = store::plain_checksum(std::span(raw).first(checked));
  std::memcpy(raw.data() + checked, &header, sizeof header);
}

void check_writes(const store::RedoJournal& redo, std::size_t journal_bytes) {
  require(redo.writes.size() >= 2, "both headers are among the writes");
  require(redo.writes.size() * entry_bytes + store::header_bytes <= journal_bytes,
          "the table is in the file");
  std::uint64_t end = 0;
  for (const store::RedoWrite& write : redo.writes) {
    require(write.bytes >= 1 && write.offset >= end, "writes ascend");
    end = write.offset + write.bytes;
    require(end > write.offset && end <= redo.shard_file_bytes, "writes end within the shard");
    require(write.journal_offset >= store::header_bytes, "bytes follow the header");
    require(write.journal_offset + write.bytes <= journal_bytes, "bytes are in the journal");
  }
  require(redo.writes.front().offset == 0 && end == redo.shard_file_bytes, "headers come first");
}

void read_through(tests::BoundedFiles& files, const std::string& path, store::RedoJournal redo) {
  const std::uint64_t size = redo.shard_file_bytes;
  const auto writes = redo.writes;
  const auto file =
      store::make_redone_file(*files.open(made().path(0)), *files.open(path), std::move(redo));
  Bytes bytes(300);
  for (const store::RedoWrite& write : writes) {
    for (const std::uint64_t at : {+write.offset, write.offset + write.bytes - 1}) {
      const auto got = file->read_at(bytes, at);
      require(got.has_value(), "reading from memory succeeds");
      require(*got == std::min<std::uint64_t>(bytes.size(), size - at), "up to the end");
    }
  }
}

void run(std::span<const std::uint8_t> input) {
  if (input.size() < 2 + header_part) return;
  const bool is_raw = (input[0] & flag_checksums_as_they_are) != 0;
  const auto tail = input.subspan(2 + header_part);
  Bytes raw(store::header_bytes + std::size_t{input[1]} * 64 + tail.size());
  std::memcpy(raw.data(), input.data() + 2, header_part);
  if (!tail.empty()) std::memcpy(raw.data() + raw.size() - tail.size(), tail.data(), tail.size());
  if (!is_raw) put_right(raw);
  const std::size_t journal_bytes = raw.size();

  tests::BoundedFiles files;
  for (std::size_t i = 0; i < made().shard_count(); ++i) {
    files.put(made().path(i), made().images()[i]);
  }
  const std::string path = "disk/.calpe-x.redo";
  files.put(path, std::move(raw));
  const auto journal = files.open(path);
  require(journal.has_value(), "an existing file can be opened");
  auto redo = store::read_redo_journal(**journal);
  require(redo.has_value(), "readable bytes are not a failure");
  if (!*redo) return;
  check_writes(**redo, journal_bytes);
  read_through(files, path, **std::move(redo));
  const auto findings = store::find_sets(files, {"disk"});
  require(findings.has_value() && !findings->sets.empty(), "shards next to it are found");
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
