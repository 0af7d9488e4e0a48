// SPDX-License-Identifier: Apache-2.0
#include "store/find/incomplete_sets.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

template <class Test>
bool any_file(const FoundSet& set, const Test& test) {
  return std::any_of(set.shards.begin(), set.shards.end(), [&](const auto& copies) {
    return std::any_of(copies.begin(), copies.end(),
                       [&](const FoundShard& shard) { return test(shard.path); });
  });
}

bool is_part(const std::string& path) {
  return is_temporary(path) && path.ends_with(".part");
}

bool is_aside(const std::string& path) {
  return is_temporary(path) && path.ends_with(".old");
}

}  // namespace

Status remove_temporaries(FileSystem& files, const Uuid& uuid, const std::set<std::string>& folders,
                          std::string_view ending, const std::set<std::string>& kept) {
  const std::string begin = temporary_begin(uuid);
  for (const std::string& folder : folders) {
    CALPE_TRY(const std::vector<std::string> names, files.list(folder));
    for (const std::string& name : names) {
      if (!name.starts_with(begin) || !name.ends_with(ending)) continue;
      const std::string path = in_folder(folder, name);
      if (!kept.contains(path)) CALPE_CHECK(files.remove(path));
    }
  }
  return Done{};
}

bool is_unfinished(const FoundSet& set) noexcept {
  return set.present() < set.expected() &&
         !any_file(set, [](const std::string& path) { return !is_part(path); });
}

bool has_enough(const FoundSet& set) {
  if (set.header.kind == SetKind::originals)
    return !is_unfinished(set);  // one parity file lists all data
  return set.present() >= set.header.spec.data_shards;
}

std::optional<std::size_t> choose_settled(const std::vector<std::span<const FoundSet>>& sets) {
  std::vector<std::size_t> settled;
  std::vector<std::size_t> complete;  // and not being replaced
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const FoundSet& newest = sets[i].front();
    if (newest.header.name != sets.front().front().header.name) return std::nullopt;
    if (!any_file(newest, is_temporary)) settled.push_back(i);
    if (!any_file(newest, is_aside) && newest.present() == newest.expected()) {
      complete.push_back(i);
    }
  }
  const auto is_usable = [&](std::size_t i) {
    return std::any_of(sets[i].begin(), sets[i].end(), has_enough);
  };
  if (settled.size() == 1) {
    // Too little of the new set is left, but the old one was not removed yet.
    for (std::size_t i = 0; i < sets.size() && !is_usable(settled.front()); ++i) {
      if (is_usable(i)) return std::nullopt;
    }
    return settled.front();
  }
  if (settled.empty() && complete.size() == 1) return complete.front();
  return std::nullopt;
}

}  // namespace calpe::store
