// SPDX-License-Identifier: Apache-2.0
// Handles files that an interrupted command left under temporary names. They are valid shards
// (headers decide, not names), but a set that was never completed is ignored.
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/find/set_discovery.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

// Removes temporary files of the set in these directories with this suffix, except the paths in
// `kept`. Fails with io.
Status remove_temporaries(FileSystem& files, const Uuid& uuid, const std::set<std::string>& folders,
                          std::string_view ending, const std::set<std::string>& kept = {});

// Returns true if protect was interrupted before all shards were complete.
bool is_unfinished(const FoundSet& set) noexcept;

// Returns true if the shards that were found could restore the set, as far as headers tell.
bool has_enough(const FoundSet& set);

// Resolves several sets of one name that an interrupted protect --overwrite left: returns the new
// one once it is complete and the old one has been touched, else the old one. Returns nullopt if
// that one has too few shards and another has enough.
std::optional<std::size_t> choose_settled(const std::vector<std::span<const FoundSet>>& sets);

}  // namespace calpe::store
