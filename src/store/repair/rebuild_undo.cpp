// SPDX-License-Identifier: Apache-2.0
#include "store/repair/rebuild_undo.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/held_set.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/journal_overlay.hpp"
#include "store/find/older_generations.hpp"
#include "store/find/redo_journal.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "store/io/names.hpp"
#include "store/read/older_check.hpp"
#include "store/read/root_check.hpp"
#include "store/read/set_reader.hpp"
#include "store/read/set_roots.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view new_undo_ending = ".undo.new";
// Memory limit for the blocks of one run.
constexpr std::uint64_t rebuilt_run_bytes = std::uint64_t{1} << 24U;

// The newest set and those that its undo journals lead to, newest first.
std::vector<FoundSet> generations_of(const Findings& findings, const ShardHeader& newest) {
  std::vector<FoundSet> all;
  for (const FoundSet& set : findings.sets) {
    if (is_same_set(set.header, newest)) all.push_back(set);
  }
  for (FoundSet& older : kept_generations(findings, newest)) {
    all.push_back(std::move(older));
  }
  return all;
}

// One journal that is being rebuilt.
struct Rebuilding {
  ShardIndex index = 0;
  std::string path;
  std::string new_path;
  std::unique_ptr<File> newer;  // the shard of the next generation
  std::unique_ptr<RedoWriter> undo = {};
  ShardHeader header = {};  // of the older generation
  std::optional<ShardHasher> hasher = {};
  std::vector<LittleU64> page = {};
};

class UndoRebuild {
 public:
  UndoRebuild(FileSystem& files, const FoundSet& newer, const FoundSet& older)
      : files_(files), newer_(newer), older_(older), geometry_(geometry_of(older.header)) {}

  // Returns false if the older generation cannot be restored.
  Result<bool> run(std::vector<ShardIndex> shards) {
    CALPE_TRY(SetReader reader, SetReader::open(files_, older_));
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(older_.header));
    for (const ShardIndex index : shards) {
      CALPE_CHECK(begin(index));
    }
    wanted_ = std::move(shards);
    // The header comes first in the journal, so roots are needed before the blocks.
    const bool has_roots = older_.header.root_kind != RootKind::none;
    for (const bool is_writing : {false, true}) {
      if (!is_writing && !has_roots) continue;
      if (is_writing) CALPE_CHECK(add_headers());
      CALPE_TRY(const bool is_there, read_all(reader, coder, is_writing));
      if (!is_there) return false;
      if (!is_writing) CALPE_CHECK(find_roots());
    }
    for (Rebuilding& one : rebuilding_) {
      CALPE_CHECK(one.undo->finish());
      CALPE_CHECK(files_.rename(one.new_path, one.path));
      CALPE_CHECK(files_.sync_folder(folder_of(one.path)));
    }
    return true;
  }

  const std::vector<Rebuilding>& rebuilt() const noexcept { return rebuilding_; }

 private:
  Status begin(ShardIndex index) {
    const auto& copies = newer_.shards[index];
    Rebuilding one;
    one.index = index;
    ShardHeader after = newer_.header;
    after.shard_index = index;
    one.header = older_.header;
    one.header.shard_index = index;
    one.path = redo_journal_path(copies.front().path, after, JournalKind::undo);
    one.new_path = text(one.path, ".new");
    CALPE_TRY(one.newer, open_shard(files_, copies.front()));
    CALPE_TRY(one.undo,
              RedoWriter::create_at(files_, one.new_path, one.header, after, JournalKind::undo));
    if (one.header.root_kind != RootKind::none) one.hasher.emplace(one.header, index);
    rebuilding_.push_back(std::move(one));
    return Done{};
  }

  Status add_headers() {
    for (Rebuilding& one : rebuilding_) {
      const HeaderBytes header = to_bytes(one.header);
      CALPE_CHECK(one.undo->reserve(2 * header_bytes));
      CALPE_CHECK(one.undo->add(0, header));
      CALPE_CHECK(one.undo->add(shard_file_bytes(one.header) - header_bytes, header));
    }
    return Done{};
  }

  Result<bool> read_all(SetReader& reader, const StripeCoder& coder, bool is_writing) {
    const std::uint64_t stripe_bytes = older_.shards.size() * geometry_.block_bytes;
    const std::uint64_t count_max = std::max<std::uint64_t>(1, rebuilt_run_bytes / stripe_bytes);
    for (std::uint64_t stripe = 0; stripe < geometry_.stripe_count;) {
      const std::uint64_t in_group = group_stripes - stripe % group_stripes;
      const StripeRun run = {stripe,
                             std::min({geometry_.stripe_count - stripe, in_group, count_max})};
      CALPE_CHECK(reader.read_blocks(run, blocks_));
      for (std::uint64_t j = 0; j < run.stripe_count; ++j) {
        CALPE_TRY(const bool is_there, complete(coder, j));
        if (!is_there) return false;
      }
      for (Rebuilding& one : rebuilding_) {
        CALPE_CHECK(is_writing ? write(one, run) : hash(one, run));
      }
      stripe = run.end();
    }
    return true;
  }

  // Rebuilds the blocks of the missing shards. Returns false if the stripe is lost.
  Result<bool> complete(const StripeCoder& coder, std::uint64_t j) {
    std::vector<Shard> blocks;
    std::vector<std::uint8_t> good;
    for (std::size_t shard = 0; shard < blocks_.blocks.size(); ++shard) {
      blocks.emplace_back(blocks_.blocks[shard].data() + j * geometry_.block_bytes,
                          geometry_.block_bytes);
      good.push_back(blocks_.good[shard][j] ? 1 : 0);
    }
    // A damaged journal may still have this block.
    std::vector<ShardIndex> bad;
    std::copy_if(wanted_.begin(), wanted_.end(), std::back_inserter(bad),
                 [&](ShardIndex shard) { return good[shard] == 0; });
    if (bad.empty()) return true;
    CALPE_TRY(const Rebuilt rebuilt, coder.rebuild({blocks, good}, bad));
    return rebuilt == Rebuilt::done;
  }

  std::span<const std::byte> blocks_of(const Rebuilding& one, const StripeRun& run) const {
    return std::span(blocks_.blocks[one.index]).first(run.stripe_count * geometry_.block_bytes);
  }

  Status hash(Rebuilding& one, const StripeRun& run) {
    return one.hasher->add(blocks_of(one, run));
  }

  // The roots of the other shards are in their headers.
  Status find_roots() {
    std::vector<Digest> digests(older_.shards.size());
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (!older_.shards[i].empty()) digests[i] = older_.shards[i].front().root;
    }
    for (Rebuilding& one : rebuilding_) {
      CALPE_TRY(digests[one.index], one.hasher->finish());
    }
    CALPE_TRY(SetRoots roots, make_set_roots(older_.header, std::move(digests)));
    if (roots.set != older_.header.set_root) {
      return make_error(ErrorCode::corrupt, "generation ", older_.header.generation,
                        " does not match its root; its undo journals were not rebuilt");
    }
    roots.hmac = older_.header.hmac;
    for (Rebuilding& one : rebuilding_) {
      one.header = header_with_roots(one.header, roots, one.index);
    }
    return Done{};
  }

  Status write(Rebuilding& one, const StripeRun& run) {
    const auto blocks = blocks_of(one, run);
    for (std::uint64_t j = 0; j < run.stripe_count; ++j) {
      const std::uint64_t stripe = run.first_stripe + j;
      const auto block = blocks.subspan(j * geometry_.block_bytes, geometry_.block_bytes);
      one.page.push_back(block_checksum({.uuid = one.header.uuid,
                                         .generation = one.header.generation,
                                         .stripe = stripe,
                                         .shard = one.index},
                                        block));
      CALPE_CHECK(add_if_changed(one, geometry_.block_offset(stripe), block));
    }
    const bool is_end_of_group =
        run.end() % group_stripes == 0 || run.end() == geometry_.stripe_count;
    if (!is_end_of_group) return Done{};
    one.page.resize(group_stripes);
    const std::uint64_t first = (run.end() - 1) / group_stripes * group_stripes;
    CALPE_CHECK(
        one.undo->add(geometry_.checksum_offset(first), std::as_bytes(std::span(one.page))));
    one.page.clear();
    return Done{};
  }

  Status add_if_changed(Rebuilding& one, std::uint64_t offset, std::span<const std::byte> block) {
    now_.resize(block.size());
    CALPE_TRY(const std::size_t got, one.newer->read_at(now_, offset));
    if (got == now_.size() && std::equal(now_.begin(), now_.end(), block.begin())) return Done{};
    return one.undo->add(offset, block);
  }

  FileSystem& files_;
  const FoundSet& newer_;
  const FoundSet& older_;
  Geometry geometry_;
  std::vector<Rebuilding> rebuilding_;
  std::vector<ShardIndex> wanted_;  // ascending
  SetReader::Blocks blocks_;
  std::vector<std::byte> now_;
};

std::vector<ShardIndex> shards_to_rebuild(const OlderGeneration& older) {
  std::vector<ShardIndex> shards = older.missing;
  shards.insert(shards.end(), older.damaged.begin(), older.damaged.end());
  std::sort(shards.begin(), shards.end());
  return shards;
}

// A damaged journal in another directory may be found first and hide the new one. It has the same
// name, unless the user renamed it.
Status remove_superseded(FileSystem& files, const std::vector<std::string>& places,
                         const std::vector<FoundShard>& copies, const std::string& new_path) {
  std::set<std::string> paths;
  for (const FoundShard& copy : copies) {
    if (!copy.undo.empty()) paths.insert(copy.undo.back());
  }
  for (const std::string& place : places) {
    paths.insert(in_folder(place, name_of(new_path)));
  }
  for (const std::string& path : paths) {
    // The new one is good, also under another name of its directory.
    if (!files.open(path) || is_journal_good(files, path)) continue;
    CALPE_CHECK(files.remove(path));
  }
  return Done{};
}

}  // namespace

Result<UndoRepair> rebuild_undo_journals(FileSystem& files, const std::vector<std::string>& places,
                                         const ShardHeader& newest) {
  return guarded([&]() -> Result<UndoRepair> {
    UndoRepair report;
    // Each generation leads to the next older one, so find them again after each step.
    for (std::size_t step = 1;; ++step) {
      CALPE_TRY(const Findings findings, find_sets(files, places));
      const std::vector<FoundSet> all = generations_of(findings, newest);
      if (step >= all.size()) return report;
      CALPE_TRY(const auto held, hold_found_set(files, all.front(), LockKind::exclusive));
      CALPE_CHECK(
          remove_temporaries(*held, newest.uuid, shard_folders(all.front()), new_undo_ending));
      CALPE_TRY(const auto checked, check_older(*held, {all[step]}, true));
      const std::vector<ShardIndex> shards = shards_to_rebuild(checked.front());
      if (shards.empty()) continue;
      const bool is_based = std::none_of(shards.begin(), shards.end(), [&](ShardIndex shard) {
        return all[step - 1].shards[shard].empty();
      });
      if (!checked.front().is_restorable || !is_based) {
        report.lost.push_back(all[step].header.generation);
        continue;
      }
      UndoRebuild rebuild(*held, all[step - 1], all[step]);
      CALPE_TRY(const bool is_done, rebuild.run(shards));
      if (!is_done) {
        report.lost.push_back(all[step].header.generation);
        continue;
      }
      for (const Rebuilding& one : rebuild.rebuilt()) {
        report.files_created.push_back(one.path);
        CALPE_CHECK(remove_superseded(*held, places, all[step].shards[one.index], one.path));
      }
    }
  });
}

}  // namespace calpe::store
