// SPDX-License-Identifier: Apache-2.0
#include "store/read/verify_set.hpp"

#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/progress.hpp"
#include "base/try.hpp"
#include "store/find/held_set.hpp"
#include "store/read/report.hpp"

namespace calpe::store {

namespace {

bool is_every_file_missing(const Manifest& manifest, const std::vector<OriginalState>& states) {
  std::size_t missing = 0;
  for (const OriginalState& state : states) {
    const bool is_file = manifest.entries[state.entry].type == EntryType::file;
    missing += is_file && state.damage == OriginalDamage::missing ? 1 : 0;
  }
  const auto files =
      std::count_if(manifest.entries.begin(), manifest.entries.end(),
                    [](const Entry& entry) { return entry.type == EntryType::file; });
  return missing > 0 && missing == static_cast<std::size_t>(files);
}

}  // namespace

Result<VerifyReport> verify_set(FileSystem& files, const FoundSet& set, bool deep, unsigned jobs,
                                const OnProgress& on_progress, const Scrub& scrub) {
  return guarded([&]() -> Result<VerifyReport> {
    CALPE_TRY(const auto held, hold_found_set(files, set, LockKind::shared));
    CALPE_TRY(OpenSet shards, OpenSet::open(*held, set));
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set.header));
    ThreadPool helpers(jobs > 1 ? jobs - 1 : 0);
    CALPE_TRY(const Survey survey,
              survey_set(shards, coder, deep ? Compared::everywhere : Compared::nowhere, &helpers,
                         on_progress, scrub));
    VerifyReport report = make_report(shards, survey);
    if (set.header.kind == SetKind::originals) {
      CALPE_TRY(report.originals, check_originals(shards, coder, survey));
      if (shards.originals() != nullptr) {
        report.is_original_absent =
            is_every_file_missing(shards.originals()->manifest(), report.originals);
      }
    }
    return report;
  });
}

}  // namespace calpe::store
