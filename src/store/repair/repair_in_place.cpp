// SPDX-License-Identifier: Apache-2.0
#include "store/repair/repair_in_place.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/read/report.hpp"
#include "store/repair/finish_repair.hpp"
#include "store/repair/in_place_output.hpp"
#include "store/repair/rebuild_parity.hpp"
#include "store/repair/restore_stripes.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t named_max = 10;
constexpr std::uint64_t read_bytes = std::uint64_t{1} << 20U;

// "; files: a, b and 3 more"
std::string names_of(std::span<const OriginalState> states) {
  std::string names;
  for (const OriginalState& state : states.first(std::min(states.size(), named_max))) {
    names += text(names.empty() ? "; files: " : ", ", state.path);
  }
  if (states.size() > named_max) names += text(" and ", states.size() - named_max, " more");
  return names;
}

class RepairOriginals {
 public:
  RepairOriginals(FileSystem& files, const FoundSet& set, const RepairOptions& options)
      : files_(files),
        set_(set),
        options_(options),
        helpers_(options.jobs > 1 ? options.jobs - 1 : 0) {}

  Result<RepairReport> run() {
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set_.header));
    CALPE_TRY(OpenSet before, OpenSet::open(files_, set_));
    CALPE_TRY(const Survey survey,
              survey_set(before, coder, Compared::damaged_stripes, &helpers_,
                         [&](std::uint64_t done, std::uint64_t) { tell(done); }));
    report_.before = make_report(before, survey);
    CALPE_TRY(report_.before.originals, check_originals(before, coder, survey));
    CALPE_CHECK(check(before, survey));
    CALPE_CHECK(remove_restore_leftovers(before.originals()->manifest(), set_.original));
    if (report_.before.is_good()) return end_repair(files_, before, std::move(report_));
    const bool is_parity_whole =
        std::all_of(report_.before.shards.begin(), report_.before.shards.end(),
                    [](const ShardState& shard) { return shard.problem.empty(); });
    CALPE_CHECK(restore_files(before, coder, survey));
    if (report_.is_any_lost()) {
      CALPE_TRY(const OpenSet restored, OpenSet::open(files_, set_));
      CALPE_CHECK(check_restored(restored, coder, survey));
      return end_repair(files_, restored, std::move(report_));
    }
    // Reopen: a restored file is another file with the same name.
    CALPE_TRY(const OpenSet after, OpenSet::open(files_, set_));
    CALPE_CHECK(check_restored(after, coder, survey));
    if (!is_parity_whole) {
      const auto on_progress = [&](std::uint64_t done, std::uint64_t) {
        tell(set_.header.content_bytes + done);
      };
      CALPE_CHECK(remake_parity({.files = files_,
                                 .set = set_,
                                 .shards = after,
                                 .coder = coder,
                                 .survey = survey,
                                 .helpers = helpers_,
                                 .targets = options_.targets,
                                 .named = options_.named,
                                 .on_progress = on_progress},
                                report_));
    }
    tell(2 * set_.header.content_bytes);
    CALPE_CHECK(name_temporaries(files_, after, report_));
    return end_repair(files_, after, std::move(report_));
  }

 private:
  void tell(std::uint64_t done) const {
    if (options_.on_progress) options_.on_progress(done, 2 * set_.header.content_bytes);
  }

  Status check(const OpenSet& before, const Survey& survey) const {
    const bool is_partial = options_.partial && survey.contradicting.is_empty() &&
                            survey.lost.count() < set_.header.stripe_count;
    if (Status status = check_repairable(survey, before); !status && !is_partial) {
      return make_error(status.error().code, status.error().message,
                        names_of(report_.before.originals));
    }
    if (report_.before.is_list_lost) {
      return make_error(ErrorCode::unrecoverable, "cannot read the file list",
                        before.read_error_text(), "; nothing was changed");
    }
    return Done{};
  }

  Status restore_files(const OpenSet& before, const StripeCoder& coder, const Survey& survey) {
    const Manifest& manifest = before.originals()->manifest();
    std::vector<OriginalState> wanted;
    for (const OriginalState& state : report_.before.originals) {
      const bool is_left = state.damage == OriginalDamage::changed && !options_.overwrite;
      if (!is_left) wanted.push_back(state);
      if (is_left) report_.originals_left.push_back(state.path);
    }
    CALPE_TRY(InTheWay blocked, find_in_the_way(manifest, wanted, set_.original));
    report_.originals_blocked = std::move(blocked.paths);
    std::erase_if(wanted, [&](const OriginalState& state) {
      const bool is_blocked = blocked.entries.contains(state.entry);
      if (is_blocked) blocked_.insert(state.entry);
      return is_blocked;
    });
    if (wanted.empty()) return Done{};
    CALPE_TRY(OriginalOutput output, OriginalOutput::open(manifest, wanted, set_.original));
    CALPE_CHECK(output.begin());
    std::vector<std::size_t> entries;
    for (const OriginalState& state : wanted)
      entries.push_back(state.entry);
    CALPE_TRY(StripesRestored restored,
              restore_stripes(before, coder, survey, entries, options_.jobs, output));
    if (!report_.is_any_lost() && !restored.lost.empty()) {
      return make_error(ErrorCode::io, "a stripe was repairable but no longer is",
                        before.read_error_text());
    }
    report_.lost = std::move(restored.lost);
    for (const OriginalState& state : wanted) {
      const bool is_dropped = restored.dropped.contains(state.entry);
      (is_dropped ? report_.originals_lost : report_.originals_restored).push_back(state.path);
    }
    return output.finish();
  }

  // Reads the blocks that were bad, and returns those that still are.
  static Survey still_bad(const OpenSet& after, const Survey& survey) {
    Survey left;
    std::set<std::uint64_t> stripes;
    std::vector<std::byte> blocks;
    std::vector<std::uint8_t> good;
    const std::size_t block_bytes = after.header().block_bytes;
    for (const auto& [shard, ranges] : survey.bad_originals) {
      for (const StripeRun& range : ranges.runs()) {
        for (std::uint64_t stripe = range.first_stripe; stripe < range.end();) {
          const StripeRun run = after.run_from(stripe, range.end(), read_bytes);
          blocks.resize(run.stripe_count * block_bytes);
          good.assign(run.stripe_count, 0);
          const auto copies = after.copies_of(shard);
          if (!copies.empty()) after.read(copies.front(), run, {blocks.data(), block_bytes, good});
          for (; stripe < run.end(); ++stripe) {
            if (good[stripe - run.first_stripe] != 0) continue;
            left.bad_originals[shard].add(stripe);
            stripes.insert(stripe);
          }
        }
      }
    }
    for (const std::uint64_t stripe : stripes)
      left.bad_data.add(stripe);
    return left;
  }

  // Only where something was bad; the rest was just checked.
  Status check_restored(const OpenSet& after, const StripeCoder& coder, const Survey& survey) {
    const Survey left = survey.lost.is_empty() ? still_bad(after, survey) : survey;
    CALPE_TRY(const auto states, check_originals(after, coder, left));
    for (const OriginalState& state : states) {
      const auto is_in = [&](const std::vector<std::string>& paths) {
        return std::find(paths.begin(), paths.end(), state.path) != paths.end();
      };
      if (is_in(report_.originals_left) || is_in(report_.originals_lost)) continue;
      if (blocked_.contains(state.entry)) continue;
      return make_error(ErrorCode::io, shown_path(state.path),
                        " does not read back as it was written: ", state.problem);
    }
    return Done{};
  }

  FileSystem& files_;
  const FoundSet& set_;
  const RepairOptions& options_;
  ThreadPool helpers_;
  RepairReport report_;
  std::set<std::size_t> blocked_;  // entries
};

}  // namespace

Result<RepairReport> repair_originals(FileSystem& files, const FoundSet& set,
                                      const RepairOptions& options) {
  return RepairOriginals(files, set, options).run();
}

}  // namespace calpe::store
