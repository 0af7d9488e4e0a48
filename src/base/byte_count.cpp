// SPDX-License-Identifier: Apache-2.0
#include "base/byte_count.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/text.hpp"

namespace calpe {

namespace {

struct Unit {
  std::string_view suffix;
  std::size_t bytes;
};
constexpr Unit units[] = {
    {"G", std::size_t{1} << 30U}, {"M", std::size_t{1} << 20U}, {"K", std::size_t{1} << 10U}};

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::string_view digits = text;
  std::uint64_t factor = 1;
  if (digits.ends_with("iB")) digits.remove_suffix(2);
  for (const Unit& unit : units) {
    if (!digits.ends_with(unit.suffix)) continue;
    digits.remove_suffix(1);
    factor = unit.bytes;
    break;
  }
  std::uint64_t count = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, count);
  const bool is_number = error == std::errc{} && stop == end;
  const bool has_bare_unit = text.ends_with("iB") && factor == 1;
  if (has_bare_unit || !is_number || count > std::numeric_limits<std::uint64_t>::max() / factor)
    return std::nullopt;
  return count * factor;
}

}  // namespace

Result<std::size_t> parse_bytes(std::string_view text) {
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 31U;
  const auto count = parse_count(text);
  if (!count || *count == 0 || *count > bytes_max) {
    return invalid("shard size is '", text,
                   "'; expected a number such as 4096, 64K or 1MiB, at most 2 GiB");
  }
  return static_cast<std::size_t>(*count);
}

Result<std::uint64_t> parse_offset(std::string_view text) {
  if (const auto count = parse_count(text); count) return *count;
  return invalid("the offset is '", text, "'; expected a number such as 0, 4096, 64K or 1MiB");
}

std::string bytes_to_text(std::size_t bytes) {
  for (const Unit& unit : units) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return text(bytes / unit.bytes, " ", unit.suffix, "iB");
  }
  return text(bytes, " B");
}

}  // namespace calpe
