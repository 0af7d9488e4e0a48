// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_difference.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "base/try.hpp"

namespace calpe::store {

namespace {

bool is_same_metadata(const Entry& a, const Entry& b) {
  return a.path == b.path && a.mode == b.mode && a.user == b.user && a.group == b.group &&
         is_same_time(a, b);
}

// Where a file has data, with adjacent extents joined: digests cover only that.
std::vector<std::pair<std::uint64_t, std::uint64_t>> data_ranges(const Entry& entry) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // begin, end
  for (const Extent& extent : entry.extents) {
    if (ranges.empty() || ranges.back().second != extent.file_offset)
      ranges.emplace_back(extent.file_offset, extent.file_offset);
    ranges.back().second += extent.bytes;
  }
  return ranges;
}

class Comparison {
 public:
  Comparison(const Manifest& before, const Manifest& after, const IsSameContent& is_same_content,
             const DigestOf& digest_of)
      : before_(before.entries),
        after_(after.entries),
        is_same_content_(is_same_content),
        digest_of_(digest_of),
        is_kept_(before_.size()) {}

  Result<TreeDifference> run() {
    difference_.entries.resize(after_.size());
    // A single file may have been renamed: the caller named both.
    const bool is_by_order = before_.size() == 1 && after_.size() == 1;
    std::map<std::string_view, std::size_t> by_path;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      by_path.emplace(is_by_order ? std::string_view() : before_[i].path, i);
    }
    for (std::size_t i = 0; i < after_.size(); ++i) {
      const auto found = by_path.find(is_by_order ? std::string_view() : after_[i].path);
      if (found == by_path.end()) continue;
      is_kept_[found->second] = true;
      CALPE_TRY(difference_.entries[i], compare(found->second, i));
    }
    find_removed();
    CALPE_CHECK(find_moved());
    return std::move(difference_);
  }

 private:
  Result<EntryDifference> compare(std::size_t before, std::size_t after) const {
    const Entry& a = before_[before];
    const Entry& b = after_[after];
    if (a.type != b.type || a.target != b.target) {
      return EntryDifference{.change = EntryChange::changed};
    }
    EntryDifference found = {.change = EntryChange::changed, .before = before};
    if (a.type == EntryType::file) {
      if (a.file_bytes != b.file_bytes) return found;
      bool is_same = is_same_time(a, b);
      if (is_same_content_) {
        CALPE_TRY(is_same, is_same_content_(before, after));
      }
      if (!is_same) return found;
    }
    found.change = is_same_metadata(a, b) ? EntryChange::unchanged : EntryChange::metadata;
    return found;
  }

  void find_removed() {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (!is_kept_[i]) difference_.removed.push_back(i);
    }
  }

  using Likeness = std::tuple<std::uint64_t, std::int64_t, std::uint32_t>;
  using Gone = std::multimap<Likeness, std::size_t>;  // removed files

  // Without digests, pairs files in order, so that files of a renamed directory find each other.
  Status find_moved() {
    const auto likeness = [](const Entry& entry) {
      return Likeness(entry.file_bytes, entry.seconds, entry.nanoseconds);
    };
    const auto has_bytes = [](const Entry& entry) {
      return entry.type == EntryType::file && entry.file_bytes != 0;
    };
    Gone gone;
    for (const std::size_t i : difference_.removed) {
      if (has_bytes(before_[i])) gone.emplace(likeness(before_[i]), i);
    }
    std::vector<std::size_t> doubtful;  // entries after
    for (std::size_t i = 0; i < after_.size() && !gone.empty(); ++i) {
      if (difference_.entries[i].change != EntryChange::added || !has_bytes(after_[i])) continue;
      const Gone::const_iterator found = gone.lower_bound(likeness(after_[i]));
      if (found == gone.end() || found->first != likeness(after_[i])) continue;
      CALPE_TRY(const auto same, digest_of_ ? with_digest_of(i, gone, found) : found);
      if (same == gone.end()) {
        doubtful.push_back(i);
        continue;
      }
      difference_.entries[i].before = same->second;
      difference_.entries[i].has_same_digest = static_cast<bool>(digest_of_);
      gone.erase(same);
    }
    for (const std::size_t i : doubtful) {
      const auto found = gone.find(likeness(after_[i]));
      if (found == gone.end()) continue;
      if (data_ranges(before_[found->second]) != data_ranges(after_[i])) continue;
      difference_.entries[i].before = found->second;
      difference_.doubtful.push_back({found->second, i});
      gone.erase(found);
    }
    return Done{};
  }

  // From `first` on, the first removed file of the same size, time and digest. end(): none.
  Result<Gone::const_iterator> with_digest_of(std::size_t after, const Gone& gone,
                                              Gone::const_iterator first) const {
    CALPE_TRY(const std::uint64_t digest, digest_of_(after));
    const auto end = gone.upper_bound(first->first);
    const auto found = std::find_if(first, end, [&](const auto& one) {
      return before_[one.second].digest == digest &&
             data_ranges(before_[one.second]) == data_ranges(after_[after]);
    });
    return found == end ? gone.end() : found;
  }

  const std::vector<Entry>& before_;
  const std::vector<Entry>& after_;
  const IsSameContent& is_same_content_;
  const DigestOf& digest_of_;
  std::vector<bool> is_kept_;
  TreeDifference difference_;
};

}  // namespace

bool is_same_time(const Entry& a, const Entry& b) noexcept {
  return a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

bool TreeDifference::is_none() const noexcept {
  return removed.empty() && count(EntryChange::unchanged) == entries.size();
}

std::size_t TreeDifference::count(EntryChange change) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const EntryDifference& entry) { return entry.change == change; }));
}

Result<TreeDifference> compare_trees(const Manifest& before, const Manifest& after,
                                     const IsSameContent& is_same_content,
                                     const DigestOf& digest_of) {
  return Comparison(before, after, is_same_content, digest_of).run();
}

}  // namespace calpe::store
