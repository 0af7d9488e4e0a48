// SPDX-License-Identifier: Apache-2.0
// Checkpoint: once the contents of the log are durable in place, a new generation starts at the
// beginning of the log. Only the superblock decides which generation is valid.
#include "array/core/log.hpp"
#include "base/try.hpp"

namespace calpe::array {

void Log::write_tables(unsigned copy, const std::vector<ChecksumTable::Dirty>& pages) {
  std::vector<MemberRequest> requests;
  const auto add = [&](unsigned role, std::uint64_t offset, std::span<std::byte> bytes) {
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = offset;
    request.bytes = bytes;
    requests.push_back(request);
    if (requests.size() < requests_most) return;
    roster_.run(requests);
    requests.clear();
  };
  for (const ChecksumTable::Dirty& page : pages) {
    if (!roster_.is_live(page.role)) continue;
    index_.set_digest(page.role, page.page,
                      page_digest(array_, page.role, page.page, page.bytes) | page.place);
    add(page.role, layout_.page_at(page.page, page.place), page.bytes);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    index_.for_each_changed(copy, [&](std::uint64_t page, std::span<std::byte> bytes) {
      add(role, layout_.copy_at(copy) + page * block_bytes, bytes);
    });
  }
  roster_.run(requests);
}

Status Log::checkpoint_all(const BeforeSuperblock& before) {
  write_in_place();
  const unsigned copy = 1 - superblocks_.newest().index_copy;
  const std::vector<ChecksumTable::Dirty> pages = table_.dirty();
  do {
    CALPE_CHECK(settle_members());  // may change the index
    write_tables(copy, pages);
    flush_live();
  } while (roster_.is_changed());
  CALPE_CHECK(roster_.check());
  index_.set_written(copy);
  for (const ChecksumTable::Dirty& page : pages) {
    table_.set_written(page);
  }
  if (before) before();
  superblocks_.begin_generation(copy, index_.root());
  while (!superblocks_.write()) {
    if (roster_.is_failed()) return roster_.check();
  }
  // A member that just failed has all blocks in place, and misses only later batches.
  used_.fill(0);
  is_half_full_ = false;
  sequence_ = 0;
  applied_.clear();
  ++checkpoints_;
  return Done{};
}

}  // namespace calpe::array
