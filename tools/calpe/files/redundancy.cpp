// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/redundancy.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "store/format/geometry.hpp"

namespace calpe::tools {

namespace {

constexpr unsigned percent_max = 150;  // k + m is at most 256
constexpr std::uint64_t stripes_wanted = 32;
// Each parity file has the checksums of all blocks, which would take too much of it with less.
constexpr std::uint64_t block_bytes_least = 4096;
constexpr std::uint64_t block_bytes_most = 65536;

}  // namespace

Result<unsigned> parity_for_redundancy(const std::string& percent) {
  std::string_view number = percent;
  if (number.ends_with('%')) number.remove_suffix(1);
  unsigned parity = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), parity);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == number.data() + number.size();
  if (is_number && parity >= 1 && parity <= percent_max) return parity;
  return invalid("--redundancy is \"", percent, "\"; expected a percentage of the data from 1 to ",
                 percent_max, ", such as 10%");
}

std::uint32_t scattered_block_bytes(std::uint64_t data_bytes) noexcept {
  const std::uint64_t wanted =
      round_up(divide_up(data_bytes, redundancy_parts * stripes_wanted), store::block_bytes_min);
  return static_cast<std::uint32_t>(std::clamp(wanted, block_bytes_least, block_bytes_most));
}

}  // namespace calpe::tools
