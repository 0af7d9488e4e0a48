// SPDX-License-Identifier: Apache-2.0
#include "store/find/redo_journal.hpp"

#include <algorithm>

#include "base/hex_digits.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/shard_probe.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "store/format/redo_layout.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

// Size of a write to the journal; 256 shards have 64 MiB of them in memory. It is also the most
// that one flipped bit in the journal costs.
constexpr std::size_t piece_bytes = std::size_t{1} << 18U;

}  // namespace

std::string redo_journal_path(const std::string& shard_path, const ShardHeader& after,
                              JournalKind kind) {
  return in_folder(
      folder_of(shard_path),
      text(temporary_begin(after.uuid), shard_number(after.shard_index), "-",
           hex_number(after.generation), kind == JournalKind::redo ? redo_ending : undo_ending));
}

struct RedoWriter::Impl {
  FileSystem& files;
  std::string path;
  std::unique_ptr<File> file = {};
  RedoHeader header = {};
  std::vector<RedoWrite> writes = {};
  // Shard offset of the bytes that are not written yet.
  std::uint64_t pending_offset = 0;
  std::vector<std::byte> pending = {};
  bool is_sealed = false;
  bool is_finished = false;

  Status flush() {
    if (pending.empty()) return Done{};
    if (writes.size() == redo_writes_max) {
      return invalid(path, " would have more than ", redo_writes_max,
                     " writes; change less at once, or protect the data again");
    }
    CALPE_CHECK(file->write_at(pending, header.table_offset()));
    writes.push_back({.offset = pending_offset,
                      .bytes = pending.size(),
                      .journal_offset = header.table_offset(),
                      .checksum = plain_checksum(pending)});
    header.data_bytes += pending.size();
    pending.clear();
    return Done{};
  }

  // Headers are separate writes, because they define the order of changes to a shard.
  bool is_header(std::uint64_t offset) const {
    return offset == 0 || offset == header.shard_file_bytes - header_bytes;
  }

  Status add(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const bool continues = offset == pending_offset + pending.size() && !is_header(offset) &&
                             !is_header(pending_offset) && pending.size() < piece_bytes;
      if (!continues) {
        CALPE_CHECK(flush());
        pending_offset = offset;
      }
      const std::size_t count = std::min(bytes.size(), piece_bytes - pending.size());
      pending.insert(pending.end(), bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(count));
      offset += count;
      bytes = bytes.subspan(count);
    }
    return Done{};
  }
};

RedoWriter::RedoWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<RedoWriter>> RedoWriter::create(FileSystem& files,
                                                       const std::string& shard_path,
                                                       const ShardHeader& before,
                                                       const ShardHeader& after, JournalKind kind) {
  return create_at(files, redo_journal_path(shard_path, after, kind), before, after, kind);
}

Result<std::unique_ptr<RedoWriter>> RedoWriter::create_at(FileSystem& files,
                                                          const std::string& path,
                                                          const ShardHeader& before,
                                                          const ShardHeader& after,
                                                          JournalKind kind) {
  auto impl = std::make_unique<Impl>(Impl{.files = files, .path = path});
  impl->header.kind = kind;
  impl->header.uuid = after.uuid;
  impl->header.before = before.generation;
  impl->header.after = after.generation;
  impl->header.shard_index = after.shard_index;
  impl->header.shard_file_bytes = shard_file_bytes(kind == JournalKind::redo ? after : before);
  CALPE_TRY(impl->file, files.create(impl->path));
  return std::unique_ptr<RedoWriter>(new RedoWriter(std::move(impl)));
}

RedoWriter::~RedoWriter() {
  impl_->file.reset();
  if (!impl_->is_finished) static_cast<void>(impl_->files.remove(impl_->path));
}

Status RedoWriter::reserve(std::uint64_t data_bytes) {
  return impl_->file->resize(header_bytes + data_bytes + 1);
}

Status RedoWriter::add(std::uint64_t offset, std::span<const std::byte> bytes) {
  return impl_->add(offset, bytes);
}

Status RedoWriter::seal() {
  CALPE_CHECK(impl_->flush());
  std::vector<RedoWrite>& writes = impl_->writes;
  std::sort(writes.begin(), writes.end(),
            [](const RedoWrite& a, const RedoWrite& b) { return a.offset < b.offset; });
  RedoHeader& header = impl_->header;
  header.write_count = static_cast<std::uint32_t>(writes.size());
  const auto table = std::as_bytes(std::span(writes));
  header.table_checksum = plain_checksum(table);
  // Never write a journal that a reader would refuse.
  if (!parse_redo_header(to_bytes(header), header.kind) || !is_table_good(header, writes)) {
    return invalid(impl_->path, " has writes that overlap, end beyond ", header.shard_file_bytes,
                   " bytes or omit the headers");
  }
  CALPE_CHECK(impl_->file->write_at(table, header.table_offset()));
  CALPE_CHECK(impl_->file->sync());
  impl_->is_sealed = true;
  return Done{};
}

const std::vector<RedoWrite>& RedoWriter::writes() const noexcept {
  return impl_->writes;
}

Status RedoWriter::finish() {
  if (!impl_->is_sealed) CALPE_CHECK(seal());
  CALPE_CHECK(impl_->file->write_at(to_bytes(impl_->header), 0));
  CALPE_CHECK(impl_->file->sync());
  CALPE_CHECK(impl_->files.sync_folder(folder_of(impl_->path)));
  impl_->file.reset();
  impl_->is_finished = true;
  return Done{};
}

Result<std::optional<RedoJournal>> read_redo_journal(File& journal, JournalKind kind) {
  std::optional<RedoJournal> none;
  HeaderBytes bytes = {};
  CALPE_TRY(const std::uint64_t size, journal.size());
  CALPE_TRY(const std::size_t got, journal.read_at(bytes, 0));
  const std::optional<RedoHeader> header = parse_redo_header(std::span(bytes).first(got), kind);
  if (!header || header->journal_bytes() != size) return none;
  RedoJournal read = {.uuid = header->uuid,
                      .before = header->before,
                      .after = header->after,
                      .shard_index = header->shard_index,
                      .shard_file_bytes = header->shard_file_bytes,
                      .writes = {}};
  read.writes.resize(header->write_count);  // checked: the file is long enough
  const auto table = std::as_writable_bytes(std::span(read.writes));
  CALPE_TRY(const std::size_t table_got, journal.read_at(table, header->table_offset()));
  if (table_got != table.size() || plain_checksum(table) != header->table_checksum ||
      !is_table_good(*header, read.writes)) {
    return none;
  }
  return std::optional<RedoJournal>(std::move(read));
}

}  // namespace calpe::store
