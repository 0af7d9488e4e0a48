// SPDX-License-Identifier: Apache-2.0
#include "array/core/held_lease.hpp"

#include <algorithm>

#include "array/format/member_format.hpp"
#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

HeldLease::HeldLease(SharedState& shared, Superblocks& superblocks)
    : layout_(shared.layout),
      array_(shared.array),
      keeper_(shared.options.lease),
      roster_(shared.roster),
      superblocks_(superblocks) {}

void HeldLease::write() {
  const std::int64_t begun = keeper_->now();
  superblocks_.renew_lease(keeper_->holder());
  const AlignedBytes bytes(layout_.roles() * block_bytes);
  std::vector<MemberRequest> requests;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const SuperblockBytes image =
        to_bytes(superblocks_.of(role, superblocks_.newest().roles[role].uuid));
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
  roster_.run_past_guard(requests);
  for (const MemberRequest& request : requests) {
    if (!request.error) roster_.copy(request.member) ^= 1U;
  }
  keeper_->set_renewed(begun);
}

Status HeldLease::check() {
  if (keeper_ == nullptr) return Done{};
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const FoundPlace found = look_at(roster_.members(), roster_.place(role));
    if (!found.superblock) continue;
    const bool is_ours =
        found.superblock->array == array_ && found.superblock->lease.id == keeper_->id();
    if (is_ours) continue;
    roster_.stop(text("another server has taken over the array: member ", role, " names ",
                      described(found.superblock->lease.holder), "; this server has stopped"));
    break;
  }
  return roster_.check();
}

Status HeldLease::claim() {
  CALPE_CHECK(keeper_->check_free());
  superblocks_.claim_lease(keeper_->id());
  write();
  CALPE_CHECK(roster_.check());
  keeper_->settle();
  return take();
}

Status HeldLease::keep() {
  CALPE_CHECK(check());
  write();
  return take();
}

Status HeldLease::take() {
  CALPE_CHECK(check());
  is_opening_ = true;
  roster_.set_guard([this] { guard(); });
  return Done{};
}

// A server that was suspended must not overwrite newer writes of another server, nor read stale
// data. During a long recovery its only thread renews the lease.
void HeldLease::guard() {
  if (is_opening_ && !is_renewing_ && keeper_->is_due()) {
    is_renewing_ = true;
    if (check()) write();
    is_renewing_ = false;
  } else if (!is_renewing_ && keeper_->is_late()) {
    static_cast<void>(check());  // stops the roster, which then refuses requests
  }
}

}  // namespace calpe::array
