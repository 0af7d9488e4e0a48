// SPDX-License-Identifier: Apache-2.0
// Files that a killed command left under temporary names: they are shards like others, as headers
// count and not names, but a set that was never complete is none.
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

// Temporary files of that set, those in the folders that end so. Fails with io.
Status remove_temporaries(FileSystem& files, const Uuid& uuid, const std::set<std::string>& folders,
                          std::string_view ending);

// protect was killed before all shards were complete.
bool is_unfinished(const FoundSet& set) noexcept;

// Of several sets the one that a killed protect left, if they are but one set before and after: all
// have the same name. The new one from the moment it is complete and the old one is touched.
std::optional<std::size_t> choose_settled(const std::vector<std::span<const FoundSet>>& sets);

}  // namespace calpe::store
