// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/access_log.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace calpe::ptx {

void AccessLog::add(std::size_t instruction, const Interval& interval, bool is_write,
                    bool is_read_only) {
  std::vector<Interval>& list = is_write ? writes_ : is_read_only ? reads_ : other_reads_;
  std::size_t& last = last_[instruction];
  if (last != none) {
    Interval& known = list[last];
    if (known.end == interval.start) {
      known.end = interval.end;
      return;
    }
    // Merge repeated reads, as when every block reads a table. A repeated write is the error.
    if (!is_write && known.start <= interval.start && interval.end <= known.end) return;
  }
  last = list.size();
  list.push_back(interval);
}

std::vector<Interval> AccessLog::all_reads() const {
  std::vector<Interval> all = reads_;
  all.insert(all.end(), other_reads_.begin(), other_reads_.end());
  return all;
}

std::string AccessLog::find_conflict() const {
  const auto by_start = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  std::vector<Interval> writes = writes_;
  std::sort(writes.begin(), writes.end(), by_start);
  for (std::size_t i = 1; i < writes.size(); ++i) {
    if (writes[i].start < writes[i - 1].end) {
      return text("lines ", writes[i - 1].line, " and ", writes[i].line,
                  " write the same byte of global memory");
    }
  }
  for (const Interval& read : reads_) {
    // Writes do not overlap, so the ends are sorted as well.
    const auto found = std::upper_bound(
        writes.begin(), writes.end(), read.start,
        [](std::uint64_t start, const Interval& known) { return start < known.end; });
    if (found != writes.end() && found->start < read.end) {
      return text("line ", read.line, " reads as read-only what line ", found->line, " writes");
    }
  }
  return "";
}

}  // namespace calpe::ptx
