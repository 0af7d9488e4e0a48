// SPDX-License-Identifier: Apache-2.0
#include "store/read/loss_margin.hpp"

#include <algorithm>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/older_generations.hpp"
#include "store/io/names.hpp"
#include "store/read/report.hpp"
#include "store/read/set_layout.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t kinds_max = 1000;  // kinds of damaged stripes that are told apart

// A set whose files all have temporary names counts as unfinished as soon as one is missing.
bool is_nothing_named(const FoundSet& set) {
  return std::all_of(set.shards.begin(), set.shards.end(), [](const auto& copies) {
    return std::all_of(copies.begin(), copies.end(),
                       [](const FoundShard& shard) { return is_temporary(shard.path); });
  });
}

// True if a shard has no good block in some stripe.
bool is_any_bad(const SetCopies& copies, std::size_t shard_count) {
  return std::any_of(copies.stripes.begin(), copies.stripes.end(), [&](const auto& stripe) {
    std::set<ShardIndex> good;
    for (std::size_t copy = 0; copy < stripe.size(); ++copy) {
      if (stripe[copy] != 0) good.insert(copies.shards[copy]);
    }
    return good.size() < shard_count;
  });
}

// No better than any of them.
std::vector<std::uint8_t> worst_of(const std::set<std::vector<std::uint8_t>>& kinds) {
  std::vector<std::uint8_t> worst = *kinds.begin();
  for (const std::vector<std::uint8_t>& kind : kinds) {
    std::transform(kind.begin(), kind.end(), worst.begin(), worst.begin(),
                   [](std::uint8_t a, std::uint8_t b) { return std::min(a, b); });
  }
  return worst;
}

// Adds a kind of stripe for each combination of damaged shards.
void add_damaged_kinds(SetCopies& copies, const ReadDamage& damage) {
  const std::vector<std::uint8_t> whole = copies.stripes.front();
  std::set<std::vector<std::uint8_t>> kinds;
  for (const DamagedRun& run : damaged_runs(damage)) {
    std::vector<std::uint8_t> kind = whole;
    for (std::size_t copy = 0; copy < kind.size(); ++copy) {
      if (run.shards.contains(copies.shards[copy])) kind[copy] = 0;
    }
    kinds.insert(std::move(kind));
    if (kinds.size() > kinds_max) kinds = {worst_of(kinds)};
  }
  copies.stripes.insert(copies.stripes.end(), kinds.begin(), kinds.end());
}

bool has_journal(const FoundSet& set) {
  return std::any_of(set.shards.begin(), set.shards.end(), [](const auto& copies) {
    return std::any_of(copies.begin(), copies.end(),
                       [](const FoundShard& shard) { return !shard.journal.empty(); });
  });
}

// A shard of an older generation is lost with any of its undo journals.
void add_undo(SetLayout& layout, const FoundSet& set, const std::vector<PlacedCopy>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const FoundShard& shard : set.shards[places[i].shard]) {
      if (shard.path != places[i].path) continue;
      for (const std::string& undo : shard.undo)
        layout.add_needed(i, undo, whereabouts);
    }
  }
}

// Adds the undo journals of the shards that are moved, each after its shard.
Result<std::vector<ShardMove>> with_undo(FileSystem& files, const FoundSet& set,
                                         const std::vector<ShardMove>& moves) {
  if (moves.empty()) return moves;
  CALPE_TRY(const std::vector<UndoJournal> journals,
            list_undo_journals(files, set.header.uuid, shard_folders(set)));
  std::vector<ShardMove> all;
  for (const ShardMove& move : moves) {
    all.push_back(move);
    CALPE_TRY(const std::vector<std::string> taken, files.list(folder_of(move.to)));
    for (const UndoJournal& journal : journals) {
      const auto& copies = set.shards[journal.shard_index];
      const bool is_of_shard =
          std::any_of(copies.begin(), copies.end(),
                      [&](const FoundShard& shard) { return shard.path == move.from; });
      const std::string_view name = name_of(journal.path);
      const bool is_there = std::find(taken.begin(), taken.end(), name) != taken.end();
      if (!is_of_shard || is_there) continue;
      all.push_back({.from = journal.path, .to = in_folder(folder_of(move.to), name)});
    }
  }
  return all;
}

void add_folders(std::vector<std::string>& folders, const FoundSet& set) {
  for (const auto& copies : set.shards) {
    for (const FoundShard& shard : copies) {
      folders.push_back(folder_of(shard.path));
    }
  }
}

}  // namespace

Result<std::optional<LossMargin>> margin_of(FileSystem& files, const FoundSet& set,
                                            const PlacedCopies& given,
                                            const std::vector<std::string>& named) {
  return guarded([&]() -> Result<std::optional<LossMargin>> {
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set.header));
    PlacedCopies copies = given;
    if (set.header.kind == SetKind::originals)
      copies.copies.first_listed = set.header.spec.data_shards;
    const auto shards = losses_survived(coder, copies.copies, groups_by_shard(copies.copies));
    if (!shards) return std::optional<LossMargin>();
    std::vector<std::string> folders = named;
    add_folders(folders, set);
    SetLayout layout(copies.places, folders, whereabouts);
    add_undo(layout, set, copies.places);
    LossMargin margin;
    margin.shard_count = set.shards.size();
    margin.directory_count = layout.used_directories();
    margin.device_count = layout.used_devices();
    if (!is_nothing_named(set)) {
      margin.shards = *shards;
      margin.losses = layout.losses(coder, copies.copies);
    }
    margin.needs_repair = is_any_bad(copies.copies, set.shards.size());
    margin.possible = margin.losses;
    // The data of kept originals is not moved.
    if (set.header.kind == SetKind::originals) return std::optional(margin);
    const SetLayout even = layout.spread_evenly(coder);
    const Losses at_best = even.losses_when_whole(coder);
    if (at_best.is_better_than(margin.losses)) margin.possible = at_best;
    // Moving a shard would leave its journal behind, so the change must be completed first.
    margin.needs_repair = margin.needs_repair || has_journal(set);
    if (margin.is_spread_badly() && !margin.needs_repair) {
      CALPE_TRY(const std::vector<ShardMove> moves, layout.moves_to(files, set, even, coder));
      CALPE_TRY(margin.moves, with_undo(files, set, moves));
    }
    return std::optional(std::move(margin));
  });
}

Result<std::optional<LossMargin>> margin_by_headers(FileSystem& files, const FoundSet& set,
                                                    const std::vector<std::string>& named,
                                                    const ReadDamage& damage) {
  return guarded([&]() -> Result<std::optional<LossMargin>> {
    if (set.header.kind == SetKind::originals) return std::optional<LossMargin>();
    PlacedCopies found;
    found.copies.stripes.resize(1);
    for (std::size_t index = 0; index < set.shards.size(); ++index) {
      for (const FoundShard& shard : set.shards[index]) {
        found.places.push_back({static_cast<ShardIndex>(index), shard.path});
        found.copies.shards.push_back(static_cast<ShardIndex>(index));
        const bool is_good = is_size_good(set.header, shard) && !shard.is_distrusted;
        found.copies.stripes.front().push_back(is_good ? 1 : 0);
      }
    }
    add_damaged_kinds(found.copies, damage);
    CALPE_TRY(auto margin, margin_of(files, set, found, named));
    if (margin) margin->basis = MarginBasis::headers;
    return margin;
  });
}

Result<std::vector<std::string>> choose_folders(const FoundSet& set, const StripeCoder& coder,
                                                const FolderChoice& choice,
                                                const std::vector<ShardIndex>& missing) {
  return guarded([&]() -> Result<std::vector<std::string>> {
    std::vector<PlacedCopy> placed;
    for (std::size_t index = 0; index < set.shards.size(); ++index) {
      for (const FoundShard& shard : set.shards[index]) {
        placed.push_back({static_cast<ShardIndex>(index), shard.path});
      }
    }
    // The original takes no shard, but parity next to it is lost with it.
    const bool has_original = set.header.kind == SetKind::originals && !set.original.empty();
    for (ShardIndex index = 0; has_original && index < set.header.spec.data_shards; ++index) {
      placed.push_back({index, set.original});
    }
    std::vector<std::string> folders = choice.targets;
    if (folders.empty()) {
      folders = choice.named;
      add_folders(folders, set);
    }
    return SetLayout(placed, folders, choice.locate).place(coder, missing);
  });
}

}  // namespace calpe::store
