// SPDX-License-Identifier: Apache-2.0
#include "store/read/verify_set.hpp"

#include "base/allocation_guard.hpp"
#include "base/progress.hpp"
#include "base/try.hpp"
#include "store/find/held_set.hpp"
#include "store/read/report.hpp"

namespace calpe::store {

Result<VerifyReport> verify_set(FileSystem& files, const FoundSet& set, bool deep, unsigned jobs,
                                const OnProgress& on_progress) {
  return guarded([&]() -> Result<VerifyReport> {
    CALPE_TRY(const auto held, hold_found_set(files, set, LockKind::shared));
    CALPE_TRY(OpenSet shards, OpenSet::open(*held, set));
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(set.header));
    ThreadPool helpers(jobs > 1 ? jobs - 1 : 0);
    CALPE_TRY(const Survey survey,
              survey_set(shards, coder, deep ? Compared::everywhere : Compared::nowhere, &helpers,
                         on_progress));
    VerifyReport report = make_report(shards, survey);
    if (set.header.kind == SetKind::originals) {
      CALPE_TRY(report.originals, check_originals(shards, coder, survey));
    }
    return report;
  });
}

}  // namespace calpe::store
