// SPDX-License-Identifier: Apache-2.0
// Journals of a shard, written next to it before it is changed (docs/format.md, "A new
// generation"): the redo journal has its new state, the undo journal what is needed to return to
// its old state.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/format/redo_layout.hpp"
#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"

namespace calpe::store {

// ".calpe-UUID-sNNN-GENERATION.redo", or .undo, in the directory of the shard.
std::string redo_journal_path(const std::string& shard_path, const ShardHeader& after,
                              JournalKind kind = JournalKind::redo);

class RedoWriter {
 public:
  // Fails with io.
  static Result<std::unique_ptr<RedoWriter>> create(FileSystem& files,
                                                    const std::string& shard_path,
                                                    const ShardHeader& before,
                                                    const ShardHeader& after,
                                                    JournalKind kind = JournalKind::redo);
  // The same under another name.
  static Result<std::unique_ptr<RedoWriter>> create_at(FileSystem& files, const std::string& path,
                                                       const ShardHeader& before,
                                                       const ShardHeader& after, JournalKind kind);
  ~RedoWriter();  // removes the journal unless finished
  RedoWriter(const RedoWriter&) = delete;
  RedoWriter& operator=(const RedoWriter&) = delete;

  // Lets the file end with a zero after this number of bytes, which must come first: the headers
  // of a shard. Otherwise versions without undo journals could take an incomplete one for a shard.
  Status reserve(std::uint64_t data_bytes);
  Status add(std::uint64_t offset, std::span<const std::byte> bytes);  // in any order
  // Makes everything durable except for the header. No more writes can be added. Fails with
  // invalid_argument if writes overlap.
  Status seal();
  const std::vector<RedoWrite>& writes() const noexcept;  // after seal(): ascending
  Status finish();  // makes it complete and durable; seals it if needed

 private:
  struct Impl;
  explicit RedoWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns nullopt if the journal has no good header; checks all fields. Fails with io.
Result<std::optional<RedoJournal>> read_redo_journal(File& journal,
                                                     JournalKind kind = JournalKind::redo);

// Opens the shard as if all writes of a journal of either kind had been applied, for reading only.
std::unique_ptr<File> make_redone_file(std::unique_ptr<File> shard, std::unique_ptr<File> journal,
                                       RedoJournal writes);

// Applies the writes in the order of the format and removes the journal. May be repeated.
Status redo_shard(FileSystem& files, const std::string& shard_path,
                  const std::string& journal_path);

}  // namespace calpe::store
