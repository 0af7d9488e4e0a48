// SPDX-License-Identifier: Apache-2.0
#include "store/change/removal_guard.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t listed_max = 20;

bool counts(const Entry& entry) {
  return !(entry.type == EntryType::folder && entry.path.empty());
}

std::uint64_t bytes_of(const Entry& entry) {
  return entry.type == EntryType::file ? entry.file_bytes : 0;
}

// Avoids overflow: 100 times a file size need not fit.
unsigned share(std::uint64_t part, std::uint64_t whole) {
  if (part == 0) return 0;
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  const auto down = static_cast<unsigned>(percent);
  return std::min(100U, down + (static_cast<double>(down) < percent ? 1U : 0U));
}

}  // namespace

unsigned Removal::percent() const noexcept {
  return std::max(share(paths.size(), entries_before), share(bytes, bytes_before));
}

Removal removal_of(const Manifest& before, const Manifest& after,
                   const TreeDifference& difference) {
  Removal removal;
  std::vector<std::uint64_t> kept(before.entries.size(), 0);
  std::vector<bool> is_gone(before.entries.size(), false);
  for (const std::size_t i : difference.removed) {
    is_gone[i] = true;
  }
  std::map<std::string_view, EntryType> changed;  // new type of the entry at each path
  for (std::size_t i = 0; i < difference.entries.size(); ++i) {
    const EntryDifference& entry = difference.entries[i];
    if (entry.before) {
      kept[*entry.before] = bytes_of(after.entries[i]);
    } else if (entry.change == EntryChange::changed) {
      changed.emplace(after.entries[i].path, after.entries[i].type);
    }
  }
  for (std::size_t i = 0; i < before.entries.size(); ++i) {
    const Entry& entry = before.entries[i];
    if (!counts(entry)) continue;
    ++removal.entries_before;
    const std::uint64_t bytes = bytes_of(entry);
    removal.bytes_before += bytes;
    removal.bytes += bytes - std::min(bytes, kept[i]);
    const auto now = changed.find(entry.path);
    const bool is_retyped = now != changed.end() && now->second != entry.type;
    if (is_gone[i] || is_retyped) removal.paths.push_back(entry.path);
  }
  return removal;
}

Status check_removal(const Removal& removal, const std::string& source, unsigned percent_max) {
  if (removal.percent() <= percent_max) return Done{};
  std::string list;
  const std::size_t listed = std::min(removal.paths.size(), listed_max);
  for (std::size_t i = 0; i < listed; ++i) {
    list += text(i == 0 ? ": " : ", ", shown_path(removal.paths[i]));
  }
  if (removal.paths.size() > listed) list += text(" and ", removal.paths.size() - listed, " more");
  return invalid(removal.paths.size(), " of ", removal.entries_before, " entries and ",
                 removal.bytes, " of ", removal.bytes_before, " bytes of the set would be removed",
                 list, "; is ", shown_path(source),
                 " the right source? --dry-run lists all changes, --allow-removing ",
                 removal.percent(), " permits them; nothing was changed");
}

}  // namespace calpe::store
