// SPDX-License-Identifier: Apache-2.0
#include "array/format/layout.hpp"

#include <algorithm>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

constexpr std::uint64_t bytes_most = std::uint64_t{1} << 50U;
constexpr std::uint32_t chunk_most = 1U << 20U;
constexpr std::uint64_t log_most = std::uint64_t{1} << 30U;
constexpr std::uint64_t blocks_of_batch = 256;

// One call must fit into one batch: a record for each column of a stripe.
std::uint64_t header_least(const Settings& settings, const Shape& shape) {
  const std::uint64_t columns = settings.chunk_bytes / block_bytes;
  return round_up(64 + (columns + 1) * (24 + 16 * std::uint64_t{shape.members_max}), block_bytes);
}

std::uint64_t stripes_of(const Settings& settings) {
  return divide_up(settings.bytes, std::uint64_t{settings.chunk_bytes} * settings.spec.data_shards);
}

// More slots make fewer commits when whole stripes are written; 1/32 more space is cheap.
std::uint32_t usual_spare_slots(const Settings& settings) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(stripes_of(settings) / 32, 4, 4096));
}

std::uint64_t needed_bytes(Settings settings, const Shape& shape, std::uint64_t bytes) {
  settings.bytes = bytes;
  if (settings.spare_slots == 0) settings.spare_slots = usual_spare_slots(settings);
  return layout_of(settings, shape).member_bytes;
}

}  // namespace

std::uint64_t log_least(const Settings& settings, const Shape& shape) noexcept {
  return std::max(header_least(settings, shape), 2 * block_bytes) +
         2 * std::uint64_t{settings.chunk_bytes};
}

MemberLayout layout_of(const Settings& settings, const Shape& shape) noexcept {
  MemberLayout to;
  to.data = settings.spec.data_shards;
  to.parity = settings.spec.parity_shards;
  to.rotated = shape.rotated;
  to.members_max = shape.members_max;
  to.chunk_bytes = settings.chunk_bytes;
  to.columns = settings.chunk_bytes / block_bytes;
  to.stripes = stripes_of(settings);
  to.slots = to.stripes + settings.spare_slots;
  to.log_bytes = settings.log_bytes;
  const std::uint64_t usual = round_up(settings.log_bytes / 8, block_bytes);
  to.header_most = std::max(header_least(settings, shape),
                            std::clamp<std::uint64_t>(usual, 2 * block_bytes, 32 * block_bytes));
  to.blocks_most = std::min(blocks_of_batch, (to.log_bytes - to.header_most) / block_bytes);
  to.table_pages = divide_up(to.slots * to.columns, page_checksums);
  to.missed_at = round_up(to.stripes * 4, block_bytes);
  to.digests_at = to.missed_at + round_up(divide_up(to.stripes, 8), block_bytes);
  const std::uint64_t digests = round_up(to.table_pages * to.members_max * 8, block_bytes);
  to.index_pages = (to.digests_at + digests) / block_bytes;
  to.index_at = log_at + to.log_bytes;
  to.table_at = to.index_at + 2 * to.index_pages * block_bytes;
  to.slots_at = round_up(to.table_at + 2 * to.table_pages * block_bytes, to.chunk_bytes);
  to.member_bytes = to.slots_at + to.slots * to.chunk_bytes;
  return to;
}

Status check_settings(const Settings& settings) {
  const auto refuse = [](const auto&... parts) {
    return make_error(ErrorCode::invalid_argument, parts...);
  };
  const unsigned roles = settings.spec.data_shards + settings.spec.parity_shards;
  if (settings.spec.data_shards == 0 || settings.spec.parity_shards == 0 || roles > members_most) {
    return refuse("the code is ", settings.spec.data_shards, "+", settings.spec.parity_shards,
                  "; expected at least 1+1 and at most ", members_most, " members");
  }
  if (settings.spec.layout != calpe::Layout::bytes)
    return refuse("the layout is packets; expected bytes");
  if (settings.spec.word_bits != 8)
    return refuse("word_bits is ", settings.spec.word_bits, "; expected 8");
  if (settings.chunk_bytes == 0 || settings.chunk_bytes % block_bytes != 0 ||
      settings.chunk_bytes > chunk_most) {
    return refuse("chunk bytes is ", settings.chunk_bytes, "; expected a multiple of 4096 up to ",
                  chunk_most);
  }
  if (settings.bytes % block_bytes != 0 || settings.bytes > bytes_most) {
    return refuse("bytes is ", settings.bytes, "; expected a multiple of 4096 up to ", bytes_most);
  }
  if (settings.log_bytes % block_bytes != 0 || settings.log_bytes > log_most) {
    return refuse("log bytes is ", settings.log_bytes, "; expected a multiple of 4096 up to ",
                  log_most);
  }
  if (settings.spare_slots == 1 || settings.spare_slots > (1U << 20U)) {
    return refuse("spare slots is ", settings.spare_slots, "; expected 2 .. ", 1U << 20U);
  }
  if (stripes_of(settings) + settings.spare_slots >= no_slot) {
    return refuse("there would be ", stripes_of(settings), " stripes; expected less than ", no_slot,
                  ": use larger chunks");
  }
  return Done{};
}

Result<Settings> settle(const Settings& asked, const Shape& shape, std::uint64_t member_bytes) {
  CALPE_CHECK(check_settings(asked));
  Settings settings = asked;
  const std::uint64_t least = log_least(settings, shape);
  if (settings.log_bytes == 0) {
    const std::uint64_t usual = member_bytes / 32 / block_bytes * block_bytes;
    settings.log_bytes =
        std::max(least, std::clamp<std::uint64_t>(usual, 1U << 18U, std::uint64_t{64} << 20U));
  }
  if (settings.log_bytes < least) {
    return make_error(ErrorCode::invalid_argument, "log bytes is ", settings.log_bytes,
                      "; expected at least ", least, " for chunks of ", settings.chunk_bytes);
  }
  if (settings.bytes == 0) {
    const std::uint64_t stripe = std::uint64_t{settings.chunk_bytes} * settings.spec.data_shards;
    std::uint64_t low = 0;
    std::uint64_t high = std::min(member_bytes / settings.chunk_bytes, bytes_most / stripe);
    while (low < high) {
      const std::uint64_t middle = high - (high - low) / 2;
      if (needed_bytes(settings, shape, middle * stripe) <= member_bytes) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    settings.bytes = low * stripe;
    if (low == 0) settings.bytes = stripe;  // too small: reported below
  }
  const std::uint64_t needed = needed_bytes(settings, shape, settings.bytes);
  if (settings.spare_slots == 0) settings.spare_slots = usual_spare_slots(settings);
  CALPE_CHECK(check_settings(settings));
  if (needed > member_bytes) {
    return make_error(ErrorCode::invalid_argument, "the smallest member has ", member_bytes,
                      " bytes; expected at least ", needed, " for a capacity of ", settings.bytes);
  }
  return settings;
}

}  // namespace calpe::array
