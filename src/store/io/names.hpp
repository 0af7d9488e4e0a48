// SPDX-License-Identifier: Apache-2.0
// File names on disk. They are for people only; headers identify shards.
#pragma once
#include <string>
#include <string_view>

#include <calpe/code_spec.hpp>

#include "base/uuid.hpp"

namespace calpe::store {

// At least three digits.
std::string shard_number(ShardIndex index);
// "photos.s003.calpe"
std::string shard_file_name(const std::string& name, ShardIndex index);
// Returns true for shard names of this set, with any number.
bool is_shard_file_name(std::string_view file, std::string_view name);

// protect writes .calpe-UUID-sNNN.part and renames the shards that it replaces to
// .calpe-UUID-sNNN.old; repair writes .calpe-UUID-sN-N.repair.
inline constexpr std::string_view temporary_prefix = ".calpe-";
// restore and repair write files of a tree under such names first.
inline constexpr std::string_view restore_prefix = ".calpe-restore-";
// Journal that update and add-parity write next to a shard before they change it.
inline constexpr std::string_view redo_ending = ".redo";
// Journal that update leaves next to a shard, to return to an older generation.
inline constexpr std::string_view undo_ending = ".undo";

bool is_temporary(const std::string& path) noexcept;
// Prefix of all temporary names of a set: ".calpe-UUID-s". It omits the name of the set, which may
// already have the maximum length of a file name.
std::string temporary_begin(const Uuid& uuid);
// "a/.calpe-UUID-s003.part" and "a/.calpe-UUID-s003.old" for shard 3 at "a/photos.s003.calpe".
std::string part_path(const std::string& path, const Uuid& uuid, std::size_t shard);
std::string aside_path(const std::string& path, const Uuid& uuid, std::size_t shard);

}  // namespace calpe::store
