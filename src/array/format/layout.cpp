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
constexpr std::uint32_t spare_slots_most = 1U << 20U;

// One call must fit into one batch: a record for each column of a stripe.
std::uint64_t header_least(const Settings& settings, const Shape& shape) {
  const std::uint64_t columns = settings.chunk_bytes / block_bytes;
  return round_up(64 + (columns + 1) * (24 + 16 * std::uint64_t{shape.members_max}), block_bytes);
}

std::uint64_t stripe_bytes_of(const Settings& settings) {
  return std::uint64_t{settings.chunk_bytes} * settings.spec.data_shards;
}

std::uint64_t stripes_of(const Settings& settings) {
  return divide_up(settings.bytes, stripe_bytes_of(settings));
}

// More slots make fewer commits when whole stripes are written; 1/32 more space is cheap.
std::uint32_t usual_spare_slots(const Settings& settings) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(stripes_of(settings) / 32, 4, 4096));
}

// One segment after the other: an index, pages of the table that the segments before do not have,
// slots. Only the index of the last one is used.
void add_segment(MemberLayout& to, std::uint64_t stripes, std::uint64_t slots) noexcept {
  Segment& segment = to.segments[to.growths];
  segment.first_slot = to.slots;
  segment.first_page = to.table_pages;
  to.stripes = stripes;
  to.slots = slots;
  to.table_pages = divide_up(slots * to.columns, page_checksums);
  to.missed_at = round_up(stripes * 4, block_bytes);
  to.digests_at = to.missed_at + round_up(divide_up(stripes, 8), block_bytes);
  const std::uint64_t digests = round_up(to.table_pages * to.members_max * 8, block_bytes);
  to.index_pages = (to.digests_at + digests) / block_bytes;
  to.index_at = to.member_bytes;
  segment.table_at = to.index_at + 2 * to.index_pages * block_bytes;
  const std::uint64_t pages = to.table_pages - segment.first_page;
  segment.slots_at = round_up(segment.table_at + 2 * pages * block_bytes, to.chunk_bytes);
  to.member_bytes = segment.slots_at + (slots - segment.first_slot) * to.chunk_bytes;
}

std::uint64_t needed_bytes(Settings settings, const Shape& shape, std::uint64_t bytes) {
  settings.bytes = bytes;
  if (settings.spare_slots == 0) settings.spare_slots = usual_spare_slots(settings);
  return layout_of(settings, shape).member_bytes;
}

// The most stripes, at least `low`, for which members of member_bytes have room.
template <class Needed>
std::uint64_t most_stripes(const Settings& settings, std::uint64_t low, std::uint64_t member_bytes,
                           const Needed& needed) {
  std::uint64_t high =
      std::min({member_bytes / settings.chunk_bytes, bytes_most / stripe_bytes_of(settings),
                std::uint64_t{no_slot} - 1 - spare_slots_most});
  while (low < high) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (needed(middle) <= member_bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// With more slots, but never fewer spare ones than before.
Growth growth_to(const Settings& settings, const Shape& shape, std::uint64_t bytes) {
  Growth to = {settings, shape};
  const std::uint64_t before = stripes_of(settings);
  const auto last = std::find(to.shape.grown_from.begin(), to.shape.grown_from.end(), GrownFrom{});
  *last = {static_cast<std::uint32_t>(before), settings.spare_slots};
  to.settings.bytes = bytes;
  to.settings.spare_slots = std::max(settings.spare_slots, usual_spare_slots(to.settings));
  return to;
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
  to.log_bytes = settings.log_bytes;
  const std::uint64_t usual = round_up(settings.log_bytes / 8, block_bytes);
  to.header_most = std::max(header_least(settings, shape),
                            std::clamp<std::uint64_t>(usual, 2 * block_bytes, 32 * block_bytes));
  to.blocks_most = std::min(blocks_of_batch, (to.log_bytes - to.header_most) / block_bytes);
  to.member_bytes = log_at + to.log_bytes;  // so far
  for (; to.growths < growths_max && shape.grown_from[to.growths].stripes != 0; ++to.growths) {
    const GrownFrom& size = shape.grown_from[to.growths];
    add_segment(to, size.stripes, std::uint64_t{size.stripes} + size.spare_slots);
  }
  const std::uint64_t stripes = stripes_of(settings);
  add_segment(to, stripes, stripes + settings.spare_slots);
  to.table_at = to.segments[0].table_at;
  to.slots_at = to.segments[0].slots_at;
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
  if (settings.spare_slots == 1 || settings.spare_slots > spare_slots_most) {
    return refuse("spare slots is ", settings.spare_slots, "; expected 2 .. ", spare_slots_most);
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
    const std::uint64_t stripe = stripe_bytes_of(settings);
    const std::uint64_t stripes = most_stripes(settings, 0, member_bytes, [&](std::uint64_t count) {
      return needed_bytes(settings, shape, count * stripe);
    });
    settings.bytes = std::max<std::uint64_t>(stripes, 1) * stripe;  // too small: reported below
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

Result<Growth> grown(const Settings& settings, const Shape& shape, std::uint64_t member_bytes,
                     std::uint64_t bytes_asked) {
  const auto refuse = [](const auto&... parts) {
    return make_error(ErrorCode::invalid_argument, parts...);
  };
  if (shape.grown_from.back().stripes != 0) {
    return refuse("the array was grown ", growths_max, " times, which is the most; copy the data ",
                  "to a new array");
  }
  const std::uint64_t stripe = stripe_bytes_of(settings);
  const std::uint64_t before = stripes_of(settings);
  const auto member_bytes_for = [&](std::uint64_t stripes) {
    const Growth to = growth_to(settings, shape, stripes * stripe);
    return layout_of(to.settings, to.shape).member_bytes;
  };
  const std::uint64_t most = most_stripes(settings, before, member_bytes, member_bytes_for);
  const std::uint64_t asked = bytes_asked == 0 ? most : divide_up(bytes_asked, stripe);
  if (bytes_asked != 0 && asked <= before) {
    return refuse("size is ", bytes_asked, "; expected at least ", (before + 1) * stripe,
                  ", because the array has ", settings.bytes, " bytes");
  }
  if (asked > most || most == before) {
    return refuse("the smallest member has ", member_bytes, " bytes; expected at least ",
                  member_bytes_for(std::max(asked, before + 1)), " for a capacity of ",
                  std::max(asked, before + 1) * stripe);
  }
  Growth to = growth_to(settings, shape, asked * stripe);
  CALPE_CHECK(check_settings(to.settings));
  return to;
}

}  // namespace calpe::array
