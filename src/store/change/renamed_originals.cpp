// SPDX-License-Identifier: Apache-2.0
#include "store/change/renamed_originals.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "store/read/block_search.hpp"
#include "store/read/in_place_check.hpp"

namespace calpe::store {

namespace {

bool is_only_one_of_its_time(const Manifest& manifest, const Entry& wanted) {
  return std::count_if(manifest.entries.begin(), manifest.entries.end(), [&](const Entry& entry) {
           return entry.type == EntryType::file && is_same_time(entry, wanted);
         }) == 1;
}

}  // namespace

Result<TreeDifference> compare_with_originals(const OriginalShards& before, OriginalSource& now,
                                              bool is_dry_run) {
  const Manifest& listed = before.manifest();
  DigestOf digest_of;
  if (listed.has_digests && !is_dry_run)
    digest_of = [&](std::size_t entry) { return now.digest_of(entry); };
  CALPE_TRY(TreeDifference difference, compare_trees(listed, now.manifest(), {}, digest_of));
  BlockSearch blocks(before);
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(now.manifest(), before.original()));
  for (const DoubtfulMove& move : difference.doubtful) {
    const Entry& was = listed.entries[move.before];
    const Entry& is = now.manifest().entries[move.after];
    CALPE_TRY(const Descriptor file, place.open_file(is));
    const bool is_renamed = is_only_one_of_its_time(listed, was) ||
                            (file && blocks.has_some(was, {file.get(), is.file_bytes}));
    if (is_renamed) return renamed_damaged(now.shown(move.after), shown_path(was.path));
  }
  return difference;
}

}  // namespace calpe::store
