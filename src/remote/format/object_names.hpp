// SPDX-License-Identifier: Apache-2.0
// Names of objects on a place (docs/remote-format.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <calpe/code_spec.hpp>

#include "base/uuid.hpp"

namespace calpe::remote {

std::string set_folder(const Uuid& uuid);                             // "calpe-UUID"
std::string generation_name(const Uuid& uuid, std::uint64_t number);  // "calpe-UUID.g0123..."
std::string begun_name(const Uuid& uuid);                             // "calpe-UUID.begun"
std::string mark_name(const Uuid& uuid, std::uint64_t mark);          // "calpe-UUID.c0123..."
std::string segment_name(const Digest& segment, ShardIndex shard);    // "64 digits.s003"
std::string segment_path(const Uuid& uuid, const Digest& segment, ShardIndex shard);

// An object at the top of a place. Neither generation nor mark: a begun set.
struct TopName {
  Uuid uuid = {};
  std::optional<std::uint64_t> generation = {};
  std::optional<std::uint64_t> mark = {};  // of a command that changes the set
};
std::optional<TopName> parse_top_name(std::string_view name);

struct SegmentName {
  Digest segment = {};
  ShardIndex shard = 0;
};
std::optional<SegmentName> parse_segment_name(std::string_view name);

}  // namespace calpe::remote
