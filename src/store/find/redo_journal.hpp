// SPDX-License-Identifier: Apache-2.0
// Redo journal: the new state of a shard, written next to it before it is changed (docs/format.md,
// "A new generation").
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

// ".calpe-UUID-sNNN-GENERATION.redo" in the directory of the shard.
std::string redo_journal_path(const std::string& shard_path, const ShardHeader& after);

class RedoWriter {
 public:
  // Fails with io.
  static Result<std::unique_ptr<RedoWriter>> create(FileSystem& files,
                                                    const std::string& shard_path,
                                                    const ShardHeader& before,
                                                    const ShardHeader& after);
  ~RedoWriter();  // removes the journal unless finished
  RedoWriter(const RedoWriter&) = delete;
  RedoWriter& operator=(const RedoWriter&) = delete;

  Status add(std::uint64_t offset, std::span<const std::byte> bytes);  // in any order
  Status finish();  // makes it durable; invalid_argument if writes overlap

 private:
  struct Impl;
  explicit RedoWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns nullopt if the journal has no good header; checks all fields. Fails with io.
Result<std::optional<RedoJournal>> read_redo_journal(File& journal);

// Opens the shard as if all writes had been applied, for reading only.
std::unique_ptr<File> make_redone_file(std::unique_ptr<File> shard, std::unique_ptr<File> journal,
                                       RedoJournal writes);

// Applies the writes in the order of the format and removes the journal. May be repeated.
Status redo_shard(FileSystem& files, const std::string& shard_path,
                  const std::string& journal_path);

}  // namespace calpe::store
