// SPDX-License-Identifier: Apache-2.0
#include "array/core/table_scrub.hpp"

#include <algorithm>
#include <cstring>

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

void TableScrub::restart(std::uint64_t slot) {
  pages_.clear();
  first_ = slot;
}

void TableScrub::add(std::uint64_t slot) {
  const auto at = static_cast<std::uint32_t>(slot);
  const std::uint64_t first = layout_.table_index(at, 0) / page_checksums;
  const std::uint64_t last = layout_.table_index(at, layout_.columns - 1) / page_checksums;
  if (pages_.empty() || pages_.back() < first) pages_.push_back(first);
  if (pages_.back() < last) pages_.push_back(last);
}

// Compares the pages with their digests. Both copies of a page are next to each other.
void TableScrub::scrub_run(std::span<const std::uint64_t> pages, CountByRole& wrong) {
  const std::size_t run_pages = pages.back() - pages.front() + 1;
  const AlignedBytes memory(run_pages * 2 * block_bytes * layout_.roles());
  std::vector<MemberRequest> requests;
  std::vector<std::uint64_t> digests;
  {
    const Log::Locked log(log_);
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (roster_.state(role) != MemberState::in) continue;
      MemberRequest request;
      request.member = role;
      request.offset = layout_.page_at(pages.front(), 0);
      request.bytes = memory.span().subspan(requests.size() * run_pages * 2 * block_bytes,
                                            run_pages * 2 * block_bytes);
      request.is_past_cache = true;
      requests.push_back(request);
      for (const std::uint64_t page : pages)
        digests.push_back(index_.digest(role, page));
    }
  }
  roster_.run(requests);
  const Log::Locked log(log_);
  auto digest = digests.begin();
  for (const MemberRequest& request : requests) {
    for (const std::uint64_t page : pages) {
      const std::uint64_t expected = *digest++;
      const std::size_t at = (2 * (page - pages.front()) + (expected & 1U)) * block_bytes;
      const bool is_sound =
          !request.error &&
          table_.matches(request.member, page, expected, request.bytes.subspan(at, block_bytes));
      if (!is_sound && table_.rewrite_unsound(request.member, page, expected))
        ++wrong[request.member];
    }
  }
}

void TableScrub::scrub_pages(CountByRole& wrong) {
  constexpr std::uint64_t run_most = 128;
  for (std::span<const std::uint64_t> rest = pages_; !rest.empty();) {
    std::size_t count = 1;
    const std::uint64_t run_end = std::min(rest[0] + run_most, layout_.run_end(rest[0]));
    while (count < rest.size() && rest[count] < run_end)
      ++count;
    scrub_run(rest.first(count), wrong);
    rest = rest.subspan(count);
  }
  pages_.clear();
}

// Compares the valid copy of the index with memory. Needs the commit lock.
void TableScrub::scrub_index(unsigned copy, std::uint64_t first, std::uint64_t end,
                             CountByRole& wrong) {
  constexpr std::uint64_t run_most = 128;  // pages at once
  const AlignedBytes memory(std::min(run_most, std::max<std::uint64_t>(end - first, 1)) *
                            block_bytes * layout_.roles());
  for (; first < end; first += std::min(run_most, end - first)) {
    const std::uint64_t bytes = std::min(run_most, end - first) * block_bytes;
    std::vector<MemberRequest> requests;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (!roster_.is_live(role)) continue;
      MemberRequest request;
      request.member = role;
      request.offset = layout_.copy_at(copy) + first * block_bytes;
      request.bytes = memory.span().subspan(requests.size() * bytes, bytes);
      request.is_past_cache = true;
      requests.push_back(request);
    }
    roster_.run(requests);
    for (const MemberRequest& request : requests) {
      for (std::uint64_t at = 0; at < bytes; at += block_bytes) {
        const std::uint64_t page = first + at / block_bytes;
        const auto expected = index_.bytes().subspan(page * block_bytes, block_bytes);
        if (!index_.is_written(copy, page)) continue;
        const bool is_right = !request.error && std::memcmp(request.bytes.data() + at,
                                                            expected.data(), block_bytes) == 0;
        if (is_right) continue;
        index_.set_changed(page);
        ++wrong[request.member];
      }
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

Status TableScrub::step(std::uint64_t end, ScrubProgress& progress) {
  const bool is_end = end == layout_.slots;
  if (!is_end && pages_.size() < table_.fetch_most()) return Done{};
  CountByRole wrong = {};
  scrub_pages(wrong);
  Log::Locked log(log_);
  const auto share = [&](std::uint64_t slot) { return layout_.index_pages * slot / layout_.slots; };
  scrub_index(log.superblocks().newest().index_copy, share(first_), share(end), wrong);
  first_ = end;
  if (is_end) scrub_superblocks(log.superblocks().durable_epoch(), wrong);
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
