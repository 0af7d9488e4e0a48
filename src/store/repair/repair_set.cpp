// SPDX-License-Identifier: Apache-2.0
#include "store/repair/repair_set.hpp"

#include <algorithm>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/held_set.hpp"
#include "store/find/unused_journals.hpp"
#include "store/read/loss_margin.hpp"
#include "store/read/new_shard_names.hpp"
#include "store/read/read_back_check.hpp"
#include "store/read/report.hpp"
#include "store/read/set_roots.hpp"
#include "store/repair/finish_repair.hpp"
#include "store/repair/finish_replacement.hpp"
#include "store/repair/repair_in_place.hpp"
#include "store/repair/repair_target.hpp"

namespace calpe::store {

namespace {

Status check_settled(const FoundSet& set) {
  for (const auto& copies : set.shards) {
    for (const FoundShard& shard : copies) {
      if (shard.journal.empty()) continue;
      return invalid(shard.path, " has a redo journal; call settle() first");
    }
  }
  return Done{};
}

class Repair {
 public:
  Repair(FileSystem& files, const FoundSet& set, OpenSet& shards, const StripeCoder& coder,
         const RepairOptions& options)
      : files_(files),
        set_(set),
        shards_(shards),
        coder_(coder),
        options_(options),
        helpers_(options.jobs > 1 ? options.jobs - 1 : 0),
        slots_(shards, &helpers_, true) {}

  Result<RepairReport> run() {
    CALPE_TRY(Survey survey, survey_set(shards_, coder_, Compared::damaged_stripes, &helpers_,
                                        [&](std::uint64_t done, std::uint64_t) { tell(done); }));
    report_.before = make_report(shards_, survey);
    CALPE_CHECK(check_worth_repairing(survey));
    if (report_.before.is_good()) return end_repair(files_, shards_, std::move(report_));
    if (has_roots()) CALPE_CHECK(prove(survey));
    // Open all files before the first write, so that an open error leaves no half-done repair.
    CALPE_CHECK(open_targets(survey));
    for (const auto& target : targets_) {
      if (target) CALPE_CHECK(target->begin());
    }
    StripeRanges everything;
    everything.add_run({.first_stripe = 0, .stripe_count = set_.header.stripe_count});
    const StripeRanges& work = is_any_made_anew_ ? everything : survey.bad;
    lost_ = survey.lost;
    lost_blocks_.resize(shards_.shard_count());
    CALPE_CHECK(rebuild(work));
    list_changed(survey);
    for (const auto& target : targets_) {
      if (target) CALPE_CHECK(target->finish());
    }
    CALPE_CHECK(check_written());
    CALPE_CHECK(name_temporaries(files_, shards_, report_));
    CALPE_CHECK(check_found_complete(files_, set_.header, places()));
    return end_repair(files_, shards_, std::move(report_));
  }

 private:
  Status check_worth_repairing(const Survey& survey) const {
    const bool is_part_good =
        !survey.lost.is_empty() && survey.lost.count() < set_.header.stripe_count;
    if (!options_.partial || !is_part_good || !survey.contradicting.is_empty())
      return check_repairable(survey, shards_);
    if (has_roots()) {
      return invalid(
          "the set has a root, which proves only complete shards, so it cannot be repaired in "
          "part; calpe restore --salvage restores what is left");
    }
    return Done{};
  }

  // Lists copies with a new block, or with damage outside of the blocks.
  void list_changed(const Survey& survey) {
    for (std::size_t slot = 0, copies = 0; slot < targets_.size(); ++slot) {
      const ShardCopy* copy = slots_.slots()[slot].copy;
      if (copy == nullptr) continue;
      CopyState rest = survey.copies[copies++];
      rest.bad_blocks = 0;
      const bool is_changed =
          blocks_written_[slot] != 0 || !is_whole(set_.header, copy->found, rest);
      if (targets_[slot] && is_changed) report_.files_changed.push_back(copy->found.path);
    }
  }

  Status open_targets(const Survey& survey) {
    blocks_written_.assign(slots_.slots().size(), 0);
    targets_.resize(slots_.slots().size());
    std::vector<ShardIndex> lost;
    for (const Slot& slot : slots_.slots()) {
      if (slot.copy == nullptr) lost.push_back(slot.index);
    }
    CALPE_TRY(folders_, choose_folders(set_, coder_, {options_.targets, options_.named}, lost));
    CALPE_CHECK(remove_orphan_journals());
    std::size_t copies = 0;
    std::size_t missing = 0;
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      const ShardCopy* copy = slots_.slots()[slot].copy;
      if (copy == nullptr) {
        CALPE_TRY(targets_[slot], make_missing(slots_.slots()[slot].index, missing++));
      } else if (!is_whole(set_.header, copy->found, survey.copies[copies++])) {
        CALPE_TRY(targets_[slot], open_damaged(*copy, slot));
      }
      is_any_made_anew_ = is_any_made_anew_ || (targets_[slot] && targets_[slot]->is_made_anew());
    }
    return Done{};
  }

  // Everywhere that a command may look for the set.
  std::vector<std::string> places() const {
    std::vector<std::string> places = options_.named;
    places.insert(places.end(), options_.targets.begin(), options_.targets.end());
    places.insert(places.end(), folders_.begin(), folders_.end());
    for (const ShardCopy& copy : shards_.copies()) {
      places.push_back(folder_of(copy.found.path));
    }
    return places;
  }

  // The journal of a lost shard would apply to the new file.
  Status remove_orphan_journals() {
    std::set<std::string> folders;
    for (const std::string& folder : folders_) {
      if (files_.list(folder)) folders.insert(folder);
    }
    return remove_unused_journals(files_, set_.header, folders, places());
  }

  Result<std::unique_ptr<RepairTarget>> open_damaged(const ShardCopy& copy, std::size_t slot) {
    const std::string& path = copy.found.path;
    const bool is_of_use = copy.found.shift == 0 && !copy.found.is_distrusted;
    if (is_of_use) return RepairTarget::change(files_, header_of(copy.index), copy);
    // Its blocks are shifted, or it does not match the root.
    return RepairTarget::make(files_, header_of(copy.index), copy.index, path,
                              temporary_name(path, set_, copy.index, slot));
  }

  Result<std::unique_ptr<RepairTarget>> make_missing(ShardIndex index, std::size_t turn) {
    const std::string& folder = folders_[turn];
    CALPE_CHECK(files_.make_folders(folder));
    CALPE_TRY(const NewName name,
              name_for_shard(files_, set_.header, index, folder, options_.is_proven));
    report_.files_created.push_back(name.path);
    if (name.is_taken) report_.files_replaced.push_back(name.path);
    return RepairTarget::make(files_, header_of(index), index, name.path,
                              temporary_name(name.path, set_, index, turn));
  }

  Status rebuild(const StripeRanges& ranges) {
    for (const StripeRun& range : ranges.runs()) {
      for (std::uint64_t stripe = range.first_stripe; stripe < range.end();) {
        if (const std::uint64_t next = end_of_nothing(stripe, range.end()); next > stripe) {
          for (StripeRanges& blocks : lost_blocks_)
            blocks.add_run({.first_stripe = stripe, .stripe_count = next - stripe});
          const std::uint64_t data_shards = set_.header.spec.data_shards;
          note_lost(stripe * data_shards, (next - stripe) * data_shards);
          stripe = next;
          continue;
        }
        const StripeRun run = slots_.next_run(stripe, range.end());
        CALPE_CHECK(rebuild_run(run));
        stripe = run.end();
        tell((passes() - 1) * set_.header.content_bytes + content_before(set_.header, stripe));
      }
    }
    tell(passes() * set_.header.content_bytes);
    return Done{};
  }

  // The end of the stripes from `stripe` on that no file has any block of. Without this, a forged
  // header could cost any amount of time.
  std::uint64_t end_of_nothing(std::uint64_t stripe, std::uint64_t end) const {
    if (!lost_.contains(stripe)) return stripe;
    if (stripe >= shards_.reachable_stripes()) return end;
    return std::min(end, shards_.next_stripe(stripe));
  }

  // Adds blocks of the content, in ascending order.
  void note_lost(std::uint64_t first_block, std::uint64_t count) {
    const std::uint64_t content_bytes = set_.header.content_bytes;
    const std::uint64_t begin = first_block * set_.header.block_bytes;
    const std::uint64_t end = std::min(begin + count * set_.header.block_bytes, content_bytes);
    if (begin >= end) return;
    if (!report_.lost.empty() && report_.lost.back().end == begin) {
      report_.lost.back().end = end;
    } else {
      report_.lost.push_back({begin, end});
    }
  }

  // Adds the blocks of a lost stripe that no file has.
  void note_lost_stripe(std::uint64_t stripe, std::size_t j) {
    const std::uint64_t data_shards = set_.header.spec.data_shards;
    for (std::size_t index = 0; index < lost_blocks_.size(); ++index) {
      if (slots_.has_good(index, j)) continue;
      lost_blocks_[index].add(stripe);
      if (index < data_shards) note_lost(stripe * data_shards + index, 1);
    }
  }

  bool has_roots() const { return set_.header.root_kind != RootKind::none; }
  // The content is read to check it, to prove it, and to rebuild it.
  std::uint64_t passes() const { return has_roots() ? 3 : 2; }
  void tell(std::uint64_t done) const {
    if (options_.on_progress) options_.on_progress(done, passes() * set_.header.content_bytes);
  }

  ShardHeader header_of(ShardIndex index) const {
    ShardHeader header = set_.header;
    header.shard_index = index;
    return has_roots() ? header_with_roots(header, roots_, index) : header;
  }

  // Checks before any write that the repaired shards would match the root of the set.
  Status prove(Survey& survey) {
    CALPE_TRY(roots_, roots_when_complete());
    if (roots_.set != set_.header.set_root && distrust_damaged(survey)) {
      CALPE_TRY(survey, survey_set(shards_, coder_, Compared::damaged_stripes, &helpers_, {}));
      CALPE_CHECK(check_repairable(survey, shards_));
      CALPE_TRY(roots_, roots_when_complete());
    }
    if (roots_.set != set_.header.set_root) {
      return make_error(ErrorCode::corrupt, "the rebuilt shards would have the root ",
                        to_text(roots_.set), "; expected ", to_text(set_.header.set_root),
                        "; nothing was changed");
    }
    roots_.hmac = set_.header.hmac;
    return Done{};
  }

  // A damaged file is not proven: its good blocks may be forged.
  bool distrust_damaged(const Survey& survey) {
    bool is_any = false;
    for (std::size_t i = 0; i < survey.copies.size(); ++i) {
      if (survey.copies[i].root != RootState::unknown) continue;
      shards_.distrust(i);
      is_any = true;
    }
    return is_any;
  }

  Result<SetRoots> roots_when_complete() {
    const std::span<const Slot> slots = slots_.slots();
    std::vector<ShardHasher> hashers;  // by shard
    std::vector<std::size_t> first_slots;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slot > 0 && slots[slot].index == slots[slot - 1].index) continue;
      hashers.emplace_back(set_.header, slots[slot].index);
      first_slots.push_back(slot);
    }
    for (std::uint64_t stripe = 0; stripe < set_.header.stripe_count;) {
      const StripeRun run = slots_.next_run(stripe, set_.header.stripe_count);
      CALPE_CHECK(complete_run(run));
      std::vector<Status> added(hashers.size(), Done{});
      helpers_.run(hashers.size(), [&](std::size_t i) {
        added[i] = hashers[i].add(slots_.blocks(first_slots[i]));
      });
      for (Status& status : added) {
        CALPE_CHECK(std::move(status));
      }
      stripe = run.end();
      tell(set_.header.content_bytes + content_before(set_.header, stripe));
    }
    std::vector<Digest> digests(hashers.size());
    for (std::size_t i = 0; i < hashers.size(); ++i) {
      CALPE_TRY(digests[i], hashers[i].finish());
    }
    return make_set_roots(set_.header, std::move(digests));
  }

  Status complete_run(const StripeRun& run) {
    slots_.read(run);
    outcomes_.assign(run.stripe_count, Rebuilt::done);
    slots_.for_each_stripe(
        [&](std::size_t j) { outcomes_[j] = guarded([&] { return slots_.complete(coder_, j); }); });
    for (std::size_t j = 0; j < outcomes_.size(); ++j) {
      if (!outcomes_[j]) return outcomes_[j].error();
      if (*outcomes_[j] == Rebuilt::lost && lost_.contains(run.first_stripe + j)) continue;
      if (*outcomes_[j] != Rebuilt::done) {
        return make_error(ErrorCode::io, "stripe ", run.first_stripe + j,
                          " was repairable but no longer is", shards_.read_error_text());
      }
    }
    return Done{};
  }

  Status rebuild_run(const StripeRun& run) {
    CALPE_CHECK(complete_run(run));
    for (std::size_t j = 0; j < outcomes_.size(); ++j) {
      if (*outcomes_[j] == Rebuilt::lost) note_lost_stripe(run.first_stripe + j, j);
    }
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      if (targets_[slot]) CALPE_CHECK(write_slot(run, slot));
    }
    return Done{};
  }

  // Skips good blocks, except for a new file, and blocks that cannot be rebuilt. In a new file
  // these are zeros with the checksum 0, which no block has; check_written() makes sure.
  Status write_slot(const StripeRun& run, std::size_t slot) {
    RepairTarget& target = *targets_[slot];
    const std::size_t block_bytes = set_.header.block_bytes;
    StripeRanges wanted;
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      const bool is_wanted = target.is_made_anew() || !slots_.is_good(slot, j);
      const bool is_known =
          *outcomes_[j] == Rebuilt::done || slots_.has_good(slots_.slots()[slot].index, j);
      if (is_wanted && is_known) wanted.add(j);
    }
    for (const StripeRun& part : wanted.runs()) {
      const auto blocks = slots_.blocks(slot).subspan(part.first_stripe * block_bytes,
                                                      part.stripe_count * block_bytes);
      const std::uint64_t first = run.first_stripe + part.first_stripe;
      CALPE_CHECK(target.write({first, part.stripe_count}, blocks));
      report_.blocks_written += part.stripe_count;
      blocks_written_[slot] += part.stripe_count;
    }
    return Done{};
  }

  Status check_written() {
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      if (!targets_[slot]) continue;
      const ShardIndex index = slots_.slots()[slot].index;
      CALPE_CHECK(check_written_shard(files_, header_of(index), index, targets_[slot]->path(),
                                      lost_blocks_[index]));
    }
    return Done{};
  }

  FileSystem& files_;
  const FoundSet& set_;
  OpenSet& shards_;
  const StripeCoder& coder_;
  const RepairOptions& options_;
  ThreadPool helpers_;
  StripeWindow slots_;
  std::vector<std::unique_ptr<RepairTarget>> targets_;  // by slot; nullptr: intact
  std::vector<std::uint64_t> blocks_written_;           // by slot
  StripeRanges lost_;                                   // with options.partial
  std::vector<StripeRanges> lost_blocks_;               // by shard
  std::vector<Result<Rebuilt>> outcomes_;               // by stripe of the current run
  bool is_any_made_anew_ = false;
  std::vector<std::string> folders_;  // for missing shards, in order of index
  SetRoots roots_;                    // if the set has roots
  RepairReport report_;
};

Result<RepairReport> repair_held(FileSystem& files, const FoundSet& set,
                                 const RepairOptions& options) {
  if (set.header.kind == SetKind::originals) return repair_originals(files, set, options);
  CALPE_TRY(OpenSet shards, OpenSet::open(files, set));
  CALPE_TRY(const StripeCoder coder, StripeCoder::make(set.header));
  return Repair(files, set, shards, coder, options).run();
}

// Directories with shards of the set.
std::set<std::string> folders_of(const FoundSet& set) {
  std::set<std::string> folders;
  for (const auto& copies : set.shards) {
    for (const FoundShard& shard : copies)
      folders.insert(folder_of(shard.path));
  }
  return folders;
}

}  // namespace

Result<RepairReport> repair_set(FileSystem& files, const FoundSet& set,
                                const RepairOptions& options) {
  return guarded([&]() -> Result<RepairReport> {
    CALPE_CHECK(check_settled(set));
    CALPE_TRY(const auto held, hold_found_set(files, set, LockKind::exclusive));
    std::set<std::string> folders = folders_of(set);
    CALPE_CHECK(hold_replaced(*held, set.header, folders));
    CALPE_TRY(RepairReport report, repair_held(*held, set, options));
    if (report.is_any_lost()) return report;
    for (const std::string& path : report.files_created)
      folders.insert(folder_of(path));
    std::vector<std::string> places = options.named;
    places.insert(places.end(), folders.begin(), folders.end());
    CALPE_TRY(report.files_removed, remove_replaced(*held, set.header, folders, places));
    return report;
  });
}

}  // namespace calpe::store
