// SPDX-License-Identifier: Apache-2.0
#include "store/change/update_in_place.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/try.hpp"
#include "store/change/generation_update.hpp"
#include "store/change/in_place_stripes.hpp"
#include "store/change/reencode_originals.hpp"
#include "store/change/renamed_originals.hpp"
#include "store/find/held_set.hpp"
#include "store/find/older_generations.hpp"
#include "store/io/names.hpp"
#include "store/read/in_place_check.hpp"
#include "store/read/report.hpp"
#include "store/repair/finish_replacement.hpp"

namespace calpe::store {

namespace {

// Requires every parity file once, with good tables. Its blocks are not read.
bool is_parity_complete(const OpenSet& shards) {
  const ShardHeader& header = shards.header();
  for (std::size_t i = header.spec.data_shards; i < shards.shard_count(); ++i) {
    const auto copies = shards.copies_of(i);
    if (copies.size() != 1) return false;
    const ShardCopy& copy = copies.front();
    const bool is_good = copy.found.journal.empty() && !is_temporary(copy.found.path) &&
                         is_whole(header, copy.found, {}) && shards.is_padding_good(copy);
    if (!is_good) return false;
  }
  return true;
}

// Bytes of unchanged files that share a block with changed ones, where the block as it was cannot
// be rebuilt.
enum class Unchecked : std::uint8_t { refused, accepted };

class InPlace {
 public:
  InPlace(FileSystem& files, const FoundSet& set, OriginalSource& source,
          const UpdateOriginalsOptions& options, Unchecked unchecked)
      : files_(files), set_(set), source_(source), options_(options), unchecked_(unchecked) {}

  // True after run() if it refused unchecked bytes. The source must then be opened again.
  bool needs_check() const noexcept { return needs_check_; }

  // Returns nullopt if needs_check(). Returns nullopt, and leaves the source as it is, if
  // everything must be encoded.
  Result<std::optional<UpdatedOriginals>> run() {
    const std::optional<UpdatedOriginals> none;
    if (set_.header.root_kind != RootKind::none) return none;
    CALPE_TRY(const OpenSet shards, OpenSet::open(files_, set_, MovedBytes::ignored));
    if (shards.originals() == nullptr || !is_parity_complete(shards)) return none;
    const Manifest& before = shards.originals()->manifest();
    CALPE_TRY(const TreeDifference difference,
              compare_with_originals(*shards.originals(), source_, options_.dry_run));
    CALPE_CHECK(check_times(before, difference));
    report(before, difference);
    const Removal removal = removal_of(before, source_.manifest(), difference);
    updated_.removed_percent = removal.percent();
    if (difference.is_none() || options_.dry_run) return std::optional(std::move(updated_));
    CALPE_CHECK(check_removal(removal, set_.original, options_.removed_percent_max));
    CALPE_CHECK(source_.set_digests(before.has_digests));
    CALPE_TRY(Placement placement, place_files(before, source_.manifest(), difference));
    const std::uint64_t content_bytes = std::max(set_.header.content_bytes, placement.data_bytes);
    const std::uint64_t unused_bytes =
        placement.unused_bytes + (content_bytes - placement.data_bytes);
    const std::uint64_t stripe_bytes =
        std::uint64_t{set_.header.spec.data_shards} * set_.header.block_bytes;
    if (divide_up(content_bytes, stripe_bytes) != set_.header.stripe_count ||
        unused_bytes > content_bytes / 2) {
      return none;
    }
    const std::vector<ContentRange> ranges = ranges_to_read(before, difference, placement);
    CALPE_CHECK(source_.place(std::move(placement)));
    const Status written = write(shards, difference, ranges, content_bytes);
    // A check of all files knows what can be repaired, and which file of a block is damaged.
    needs_check_ = needs_check_ || (!written && written.error().code == ErrorCode::corrupt &&
                                    unchecked_ == Unchecked::refused);
    if (needs_check_) return none;
    CALPE_CHECK(written);
    return std::optional(std::move(updated_));
  }

 private:
  // Nothing that is meant to write a file leaves its time as it was.
  Status check_times(const Manifest& before, const TreeDifference& difference) const {
    const auto& entries = source_.manifest().entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const EntryDifference& found = difference.entries[i];
      if (found.change != EntryChange::changed || !found.before) continue;
      const bool is_file = entries[i].type == EntryType::file;
      if (is_file && is_same_time(before.entries[*found.before], entries[i])) {
        return original_damaged(source_.shown(i), false);
      }
    }
    return Done{};
  }

  void report(const Manifest& before, const TreeDifference& difference) {
    updated_.header = set_.header;
    updated_.skipped = source_.skipped();
    for (std::size_t i = 0; i < difference.entries.size(); ++i) {
      const std::string& path = source_.manifest().entries[i].path;
      switch (difference.entries[i].change) {
        case EntryChange::unchanged:
          break;
        case EntryChange::metadata:
          updated_.metadata.push_back(path);
          break;
        case EntryChange::changed:
          updated_.changed.push_back(path);
          break;
        case EntryChange::added:
          updated_.added.push_back(path);
          break;
      }
    }
    for (const std::size_t i : difference.removed)
      updated_.removed.push_back(before.entries[i].path);
  }

  // Where bytes may have changed: those of changed files, and those that no file has any more.
  static std::vector<ContentRange> ranges_to_read(const Manifest& before,
                                                  const TreeDifference& difference,
                                                  const Placement& placement) {
    std::vector<bool> is_kept(before.entries.size());
    for (const EntryDifference& entry : difference.entries) {
      if (entry.before && entry.keeps_bytes()) is_kept[*entry.before] = true;
    }
    std::vector<ContentRange> ranges;
    for (std::size_t i = 0; i < before.entries.size(); ++i) {
      if (!is_kept[i]) add_data(before.entries[i], ranges);
    }
    for (const PlacedPiece& piece : placement.pieces)
      ranges.push_back({piece.content_offset, piece.content_offset + piece.bytes});
    return merged(std::move(ranges));
  }

  Status write(const OpenSet& shards, const TreeDifference& difference,
               std::span<const ContentRange> ranges, std::uint64_t content_bytes) {
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set_.header));
    const std::uint64_t first_bytes = total_bytes(ranges);
    const std::vector<bool> is_kept = keep_digests(shards.originals()->manifest(), difference);
    std::vector<bool> is_wanted = is_kept;
    is_wanted.flip();
    source_.collect_digests(is_wanted);
    OldChecksums old(*shards.originals());
    CALPE_TRY(const ChangedBlocks changed,
              find_changed_blocks(source_, old, set_.header, ranges,
                                  [&](std::uint64_t done, std::uint64_t all) { tell(done, all); }));
    drop_unchanged(shards.originals()->manifest(), difference, changed);
    ShardHeader after = set_.header;
    after.content_bytes = content_bytes;
    after.manifest_bytes = source_.manifest_bytes();
    CALPE_TRY(const auto generation, NewGeneration::begin(files_, set_, after));
    CALPE_CHECK(source_.finish_digests());
    CALPE_CHECK(generation->write_manifest(to_bytes(source_.manifest())));
    ThreadPool helpers(options_.jobs > 1 ? options_.jobs - 1 : 0);
    OriginalStripes stripes(shards, coder, source_, old, changed, is_kept, helpers);
    const std::uint64_t stripe_bytes =
        std::uint64_t{set_.header.spec.data_shards} * set_.header.block_bytes;
    CALPE_CHECK(stripes.update(
        [&](ShardIndex shard, std::uint64_t first, std::span<const std::byte> blocks) {
          return generation->write_blocks(shard, first, blocks);
        },
        [&](std::uint64_t done, std::uint64_t all) {
          tell(first_bytes + done * stripe_bytes, first_bytes + all * stripe_bytes);
        }));
    CALPE_CHECK(check_digests(stripes.unchecked()));
    CALPE_CHECK(source_.check_all());
    const bool is_any_unchecked = !source_.manifest().has_digests && !stripes.unchecked().empty();
    needs_check_ = unchecked_ == Unchecked::refused && is_any_unchecked;
    if (needs_check_) return Done{};
    CALPE_CHECK(generation->commit());
    if (is_any_unchecked) {
      for (const std::size_t entry : stripes.unchecked())
        updated_.unchecked.push_back(source_.manifest().entries[entry].path);
    }
    updated_.header = generation->header();
    updated_.stripes_encoded = stripes.stripes();
    updated_.file_bytes_read = source_.bytes_read();
    for (const auto& copies : set_.shards) {
      for (const FoundShard& shard : copies)
        updated_.paths.push_back(shard.path);
    }
    return Done{};
  }

  // Returns which entries keep their bytes, and so their digests.
  std::vector<bool> keep_digests(const Manifest& before, const TreeDifference& difference) {
    std::vector<bool> is_kept;
    for (std::size_t i = 0; i < difference.entries.size(); ++i) {
      const EntryDifference& found = difference.entries[i];
      is_kept.push_back(found.keeps_bytes());
      if (!found.before || !is_kept.back()) continue;
      source_.manifest().entries[i].digest = before.entries[*found.before].digest;
    }
    return is_kept;
  }

  // Checks files whose blocks cannot be compared.
  Status check_digests(const std::set<std::size_t>& entries) {
    if (!source_.manifest().has_digests) return Done{};
    for (const std::size_t entry : entries) {
      CALPE_TRY(const std::uint64_t digest, source_.digest_of(entry));
      if (digest == source_.manifest().entries[entry].digest) continue;
      return original_damaged(source_.shown(entry), true, DamageCure::none);
    }
    return Done{};
  }

  // A file with another time may have the same bytes.
  void drop_unchanged(const Manifest& before, const TreeDifference& difference,
                      const ChangedBlocks& changed) {
    const auto is_other = [&](const Entry& entry) {
      return std::any_of(entry.extents.begin(), entry.extents.end(), [&](const Extent& extent) {
        return changed.overlaps(extent.content_offset, extent.bytes, set_.header.block_bytes);
      });
    };
    const auto& entries = source_.manifest().entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const EntryDifference& found = difference.entries[i];
      if (found.change != EntryChange::changed || !found.before) continue;
      const Entry& was = before.entries[*found.before];
      if (was.file_bytes != entries[i].file_bytes || is_other(was) || is_other(entries[i]))
        continue;
      std::erase(updated_.changed, entries[i].path);
      updated_.metadata.push_back(entries[i].path);
    }
  }

  void tell(std::uint64_t done, std::uint64_t all) const {
    if (options_.on_progress) options_.on_progress(done, all);
  }

  FileSystem& files_;
  const FoundSet& set_;
  OriginalSource& source_;
  const UpdateOriginalsOptions& options_;
  Unchecked unchecked_;
  bool needs_check_ = false;
  UpdatedOriginals updated_;
};

Result<UpdatedOriginals> update_held(HeldFiles& files, const FoundSet& set,
                                     const UpdateOriginalsOptions& options) {
  CALPE_TRY(auto source, OriginalSource::open(set.original));
  if (!options.checksum) {
    InPlace in_place(files, set, *source, options, Unchecked::refused);
    CALPE_TRY(std::optional<UpdatedOriginals> updated, in_place.run());
    if (updated) return *std::move(updated);
    if (!in_place.needs_check()) return reencode_originals(files, set, *source, options, {});
    // A check of all files finds more: it also looks for old blocks at other places.
    CALPE_TRY(source, OriginalSource::open(set.original));
  }
  return reencode_originals(files, set, *source, options, [&] {
    return InPlace(files, set, *source, options, Unchecked::accepted).run();
  });
}

}  // namespace

Result<UpdatedOriginals> update_originals(FileSystem& files, const FoundSet& set,
                                          const UpdateOriginalsOptions& options) {
  return guarded([&]() -> Result<UpdatedOriginals> {
    CALPE_TRY(const auto held,
              hold_found_set(files, set, options.dry_run ? LockKind::shared : LockKind::exclusive));
    CALPE_TRY(UpdatedOriginals updated, update_held(*held, set, options));
    if (options.dry_run) return updated;
    // Every parity file has its name now: those that an interrupted update was replacing can go.
    const std::set<std::string> folders = shard_folders(set);
    CALPE_CHECK(hold_replaced(*held, updated.header, folders));
    CALPE_CHECK(remove_replaced(*held, updated.header, folders, {folders.begin(), folders.end()}));
    return updated;
  });
}

}  // namespace calpe::store
