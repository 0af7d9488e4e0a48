// SPDX-License-Identifier: Apache-2.0
// The lease of an open array: claimed before anything else is written, renewed while it is open,
// and given up by close(). A renewal is the newest superblock with a higher count of renewals, in
// the copy that is not valid, so that a crash leaves one of the two.
#include "array/core/array_core.hpp"
#include "array/format/member_format.hpp"
#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

void Core::write_lease() {
  const std::int64_t begun = options_.lease->now();
  superblock_.lease.holder = options_.lease->holder();
  ++superblock_.lease.renewals;
  const AlignedBytes bytes(layout_.roles() * block_bytes);
  std::vector<MemberRequest> requests;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const SuperblockBytes image = to_bytes(superblock_of(role, superblock_.roles[role].uuid));
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = (1 - roster_.copy(role)) * block_bytes;
    request.bytes = bytes.span().subspan(requests.size() * block_bytes, block_bytes);
    request.is_durable = true;
    request.is_past_cache = true;
    std::copy(image.begin(), image.end(), request.bytes.begin());
    requests.push_back(request);
  }
  roster_.run(requests);
  for (const MemberRequest& request : requests) {
    if (!request.error) roster_.copy(request.member) ^= 1U;
  }
  options_.lease->set_renewed(begun);
}

// Fails only if a readable superblock names another server. Unreadable members are handled by the
// calls that read data.
Status Core::check_lease() {
  if (options_.lease == nullptr) return Done{};
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const FoundPlace found = look_at(roster_.members(), roster_.place(role));
    if (!found.superblock) continue;
    const bool is_ours =
        found.superblock->array == array_ && found.superblock->lease.id == options_.lease->id();
    if (is_ours) continue;
    roster_.stop(text("another server has taken the array over: member ", role, " names ",
                      described(found.superblock->lease.holder), "; this one has stopped"));
    break;
  }
  return roster_.check();
}

Status Core::claim_lease() {
  const std::lock_guard lock(commit_mutex_);
  CALPE_CHECK(options_.lease->check_free());
  superblock_.lease.is_held = true;
  superblock_.lease.id = options_.lease->id();
  write_lease();
  CALPE_CHECK(roster_.check());
  options_.lease->settle();
  CALPE_CHECK(check_lease());
  is_opening_ = true;
  roster_.set_guard([this] { guard_lease(); });
  return Done{};
}

// A server that was suspended must not write over what another has written since, nor read what is
// old by now. One that recovers for long must not lose its lease: only one thread works then, and
// it renews.
void Core::guard_lease() {
  if (is_opening_ && !is_renewing_ && options_.lease->is_due()) {
    is_renewing_ = true;
    if (check_lease()) write_lease();
    is_renewing_ = false;
  } else if (!is_renewing_ && options_.lease->is_late()) {
    static_cast<void>(check_lease());  // stops the roster, which then refuses
  }
}

Status Core::renew_lease() {
  const std::lock_guard lock(commit_mutex_);
  CALPE_CHECK(check_lease());
  write_lease();
  return settle_members();
}

Return Core::returning(const Superblock& found, unsigned role) {
  const std::lock_guard lock(commit_mutex_);
  if (has_diverged(found, superblock_, role)) return Return::diverged;
  const RoleRecord record = roster_.record(role);
  const bool is_known = !record.needs_full && found.epoch >= record.out_epoch;
  return is_known ? Return::by_missed : Return::in_full;
}

}  // namespace calpe::array
