// SPDX-License-Identifier: Apache-2.0
// Commit: appends the pending batch to the logs of its members, which makes it durable, and writes
// the batch before it in place, without a flush.
#include <algorithm>
#include <optional>

#include "array/core/log.hpp"
#include "base/assert.hpp"
#include "base/try.hpp"

namespace calpe::array {

void Log::flush_live() {
  std::vector<MemberRequest> requests;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    MemberRequest request;
    request.call = MemberCall::flush;
    request.member = role;
    requests.push_back(request);
  }
  roster_.run(requests);
}

// Appends requests that write the last durable batch in place, and runs them if they become too
// many. Blocks that are adjacent, such as those of a chunk, become one request.
void Log::add_in_place(std::vector<MemberRequest>& requests) {
  constexpr std::size_t none = ~std::size_t{0};
  std::array<std::size_t, members_most> last;  // request of each role
  last.fill(none);
  overlay_.placing().for_each_block([&](std::uint64_t /*stripe*/, std::uint32_t slot,
                                        std::uint32_t column, unsigned role,
                                        std::span<std::byte> bytes) {
    if (!roster_.is_live(role)) return;
    const std::uint64_t offset = layout_.block_at(slot, column);
    if (last[role] != none) {
      std::span<std::byte>& before = requests[last[role]].bytes;
      const bool is_next = requests[last[role]].offset + before.size() == offset &&
                           before.data() + before.size() == bytes.data();
      if (is_next) {
        before = {before.data(), before.size() + bytes.size()};
        return;
      }
    }
    if (requests.size() >= requests_most) {
      roster_.run(requests);
      requests.clear();
      last.fill(none);
    }
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = offset;
    request.bytes = bytes;
    last[role] = requests.size();
    requests.push_back(request);
  });
}

void Log::write_in_place() {
  if (overlay_.placing().is_empty()) return;
  std::vector<MemberRequest> requests;
  add_in_place(requests);
  roster_.run(requests);
  overlay_.end_placing();
}

// Makes a checkpoint first if a log has no room for its part.
Status Log::append(BatchHeader& header) {
  const auto name = [&] {
    return BatchName{array_, superblocks_.newest().generation, sequence_ + 1};
  };
  header = overlay_.committing().header(name(), roster_.live_roles());
  bool is_full = false;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((header.roles >> role & 1U) == 0) continue;
    is_full = is_full || used_[role] + header.part_bytes(role) > layout_.log_bytes;
  }
  if (is_full) {
    CALPE_CHECK(checkpoint_locked());
    header = overlay_.committing().header(name(), roster_.live_roles());
  }
  // The batch before is written in place while the disks make this one durable. No request of this
  // one is sent, and nothing counts as appended, until all are made.
  std::vector<MemberRequest> requests;
  add_in_place(requests);
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((header.roles >> role & 1U) == 0) continue;
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = log_at + used_[role];
    request.bytes = overlay_.committing().part(role, header);
    request.is_durable = true;
    request.is_past_cache = true;
    CALPE_ASSERT(used_[role] + request.bytes.size() <= layout_.log_bytes);
    requests.push_back(request);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((header.roles >> role & 1U) != 0) used_[role] += header.part_bytes(role);
    if (used_[role] > layout_.log_bytes / 2) is_half_full_ = true;
  }
  ++sequence_;
  roster_.run(requests);
  overlay_.end_placing();
  return Done{};
}

Status Log::commit_all() {
  if (roster_.is_failed()) return roster_.check();
  // The flush makes blocks of repairs durable; the batch has their checksums.
  const std::optional<CountByRole> rewritten = overlay_.begin_commit();
  if (!rewritten) {
    roster_.stop_without_memory();
    return roster_.check();
  }
  const bool is_repair =
      std::any_of(rewritten->begin(), rewritten->end(), [](auto blocks) { return blocks != 0; });
  if (is_repair || overlay_.committing().needs_flush()) flush_live();
  CALPE_CHECK(settle_members());
  if (!overlay_.committing().is_empty()) CALPE_CHECK(commit_batch());
  for (unsigned role = 0; is_repair && role < layout_.roles(); ++role) {
    if (roster_.is_live(role)) roster_.counters(role).blocks_repaired += (*rewritten)[role];
  }
  if (table_.has_too_many_dirty()) return checkpoint_locked();
  return settle_members();
}

Status Log::commit_batch() {
  BatchHeader header;
  CALPE_CHECK(append(header));
  CALPE_CHECK(settle_members());  // before the batch counts as durable
  ++commits_;
  applied_.apply(header);
  overlay_.begin_placing();
  return Done{};
}

Status Log::settle_members() {
  while (roster_.take_changed()) {
    if (roster_.is_failed()) break;
    if (roster_.take_left()) applied_.set_missed();
    try {
      superblocks_.write();
    } catch (...) {
      roster_.set_changed();  // the next call writes them
      throw;
    }
  }
  return roster_.check();
}

}  // namespace calpe::array
