// SPDX-License-Identifier: Apache-2.0
// Presents a shard and its journal as one file.
#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/redo_journal.hpp"

namespace calpe::store {

namespace {

class RedoneFile final : public File {
 public:
  RedoneFile(std::unique_ptr<File> shard, std::unique_ptr<File> journal, RedoJournal redo)
      : shard_(std::move(shard)), journal_(std::move(journal)), redo_(std::move(redo)) {}

  const std::string& path() const noexcept override { return shard_->path(); }

  // Reads piece by piece: bytes in the journal are not read from the shard, where they may be
  // unreadable.
  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    if (offset >= redo_.shard_file_bytes) return std::size_t{0};
    bytes = bytes.first(static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), redo_.shard_file_bytes - offset)));
    auto write = std::upper_bound(
        redo_.writes.begin(), redo_.writes.end(), offset,
        [](std::uint64_t at, const RedoWrite& other) { return at < other.offset + other.bytes; });
    for (std::size_t done = 0; done < bytes.size();) {
      const std::uint64_t at = offset + done;
      const std::uint64_t left = bytes.size() - done;
      const bool is_over = write == redo_.writes.end();
      if (is_over || at < write->offset) {
        const std::uint64_t count = is_over ? left : std::min(left, write->offset - at);
        const auto piece = bytes.subspan(done, static_cast<std::size_t>(count));
        CALPE_TRY(const std::size_t got, shard_->read_at(piece, at));
        // The shard has not grown yet.
        std::fill(piece.begin() + static_cast<std::ptrdiff_t>(got), piece.end(), std::byte{0});
        done += piece.size();
        continue;
      }
      const std::uint64_t skipped = at - write->offset;
      const auto piece =
          bytes.subspan(done, static_cast<std::size_t>(std::min(left, write->bytes - skipped)));
      CALPE_TRY(const std::size_t got, journal_->read_at(piece, write->journal_offset + skipped));
      if (got != piece.size()) {
        return make_error(ErrorCode::io, journal_->path(),
                          " became shorter while it was being read");
      }
      done += piece.size();
      ++write;
    }
    return bytes.size();
  }

  Result<std::uint64_t> size() override { return redo_.shard_file_bytes; }

  // Bytes come from the journal, and from the shard between its writes.
  DataRange data_from(std::uint64_t offset) override {
    const auto write = std::upper_bound(
        redo_.writes.begin(), redo_.writes.end(), offset,
        [](std::uint64_t at, const RedoWrite& other) { return at < other.offset + other.bytes; });
    DataRange range = shard_->data_from(offset);
    if (write == redo_.writes.end()) return range;
    const std::uint64_t begin = std::max<std::uint64_t>(offset, write->offset);
    if (begin <= range.begin) return {begin, write->offset + write->bytes};
    range.end = std::min(range.end, begin);
    return range;
  }
  Status write_at(std::span<const std::byte>, std::uint64_t) override { return refuse(); }
  Status resize(std::uint64_t) override { return refuse(); }
  Status sync() override { return refuse(); }

 private:
  Status refuse() const {
    return invalid(path(), " has a redo journal that must be applied before it is changed");
  }

  std::unique_ptr<File> shard_;
  std::unique_ptr<File> journal_;
  RedoJournal redo_;
};

}  // namespace

std::unique_ptr<File> make_redone_file(std::unique_ptr<File> shard, std::unique_ptr<File> journal,
                                       RedoJournal writes) {
  return std::make_unique<RedoneFile>(std::move(shard), std::move(journal), std::move(writes));
}

}  // namespace calpe::store
