// SPDX-License-Identifier: Apache-2.0
#include "array/state/roster.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.hpp"

namespace calpe::array {

Roster::Roster(Members& members, const MemberLayout& layout) : members_(members), layout_(layout) {}

std::uint64_t Roster::in_roles() const noexcept {
  std::uint64_t roles = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (state(role) == MemberState::in) roles |= std::uint64_t{1} << role;
  }
  return roles;
}

std::uint64_t Roster::live_roles() const noexcept {
  std::uint64_t roles = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (is_live(role)) roles |= std::uint64_t{1} << role;
  }
  return roles;
}

unsigned Roster::not_in_count() const noexcept {
  return layout_.roles() - static_cast<unsigned>(std::popcount(in_roles()));
}

unsigned Roster::may_fail() const noexcept {
  const unsigned lost = not_in_count();
  return lost >= layout_.parity ? 0 : layout_.parity - lost;
}

bool Roster::can_do_without(std::uint64_t places) const noexcept {
  unsigned taken = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    const unsigned at = place(role);
    const bool is_there = at < members_most && (places >> at & 1U) != 0;
    if (is_there && state(role) == MemberState::in) ++taken;
  }
  return taken == 0 || not_in_count() + taken <= layout_.parity;
}

void Roster::set(unsigned role, const RoleRecord& record) {
  const std::lock_guard lock(mutex_);
  Role& to = roles_[role];
  to.record = record;
  to.watermark = record.watermark;
  to.slots_done = record.slots_done.value_or(0);
  to.state = record.state;
  if (record.state != MemberState::out) to.why.clear();
}

void Roster::set_in(unsigned role, const RoleRecord& record) {
  const std::lock_guard lock(mutex_);
  Role& to = roles_[role];
  if (to.state != MemberState::rebuilding) return;
  to.record = record;
  to.state = MemberState::in;
}

void Roster::mark_out(unsigned role, const std::string& why, Exit exit) {
  std::string reason = why;  // allocates before anything changes
  const std::lock_guard lock(mutex_);
  Role& one = roles_[role];
  const MemberState before = one.state;
  if (before == MemberState::out) {
    if (exit != Exit::on_request) return;
    one.record.on_request = true;
    one.why = std::move(reason);
    changed_ = true;
    return;
  }
  if (before == MemberState::in && not_in_count() >= layout_.parity) {
    is_failed_ = true;
    if (failed_.empty()) {
      failed_ = make_error(ErrorCode::unrecoverable, not_in_count() + 1,
                           " members are out; at most ", layout_.parity, " may be: ", why)
                    .message;
    }
    return;  // durable state never records that too many are out
  }
  one.record.needs_full =
      exit == Exit::needs_full || (before == MemberState::rebuilding && !one.record.by_missed);
  one.record.on_request = exit == Exit::on_request;
  // The next superblock sets it. A member that was rebuilding only missed stripes keeps its old
  // value.
  if (before == MemberState::in || !one.record.by_missed) one.record.out_epoch = 0;
  one.record.by_missed = false;
  one.why = std::move(reason);
  left_ = true;
  changed_ = true;
  one.state = MemberState::out;
}

void Roster::set_why(unsigned role, std::string why) {
  const std::lock_guard lock(mutex_);
  roles_[role].why = std::move(why);
}

void Roster::set_out_epoch(unsigned role, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  std::uint64_t& known = roles_[role].record.out_epoch;
  if (known == 0) known = std::max<std::uint64_t>(epoch, 1);
}

void Roster::set_needs_full(unsigned role) {
  const std::lock_guard lock(mutex_);
  Role& one = roles_[role];
  if (one.state != MemberState::out || one.record.needs_full) return;
  one.record.needs_full = true;
  changed_ = true;
}

std::string Roster::why(unsigned role) const {
  const std::lock_guard lock(mutex_);
  return roles_[role].why;
}

MemberErrors Roster::errors(unsigned role) const noexcept {
  const RoleCounters& from = roles_[role].counters;
  return {.reads = from.read_errors,
          .writes = from.write_errors,
          .blocks_wrong = from.blocks_wrong,
          .blocks_repaired = from.blocks_repaired};
}

void Roster::set_errors(unsigned role, const MemberErrors& errors) noexcept {
  RoleCounters& to = roles_[role].counters;
  to.read_errors = errors.reads;
  to.write_errors = errors.writes;
  to.blocks_wrong = errors.blocks_wrong;
  to.blocks_repaired = errors.blocks_repaired;
}

RoleRecord Roster::record(unsigned role) const {
  const std::lock_guard lock(mutex_);
  RoleRecord record = roles_[role].record;
  record.state = roles_[role].state;
  record.watermark = 0;
  record.slots_done.reset();
  record.errors = errors(role);
  if (record.state == MemberState::rebuilding) {
    record.watermark = roles_[role].watermark;
    record.slots_done = roles_[role].slots_done.load();
  }
  return record;
}

void Roster::stop(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  is_failed_ = true;
  is_stopped_ = true;
  failed_ = why;
}

void Roster::stop_without_memory() noexcept {
  is_failed_ = true;
  is_stopped_ = true;
}

std::string Roster::failed() const {
  const std::lock_guard lock(mutex_);
  return is_failed_ && failed_.empty() ? no_memory_text : failed_;
}

Status Roster::check() const {
  if (!is_failed()) return Done{};
  return Error{ErrorCode::unrecoverable, failed()};
}

// The members have not failed, so none goes out.
std::uint64_t Roster::refuse(std::span<MemberRequest> batch) const {
  std::uint64_t roles = 0;
  for (MemberRequest& request : batch) {
    request.error = Error{ErrorCode::io, failed()};
    roles |= std::uint64_t{1} << request.member;
  }
  return roles;
}

std::uint64_t Roster::run(std::span<MemberRequest> batch) {
  if (batch.empty()) return 0;
  pass_guard();
  return run_past_guard(batch);
}

std::uint64_t Roster::run_with(std::span<MemberRequest> batch, const SuccessorAt& to,
                               std::span<MemberRequest> of_successor,
                               const std::function<void()>& work) {
  if (batch.empty() && of_successor.empty()) {
    work();
    return 0;
  }
  pass_guard();
  if (is_stopped_) {
    work();
    return refuse(batch);
  }
  const bool is_successor = successor() == to;
  std::vector<unsigned> roles;
  std::vector<MemberRequest> all;
  roles.reserve(batch.size());
  all.reserve(batch.size() + of_successor.size());
  for (const MemberRequest& request : batch) {
    roles.push_back(request.member);
    all.push_back(request);
    all.back().member = place(request.member);
  }
  if (is_successor) all.insert(all.end(), of_successor.begin(), of_successor.end());
  members_.run_with(all, work);
  for (std::size_t i = 0; i < batch.size(); ++i)
    batch[i].error = std::move(all[i].error);
  for (std::size_t i = batch.size(); i < all.size(); ++i) {
    of_successor[i - batch.size()].error = all[i].error;
    if (all[i].error && successor() == to) drop_successor(all[i].error->message);
  }
  return note_errors(batch, roles);
}

void Roster::drop_successor(const std::string& why) {
  std::string reason = why;
  const std::lock_guard lock(mutex_);
  if (successor().role == no_role) return;
  why_no_successor_ = std::move(reason);
  end_successor();
  changed_ = true;
}

std::string Roster::why_no_successor() const {
  const std::lock_guard lock(mutex_);
  return why_no_successor_;
}

void Roster::run_on_successor(const SuccessorAt& to, std::span<MemberRequest> batch) {
  if (batch.empty()) return;
  pass_guard();
  if (is_stopped_ || successor() != to) return;
  members_.run(batch);
  for (const MemberRequest& request : batch) {
    if (request.error) drop_successor(request.error->message);
  }
}

// Writes and flushes of the role, but not superblocks: the successor has its own.
Roster::Copies Roster::copies_for(const SuccessorAt& to, std::span<MemberRequest> batch) {
  Copies copies;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const MemberRequest& request = batch[i];
    const bool is_change = request.call == MemberCall::flush ||
                           (request.call == MemberCall::write && request.offset >= log_at);
    if (request.member != to.role || !is_change) continue;
    copies.requests.push_back(request);
    copies.requests.back().member = to.place;
    copies.of.push_back(i);
  }
  copies.requests.reserve(copies.of.size() + batch.size());
  return copies;
}

// In one call, so that both disks work at the same time.
void Roster::run_with_copies(std::span<MemberRequest> batch, Copies& copies,
                             const SuccessorAt& to) {
  const std::size_t count = copies.of.size();
  copies.requests.insert(copies.requests.end(), batch.begin(), batch.end());
  members_.run(copies.requests);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    batch[i].error = std::move(copies.requests[count + i].error);
  }
  // If the successor has taken over in the meantime, the old disk does not count.
  const bool is_member = place(to.role) == to.place;
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Error>& error = copies.requests[i].error;
    if (is_member) {
      batch[copies.of[i]].error = std::move(error);
    } else if (error && successor() == to) {
      drop_successor(error->message);
    }
  }
}

std::uint64_t Roster::run_past_guard(std::span<MemberRequest> batch) {
  if (is_stopped_) return refuse(batch);
  // Read before the place, which changes first when the successor takes over.
  const SuccessorAt to = successor();
  const unsigned old_place = to.role == no_role ? no_place : place(to.role);
  Copies copies;
  if (to.role != no_role && old_place != to.place) copies = copies_for(to, batch);
  std::array<unsigned, 64> few = {};
  std::vector<unsigned> many(batch.size() > few.size() ? batch.size() : 0);
  const std::span<unsigned> roles = many.empty() ? std::span(few) : std::span(many);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    roles[i] = batch[i].member;
    batch[i].member = roles[i] == to.role ? old_place : place(roles[i]);
  }
  if (copies.of.empty()) {
    members_.run(batch);
  } else {
    run_with_copies(batch, copies, to);
  }
  return note_errors(batch, roles);
}

// Restores the roles of requests that have run.
std::uint64_t Roster::note_errors(std::span<MemberRequest> batch, std::span<const unsigned> roles) {
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    MemberRequest& request = batch[i];
    request.member = roles[i];
    if (!request.error) continue;
    const unsigned role = roles[i];
    failed |= std::uint64_t{1} << role;
    if (request.call == MemberCall::read) {
      ++counters(role).read_errors;
    } else {
      ++counters(role).write_errors;
      mark_out(role, request.error->message);
    }
  }
  return failed;
}

}  // namespace calpe::array
