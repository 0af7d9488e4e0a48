// SPDX-License-Identifier: Apache-2.0
// Checks all kept originals and their parity, then encodes everything again into new parity files.
#pragma once
#include <functional>
#include <optional>

#include "store/change/update_in_place.hpp"
#include "store/tree/in_place_source.hpp"

namespace calpe::store {

// Tried after the check, if all parity is good. nullopt: the files must be encoded again.
using InPlaceUpdate = std::function<Result<std::optional<UpdatedOriginals>>()>;

// Compares files of unchanged size and time with their checksums, so that damage does not get into
// new parity. New parity files replace the old ones when they are complete (ShardFiles::publish),
// also missing or damaged ones. Fails as update_originals() does.
Result<UpdatedOriginals> reencode_originals(FileSystem& files, const FoundSet& set,
                                            OriginalSource& source,
                                            const UpdateOriginalsOptions& options,
                                            const InPlaceUpdate& in_place);

}  // namespace calpe::store
