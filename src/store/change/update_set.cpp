// SPDX-License-Identifier: Apache-2.0
#include "store/change/update_set.hpp"

#include <memory>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/change/content_equals.hpp"
#include "store/change/generation_update.hpp"
#include "store/find/held_set.hpp"
#include "store/find/older_generations.hpp"
#include "store/read/report.hpp"
#include "store/read/root_check.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::store {

namespace {

// Refuses missing or damaged shards, which would stay in the old generation. NewGeneration refuses
// copies, because repair does not remove them.
Status check_whole(const FoundSet& set) {
  for (std::size_t i = 0; i < set.shards.size(); ++i) {
    if (set.shards[i].empty()) {
      return make_error(ErrorCode::corrupt, "shard ", i, " is missing; run calpe repair first");
    }
    for (const FoundShard& shard : set.shards[i]) {
      if (shard.front_header_good && shard.back_header_good && is_size_good(set.header, shard)) {
        continue;
      }
      return make_error(ErrorCode::corrupt, shard.path,
                        " has a damaged header or a wrong size; run calpe repair first");
    }
  }
  return Done{};
}

// Damaged shards are not proven either.
Status check_proven(const FoundSet& set) {
  for (const auto& copies : set.shards) {
    for (const FoundShard& shard : copies) {
      if (!shard.is_distrusted) continue;
      return make_error(ErrorCode::corrupt, shard.path,
                        " does not match its root; run calpe repair first");
    }
  }
  return Done{};
}

Status check_kinds(const Manifest& before, const Manifest& after, const std::string& source) {
  if (is_stream(before)) {
    return invalid("the set was made from standard input and cannot be updated; ",
                   "protect it again with --overwrite");
  }
  if (is_single_file(before) == is_single_file(after)) return Done{};
  return invalid(shown_path(source), is_single_file(after) ? " is a file" : " is a directory",
                 ", but the set protects a ", is_single_file(before) ? "file" : "directory",
                 "; give the source that was protected");
}

class Update {
 public:
  Update(FileSystem& files, const FoundSet& set, const std::string& source,
         const UpdateOptions& options, ScannedTree tree)
      : files_(files), set_(set), source_(source), options_(options), tree_(std::move(tree)) {}

  Result<UpdateReport> run() {
    report_.header = set_.header;
    report_.skipped = tree_.skipped;
    report_.unused_exclude = tree_.unused_exclude;
    CALPE_TRY(SetReader reader, SetReader::open(files_, set_, options_.jobs));
    CALPE_TRY(const Manifest before, reader.manifest());
    CALPE_CHECK(check_kinds(before, tree_.manifest, source_));
    CALPE_TRY(const TreeDifference difference, compare(reader, before));
    tell(before, difference);
    const Removal removal = removal_of(before, tree_.manifest, difference);
    report_.removed_percent = removal.percent();
    if (!options_.dry_run) {
      CALPE_CHECK(check_removal(removal, source_, options_.removed_percent_max));
    }
    CALPE_TRY(const Placement placement, place_files(before, tree_.manifest, difference));
    report_.data_bytes = placement.data_bytes;
    report_.unused_bytes = placement.unused_bytes;
    if (difference.is_none() || options_.dry_run) return std::move(report_);
    CALPE_CHECK(check_whole(set_));
    CALPE_CHECK(write(reader.codec(), placement));
    return std::move(report_);
  }

 private:
  Result<TreeDifference> compare(SetReader& reader, const Manifest& before) {
    if (!options_.checksum) return compare_trees(before, tree_.manifest);
    const std::vector<Entry>& after = tree_.manifest.entries;
    std::uint64_t all = 0;
    for (const Entry& entry : after) {
      all += entry.file_bytes;
    }
    std::uint64_t done = 0;
    return compare_trees(before, tree_.manifest, [&](std::size_t a, std::size_t b) -> Result<bool> {
      CALPE_TRY(const bool is_same,
                is_same_content(reader, before.entries[a], tree_files_, b, after[b]));
      done += after[b].file_bytes;
      if (options_.on_progress) options_.on_progress(done, all);
      return is_same;
    });
  }

  void tell(const Manifest& before, const TreeDifference& difference) {
    for (std::size_t i = 0; i < difference.entries.size(); ++i) {
      const std::string& path = tree_.manifest.entries[i].path;
      switch (difference.entries[i].change) {
        case EntryChange::unchanged:
          ++report_.unchanged;
          break;
        case EntryChange::metadata:
          report_.metadata.push_back(path);
          break;
        case EntryChange::changed:
          report_.changed.push_back(path);
          break;
        case EntryChange::added:
          report_.added.push_back(path);
          break;
      }
    }
    for (const std::size_t i : difference.removed) {
      report_.removed.push_back(before.entries[i].path);
    }
  }

  Result<ShardHeader> header_after(std::uint64_t data_bytes, std::uint64_t manifest_bytes) const {
    if (manifest_bytes > manifest_bytes_max) {
      return make_error(ErrorCode::io, shown_path(source_), ": the manifest has ", manifest_bytes,
                        " bytes; expected at most ", manifest_bytes_max);
    }
    ShardHeader after = set_.header;
    after.manifest_offset = data_bytes;
    after.manifest_bytes = manifest_bytes;
    after.content_bytes = data_bytes + manifest_bytes;
    after.stripe_count = divide_up(after.content_bytes, stripe_bytes());
    return after;
  }

  std::uint64_t stripe_bytes() const {
    return std::uint64_t{set_.header.spec.data_shards} * set_.header.block_bytes;
  }

  Status write(const Codec& codec, const Placement& placement) {
    const std::vector<std::byte> manifest = to_bytes(placement.manifest);
    CALPE_TRY(const ShardHeader after, header_after(placement.data_bytes, manifest.size()));
    ChangedContent content(placement, manifest, tree_files_,
                           {.stripe_bytes = stripe_bytes(),
                            .stripe_count = after.stripe_count,
                            .content_bytes_before = set_.header.content_bytes});
    CALPE_TRY(const OpenSet shards, OpenSet::open(files_, set_));
    const auto helpers =
        options_.jobs > 1 ? std::make_unique<ThreadPool>(options_.jobs - 1) : nullptr;
    StripeUpdate stripes(shards, codec, content, helpers.get());
    CALPE_TRY(const auto generation, NewGeneration::begin(files_, set_, after, options_.key,
                                                          {.count = options_.older_kept}));
    CALPE_CHECK(write_stripes(stripes, content, *generation));
    CALPE_CHECK(content.finish());
    CALPE_CHECK(generation->commit());
    report_.header = generation->header();
    CALPE_TRY(const auto undo, list_undo_journals(files_, set_.header.uuid, shard_folders(set_)));
    for (const UndoJournal& journal : undo) {
      report_.undo_bytes += journal.bytes;
    }
    report_.stripes = stripes.counts();
    report_.file_bytes_read = tree_files_.bytes_read();
    report_.block_bytes_written = stripes.counts().blocks_written * set_.header.block_bytes;
    return Done{};
  }

  Status write_stripes(StripeUpdate& stripes, const ChangedContent& content,
                       NewGeneration& generation) {
    const TakeBlocks take = [&](ShardIndex shard, std::uint64_t first,
                                std::span<const std::byte> blocks) {
      return generation.write_blocks(shard, first, blocks);
    };
    const std::uint64_t all = content.stripes().count() * stripe_bytes();
    std::uint64_t done = 0;
    for (const StripeRun& run : content.stripes().runs()) {
      for (std::uint64_t stripe = run.first_stripe; stripe < run.end();) {
        const StripeRun part = stripes.next_run(stripe, run.end());
        CALPE_CHECK(stripes.update(part, take));
        stripe = part.end();
        done += part.stripe_count * stripe_bytes();
        if (options_.on_progress) options_.on_progress(done, all);
      }
    }
    return Done{};
  }

  FileSystem& files_;
  const FoundSet& set_;
  const std::string& source_;
  const UpdateOptions& options_;
  ScannedTree tree_;
  TreeFiles tree_files_{tree_};
  UpdateReport report_;
};

}  // namespace

Result<UpdateReport> update_set(FileSystem& files, const FoundSet& set, const std::string& source,
                                const UpdateOptions& options) {
  return guarded([&]() -> Result<UpdateReport> {
    CALPE_TRY(const auto held,
              hold_found_set(files, set, options.dry_run ? LockKind::shared : LockKind::exclusive));
    CALPE_TRY(ScannedTree tree, scan_tree(source, {.exclude = options.exclude}));
    const bool is_proof_needed = set.header.root_kind != RootKind::none && !options.dry_run;
    if (!is_proof_needed) return Update(*held, set, source, options, std::move(tree)).run();
    // If nothing changed, nothing is signed and not everything has to be read.
    UpdateOptions looking = options;
    looking.dry_run = true;
    CALPE_TRY(UpdateReport seen, Update(*held, set, source, looking, std::move(tree)).run());
    if (!seen.is_anything_changed()) return seen;
    // The new root covers old blocks and values computed from them, so use only proven ones.
    CALPE_TRY(const FoundSet proven, distrust_unproven(*held, set, options.jobs));
    CALPE_CHECK(check_proven(proven));
    CALPE_TRY(tree, scan_tree(source, {.exclude = options.exclude}));
    return Update(*held, proven, source, options, std::move(tree)).run();
  });
}

}  // namespace calpe::store
