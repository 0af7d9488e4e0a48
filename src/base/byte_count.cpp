// SPDX-License-Identifier: Apache-2.0
#include "base/byte_count.hpp"

#include <charconv>

#include "base/text.hpp"

namespace calpe {

namespace {

struct Unit {
  std::string_view suffix;
  std::size_t bytes;
};
constexpr Unit units[] = {
    {"G", std::size_t{1} << 30U}, {"M", std::size_t{1} << 20U}, {"K", std::size_t{1} << 10U}};

}  // namespace

Result<std::size_t> parse_bytes(std::string_view text) {
  std::string_view digits = text;
  std::size_t factor = 1;
  if (digits.ends_with("iB")) digits.remove_suffix(2);
  for (const Unit& unit : units) {
    if (!digits.ends_with(unit.suffix)) continue;
    digits.remove_suffix(1);
    factor = unit.bytes;
    break;
  }
  std::size_t count = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, count);
  const bool is_number = error == std::errc{} && stop == end;
  constexpr std::size_t bytes_max = std::size_t{1} << 31U;
  const bool has_bare_unit = text.ends_with("iB") && factor == 1;
  if (has_bare_unit || !is_number || count == 0 || count > bytes_max / factor) {
    return invalid("shard size is '", text,
                   "'; expected a number such as 4096, 64K or 1MiB, at most 2 GiB");
  }
  return count * factor;
}

std::string bytes_to_text(std::size_t bytes) {
  for (const Unit& unit : units) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return text(bytes / unit.bytes, " ", unit.suffix, "iB");
  }
  return text(bytes, " B");
}

}  // namespace calpe
