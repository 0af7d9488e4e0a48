// SPDX-License-Identifier: Apache-2.0
#include "remote/format/object_names.hpp"

#include <span>

#include "base/hex_digits.hpp"
#include "base/text.hpp"
#include "store/io/names.hpp"

namespace calpe::remote {

namespace {

constexpr std::string_view begin = "calpe-";
constexpr std::size_t uuid_characters = 36;
constexpr std::string_view begun = ".begun";

// Lower-case digits only, so that every value has one name.
bool parse_digits(std::string_view digits, std::span<std::byte> bytes) {
  return parse_hex_digits(digits, bytes) && hex_digits(bytes) == digits;
}

std::optional<Uuid> parse_uuid(std::string_view words) {
  std::string digits;
  for (const char c : words) {
    if (c != '-') digits += c;
  }
  Uuid uuid = {};
  if (!parse_digits(digits, uuid) || uuid_text(uuid) != words) return std::nullopt;
  return uuid;
}

}  // namespace

std::string set_folder(const Uuid& uuid) {
  return text(begin, uuid_text(uuid));
}

std::string generation_name(const Uuid& uuid, std::uint64_t number) {
  return text(set_folder(uuid), ".g", hex_number(number));
}

std::string mark_name(const Uuid& uuid, std::uint64_t mark) {
  return text(set_folder(uuid), ".c", hex_number(mark));
}

std::string begun_name(const Uuid& uuid) {
  return text(set_folder(uuid), begun);
}

std::string segment_name(const Digest& segment, ShardIndex shard) {
  return text(hex_digits(segment), ".s", store::shard_number(shard));
}

std::string segment_path(const Uuid& uuid, const Digest& segment, ShardIndex shard) {
  return text(set_folder(uuid), "/", segment_name(segment, shard));
}

std::optional<TopName> parse_top_name(std::string_view name) {
  if (!name.starts_with(begin) || name.size() < begin.size() + uuid_characters) return std::nullopt;
  const auto uuid = parse_uuid(name.substr(begin.size(), uuid_characters));
  if (!uuid) return std::nullopt;
  const std::string_view rest = name.substr(begin.size() + uuid_characters);
  if (rest == begun) return TopName{.uuid = *uuid};
  std::array<std::byte, 8> bytes = {};
  const bool is_generation = rest.starts_with(".g");
  if (!is_generation && !rest.starts_with(".c")) return std::nullopt;
  if (!parse_digits(rest.substr(2), bytes)) return std::nullopt;
  std::uint64_t number = 0;
  for (const std::byte byte : bytes)
    number = number << 8U | std::to_integer<std::uint64_t>(byte);
  if (is_generation) return TopName{.uuid = *uuid, .generation = number};
  return TopName{.uuid = *uuid, .mark = number};
}

std::optional<SegmentName> parse_segment_name(std::string_view name) {
  SegmentName parsed;
  constexpr std::size_t digits = 64;
  if (name.size() != digits + 5 || !parse_digits(name.substr(0, digits), parsed.segment))
    return std::nullopt;
  unsigned shard = 0;
  for (const char c : name.substr(digits + 2)) {
    if (c < '0' || c > '9') return std::nullopt;
    shard = shard * 10 + static_cast<unsigned>(c - '0');
  }
  parsed.shard = static_cast<ShardIndex>(shard);
  if (segment_name(parsed.segment, parsed.shard) != name) return std::nullopt;
  return parsed;
}

}  // namespace calpe::remote
