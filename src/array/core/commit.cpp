// SPDX-License-Identifier: Apache-2.0
// Commit: the pending batch goes to the logs of its members, is durable with that, and then goes to
// its places, which nobody waits for.
#include <algorithm>
#include <bit>

#include "array/core/array_core.hpp"
#include "base/assert.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

// So many requests at once: no member needs more, and each has a price in memory.
constexpr std::size_t requests_most = 1024;

}  // namespace

Status Core::commit() {
  const std::lock_guard lock(commit_mutex_);
  return commit_locked();
}

void Core::flush_live() {
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

void Core::touch(std::uint64_t stripe) {
  touched_[stripe] = 1;
  if (roster_.live_roles() != (~std::uint64_t{0} >> (64 - layout_.roles()))) {
    index_.set_missed(stripe);
  }
}

void Core::set_zeros(const LogRecord& record) {
  std::vector<std::uint64_t> checks(layout_.columns);
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      checks[column] = check_.of_zeros({role, record.stripe, record.slot, column});
    }
    table_.set(role, layout_.table_index(record.slot, 0), checks);
  }
}

// The slot that the stripe leaves is free from now on: what led there is not valid any more.
void Core::apply_slot(const LogRecord& record) {
  const std::uint32_t before = index_.slot_of(record.stripe);
  index_.set_slot(record.stripe, record.slot);
  if (record.kind == RecordKind::zeros) set_zeros(record);
  if (before != no_slot && before != record.slot) stripes_.free_slots().give(before);
}

void Core::apply(const BatchHeader& header) {
  for (const LogRecord& record : header.records) {
    touch(record.stripe);
    const bool is_slot = record.kind == RecordKind::whole || record.kind == RecordKind::zeros ||
                         record.kind == RecordKind::hole;
    if (is_slot) apply_slot(record);
    if (record.checks.empty()) continue;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (!record.has(role) || !roster_.is_live(role)) continue;
      std::span<const std::uint64_t> checks = record.words_of(role);
      if (record.kind == RecordKind::blocks) checks = checks.first(1);
      table_.set(role, layout_.table_index(record.slot, record.column), checks);
    }
  }
}

void Core::write_in_place() {
  std::vector<MemberRequest> requests;
  const auto run = [&] {
    roster_.run(requests);
    requests.clear();
  };
  overlay_.committing().for_each_block([&](std::uint64_t /*stripe*/, std::uint32_t slot,
                                           std::uint32_t column, unsigned role,
                                           std::span<std::byte> bytes) {
    if (!roster_.is_live(role)) return;
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = layout_.block_at(slot, column);
    request.bytes = bytes;
    requests.push_back(request);
    if (requests.size() == requests_most) run();
  });
  run();
}

// With room in every log that gets a part.
Status Core::append(BatchHeader& header) {
  const auto name = [&] { return BatchName{array_, superblock_.generation, sequence_ + 1}; };
  header = overlay_.committing().header(name(), roster_.live_roles());
  bool is_full = false;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((header.roles >> role & 1U) == 0) continue;
    is_full = is_full || log_used_[role] + header.part_bytes(role) > layout_.log_bytes;
  }
  if (is_full) {
    CALPE_CHECK(checkpoint_locked());
    header = overlay_.committing().header(name(), roster_.live_roles());
  }
  std::vector<MemberRequest> requests;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((header.roles >> role & 1U) == 0) continue;
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = log_at + log_used_[role];
    request.bytes = overlay_.committing().part(role, header);
    request.is_durable = true;
    request.is_past_cache = true;
    CALPE_ASSERT(log_used_[role] + request.bytes.size() <= layout_.log_bytes);
    log_used_[role] += request.bytes.size();
    requests.push_back(request);
  }
  ++sequence_;
  roster_.run(requests);
  return Done{};
}

Status Core::commit_locked() {
  if (roster_.is_failed()) return roster_.check();
  // Blocks that repairs wrote: the flush makes them durable, and the batch has their checksums.
  const CountByRole rewritten = overlay_.begin_commit();
  const bool is_repair =
      std::any_of(rewritten.begin(), rewritten.end(), [](auto blocks) { return blocks != 0; });
  if (is_repair || overlay_.committing().needs_flush()) flush_live();
  CALPE_CHECK(settle_members());
  if (!overlay_.committing().is_empty()) CALPE_CHECK(commit_batch());
  for (unsigned role = 0; is_repair && role < layout_.roles(); ++role) {
    if (roster_.is_live(role)) roster_.counters(role).blocks_repaired += rewritten[role];
  }
  if (table_.has_too_many_dirty()) return checkpoint_locked();
  return settle_members();
}

Status Core::commit_batch() {
  BatchHeader header;
  CALPE_CHECK(append(header));
  CALPE_CHECK(settle_members());  // before anybody is told
  ++commits_;
  apply(header);
  write_in_place();
  overlay_.end_commit();
  return Done{};
}

}  // namespace calpe::array
