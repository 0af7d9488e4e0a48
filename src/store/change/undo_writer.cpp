// SPDX-License-Identifier: Apache-2.0
#include "store/change/undo_writer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t saved_piece_bytes = std::size_t{1} << 18U;

// Copies ranges of the unchanged shard to its undo journal.
class Saving {
 public:
  Saving(File& shard, const ShardChange& change, RedoWriter& undo)
      : shard_(shard), undo_(undo), file_bytes_(shard_file_bytes(change.before)) {}

  Status run(std::span<const RedoWrite> writes, std::uint64_t new_file_bytes) {
    const std::uint64_t end = file_bytes_ - header_bytes;
    CALPE_CHECK(undo_.reserve(2 * header_bytes));
    CALPE_CHECK(copy(0, header_bytes));
    CALPE_CHECK(copy(end, file_bytes_));
    std::uint64_t done = header_bytes;
    for (const RedoWrite& write : writes) {
      const std::uint64_t from = std::max<std::uint64_t>(done, write.offset);
      const std::uint64_t to = std::min<std::uint64_t>(end, write.offset + write.bytes);
      if (from >= to) continue;
      CALPE_CHECK(copy(from, to));
      done = to;
    }
    return copy(std::max(done, new_file_bytes), end);
  }

 private:
  Status copy(std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      bytes_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(saved_piece_bytes, to - from)));
      CALPE_TRY(const std::size_t got, shard_.read_at(bytes_, from));
      if (got != bytes_.size()) {
        return make_error(ErrorCode::io, shard_.path(), " ends at byte ", from + got, "; expected ",
                          file_bytes_, " bytes");
      }
      CALPE_CHECK(undo_.add(from, bytes_));
      from += got;
    }
    return Done{};
  }

  File& shard_;
  RedoWriter& undo_;
  std::uint64_t file_bytes_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<std::string> write_undo_journal(FileSystem& files, File& shard, const ShardChange& change,
                                       std::span<const RedoWrite> writes) {
  CALPE_TRY(const auto undo,
            RedoWriter::create(files, change.path, change.before, change.after, JournalKind::undo));
  CALPE_CHECK(Saving(shard, change, *undo).run(writes, shard_file_bytes(change.after)));
  CALPE_CHECK(undo->finish());
  return redo_journal_path(change.path, change.after, JournalKind::undo);
}

}  // namespace calpe::store
