// SPDX-License-Identifier: Apache-2.0
// Names of files on disk. They help people and decide nothing: headers do.
#pragma once
#include <string>
#include <string_view>

#include <calpe/code_spec.hpp>

#include "base/uuid.hpp"

namespace calpe::store {

// Three digits, or as many as it has.
std::string shard_number(ShardIndex index);
// "photos.s003.calpe"
std::string shard_file_name(const std::string& name, ShardIndex index);
// Whether it is such a name for that set, whatever the number.
bool is_shard_file_name(std::string_view file, std::string_view name);

// protect writes .calpe-UUID-sNNN.part and moves what it replaces to .calpe-UUID-sNNN.old; repair
// writes .calpe-UUID-sN-N.repair.
inline constexpr std::string_view temporary_prefix = ".calpe-";
// What update and add-parity write beside a shard before they change it.
inline constexpr std::string_view redo_ending = ".redo";

bool is_temporary(const std::string& path) noexcept;
// How the names of all of a set's begin: ".calpe-UUID-s". Hidden, and short: the name of the set
// may already be as long as a name can be.
std::string temporary_begin(const Uuid& uuid);
// "a/.calpe-UUID-s003.part" and "a/.calpe-UUID-s003.old" of shard 3 at "a/photos.s003.calpe".
std::string part_path(const std::string& path, const Uuid& uuid, std::size_t shard);
std::string aside_path(const std::string& path, const Uuid& uuid, std::size_t shard);

}  // namespace calpe::store
