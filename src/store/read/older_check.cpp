// SPDX-License-Identifier: Apache-2.0
#include "store/read/older_check.hpp"

#include "base/allocation_guard.hpp"
#include "base/try.hpp"
#include "store/find/redo_journal.hpp"
#include "store/format/block_checksum.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::store {

namespace {

bool is_enough(const FoundSet& set) {
  const Result<StripeCoder> coder = StripeCoder::make(set.header);
  std::vector<std::uint8_t> present;
  for (const auto& copies : set.shards) {
    present.push_back(copies.empty() ? 0 : 1);
  }
  return coder && coder->can_rebuild(present);
}

// Returns 0 for a file that cannot be read.
std::uint64_t size_of(FileSystem& files, const std::string& path) {
  const Result<std::unique_ptr<File>> file = files.open(path);
  if (!file) return 0;
  const Result<std::uint64_t> bytes = (*file)->size();
  return bytes ? *bytes : 0;
}

// A shard that still is of the older generation needs no journal.
bool has_good_copy(FileSystem& files, const std::vector<FoundShard>& copies) {
  for (const FoundShard& shard : copies) {
    if (shard.undo.empty() || is_journal_good(files, shard.undo.back())) return true;
  }
  return false;
}

}  // namespace

bool is_journal_good(FileSystem& files, const std::string& path) {
  const Result<std::unique_ptr<File>> journal = files.open(path);
  if (!journal) return false;
  const Result<std::optional<RedoJournal>> undo = read_redo_journal(**journal, JournalKind::undo);
  if (!undo || !*undo) return false;
  std::vector<std::byte> bytes;
  for (const RedoWrite& write : (*undo)->writes) {
    bytes.resize(write.bytes);
    const Result<std::size_t> got = (*journal)->read_at(bytes, write.journal_offset);
    if (!got || *got != bytes.size() || plain_checksum(bytes) != write.checksum) return false;
  }
  return true;
}

Result<std::vector<OlderGeneration>> check_older(FileSystem& files,
                                                 const std::vector<FoundSet>& kept,
                                                 bool reads_all) {
  return guarded([&]() -> Result<std::vector<OlderGeneration>> {
    std::vector<OlderGeneration> all;
    for (const FoundSet& set : kept) {
      OlderGeneration older = {.set = set, .is_restorable = is_enough(set)};
      for (std::size_t index = 0; index < set.shards.size(); ++index) {
        const auto& copies = set.shards[index];
        const auto shard = static_cast<ShardIndex>(index);
        if (copies.empty()) older.missing.push_back(shard);
        for (const FoundShard& copy : copies) {
          if (copy.undo.empty()) continue;
          older.undo_bytes += size_of(files, copy.undo.back());
        }
        if (reads_all && !copies.empty() && !has_good_copy(files, copies)) {
          older.damaged.push_back(shard);
        }
      }
      all.push_back(std::move(older));
    }
    return all;
  });
}

}  // namespace calpe::store
