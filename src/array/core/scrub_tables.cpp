// SPDX-License-Identifier: Apache-2.0
// Scrubbing what says where blocks are and what they must be: pages of checksums, the index and
// superblocks. Memory has them, so damage on a member would be found when the array is opened next,
// with other members lost by then. A checkpoint writes to the other place what is wrong.
#include <algorithm>
#include <cstring>
#include <set>

#include "array/core/array_core.hpp"
#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

// Checksums of the stripes [first, end).
void Core::scrub_pages(std::uint64_t first, std::uint64_t end, CountByRole& wrong) {
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

// Pages of the index that the valid copy has as memory does.
void Core::scrub_index(std::uint64_t first, std::uint64_t end, CountByRole& wrong) {
  const AlignedBytes page_bytes(block_bytes);
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    for (std::uint64_t page = first; page < end && roster_.is_live(role); ++page) {
      const std::span<std::byte> expected = index_.bytes().subspan(page * block_bytes, block_bytes);
      if (!index_.is_written(superblock_.index_copy, page)) continue;
      MemberRequest request;
      request.member = role;
      request.offset = layout_.copy_at(superblock_.index_copy) + page * block_bytes;
      request.bytes = page_bytes.span();
      const bool is_read = roster_.run(std::span(&request, 1)) == 0;
      if (is_read && std::memcmp(request.bytes.data(), expected.data(), block_bytes) == 0) continue;
      index_.set_changed(page);
      ++wrong[role];
    }
  }
}

void Core::scrub_superblocks(CountByRole& wrong) {
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const FoundPlace found = look_at(roster_.members(), roster_.place(role));
    if (!found.superblock || found.superblock->epoch != durable_epoch_) ++wrong[role];
  }
}

Status Core::scrub_tables(std::uint64_t first, std::uint64_t end, ScrubProgress& progress) {
  const std::lock_guard lock(commit_mutex_);
  CountByRole wrong = {};
  scrub_pages(first, end, wrong);
  const auto share = [&](std::uint64_t stripe) {
    return layout_.index_pages * stripe / layout_.stripes;
  };
  scrub_index(share(first), share(end), wrong);
  if (end == layout_.stripes) scrub_superblocks(wrong);
  if (std::all_of(wrong.begin(), wrong.end(), [](auto blocks) { return blocks == 0; })) {
    return Done{};
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    progress.blocks_wrong[role] += wrong[role];
    roster_.counters(role).blocks_wrong += wrong[role];
  }
  if (const Status written = checkpoint_locked(); !written) {
    return make_error(written.error().code,
                      "repaired tables could not be made durable: ", written.error().message);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    progress.blocks_repaired += wrong[role];
    roster_.counters(role).blocks_repaired += wrong[role];
  }
  return Done{};
}

}  // namespace calpe::array
