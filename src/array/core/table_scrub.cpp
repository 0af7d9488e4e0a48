// SPDX-License-Identifier: Apache-2.0
#include "array/core/table_scrub.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

TableScrub::TableScrub(SharedState& shared, Log& log)
    : layout_(shared.layout),
      roster_(shared.roster),
      index_(shared.index),
      table_(shared.table),
      log_(log) {}

// Checks the pages of checksums of the stripes [first, end).
void TableScrub::scrub_pages(std::uint64_t first, std::uint64_t end, CountByRole& wrong) {
  std::set<std::uint64_t> pages;
  for (std::uint64_t stripe = first; stripe < end; ++stripe) {
    const std::uint32_t slot = index_.slot_of(stripe);
    if (slot == no_slot) continue;
    pages.insert(layout_.table_index(slot, 0) / page_checksums);
    pages.insert(layout_.table_index(slot, layout_.columns - 1) / page_checksums);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.state(role) != MemberState::in) continue;
    for (const std::uint64_t page : pages) {
      if (table_.rewrite_if_unsound(role, page)) ++wrong[role];
    }
  }
}

// Compares the valid copy of the index with memory.
void TableScrub::scrub_index(unsigned copy, std::uint64_t first, std::uint64_t end,
                             CountByRole& wrong) {
  const AlignedBytes page_bytes(block_bytes);
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    for (std::uint64_t page = first; page < end && roster_.is_live(role); ++page) {
      const std::span<std::byte> expected = index_.bytes().subspan(page * block_bytes, block_bytes);
      if (!index_.is_written(copy, page)) continue;
      MemberRequest request;
      request.member = role;
      request.offset = layout_.copy_at(copy) + page * block_bytes;
      request.bytes = page_bytes.span();
      const bool is_read = roster_.run(std::span(&request, 1)) == 0;
      if (is_read && std::memcmp(request.bytes.data(), expected.data(), block_bytes) == 0) continue;
      index_.set_changed(page);
      ++wrong[role];
    }
  }
}

void TableScrub::scrub_superblocks(std::uint64_t epoch, CountByRole& wrong) {
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const FoundPlace found = look_at(roster_.members(), roster_.place(role));
    if (!found.superblock || found.superblock->epoch != epoch) ++wrong[role];
  }
}

Status TableScrub::step(std::uint64_t first, std::uint64_t end, ScrubProgress& progress) {
  Log::Locked log(log_);
  CountByRole wrong = {};
  scrub_pages(first, end, wrong);
  const auto share = [&](std::uint64_t stripe) {
    return layout_.index_pages * stripe / layout_.stripes;
  };
  scrub_index(log.superblocks().newest().index_copy, share(first), share(end), wrong);
  if (end == layout_.stripes) scrub_superblocks(log.superblocks().durable_epoch(), wrong);
  if (std::all_of(wrong.begin(), wrong.end(), [](auto blocks) { return blocks == 0; })) {
    return Done{};
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    progress.blocks_wrong[role] += wrong[role];
    roster_.counters(role).blocks_wrong += wrong[role];
  }
  if (const Status written = log.checkpoint(); !written) {
    return make_error(written.error().code,
                      "cannot flush repaired checksum tables: ", written.error().message);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    progress.blocks_repaired += wrong[role];
    roster_.counters(role).blocks_repaired += wrong[role];
  }
  return Done{};
}

}  // namespace calpe::array
