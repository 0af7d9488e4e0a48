// SPDX-License-Identifier: Apache-2.0
// Applies a redo journal to its shard.
#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/redo_journal.hpp"
#include "store/find/shard_probe.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

namespace {

Status check_is_meant(FileSystem& files, const std::string& shard_path,
                      const std::string& journal_path, const RedoJournal& journal) {
  CALPE_TRY(const std::optional<FoundFile> found, look_at_file(files, shard_path));
  const bool is_meant =
      found && found->header.uuid == journal.uuid &&
      found->header.shard_index == journal.shard_index &&
      (found->header.generation == journal.before || found->header.generation == journal.after);
  if (is_meant) return Done{};
  return invalid(journal_path, " belongs to another shard or generation than ", shard_path);
}

// Skips writes with damaged bytes in the journal. The old bytes in the shard do not match the new
// checksums, so they are found and repaired from the other shards.
Status do_write(File& journal, const RedoWrite& write, File& shard, std::vector<std::byte>& bytes) {
  bytes.resize(write.bytes);
  CALPE_TRY(const std::size_t got, journal.read_at(bytes, write.journal_offset));
  if (got != bytes.size() || plain_checksum(bytes) != write.checksum) return Done{};
  return shard.write_at(bytes, write.offset);
}

}  // namespace

Status redo_shard(FileSystem& files, const std::string& shard_path,
                  const std::string& journal_path) {
  return guarded([&]() -> Status {
    CALPE_TRY(std::unique_ptr<File> journal, files.open(journal_path));
    CALPE_TRY(const std::optional<RedoJournal> redo, read_redo_journal(*journal));
    if (!redo)
      return make_error(ErrorCode::corrupt, journal_path, " is not a complete redo journal");
    CALPE_CHECK(check_is_meant(files, shard_path, journal_path, *redo));
    CALPE_TRY(std::unique_ptr<File> shard, files.open_to_change(shard_path));
    std::vector<std::byte> bytes;
    CALPE_CHECK(do_write(*journal, redo->writes.front(), *shard, bytes));
    CALPE_CHECK(shard->sync());
    CALPE_TRY(const std::uint64_t present, shard->size());
    if (present != redo->shard_file_bytes) CALPE_CHECK(shard->resize(redo->shard_file_bytes));
    for (const RedoWrite& write : std::span(redo->writes).subspan(1)) {
      CALPE_CHECK(do_write(*journal, write, *shard, bytes));
    }
    CALPE_CHECK(shard->sync());
    journal.reset();
    return files.remove(journal_path);
  });
}

}  // namespace calpe::store
