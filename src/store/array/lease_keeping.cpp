// SPDX-License-Identifier: Apache-2.0
// The lease of an open array: claimed before anything else is written, renewed while it is open,
// and given up by close(). A renewal is the newest superblock with a higher count of renewals, in
// the copy that is not valid, so that a crash leaves one of the two.
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/array/array_core.hpp"
#include "store/array/format.hpp"
#include "store/array/places.hpp"

namespace calpe::store::array {

void Core::write_lease() {
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
}

// Only what is readable and of another server says no: a member that cannot be read is the
// business of those who read it.
Status Core::check_lease() {
  if (options_.lease_id == 0) return Done{};
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    const FoundPlace found = look_at(roster_.members(), roster_.place(role));
    if (!found.superblock) continue;
    const bool is_ours =
        found.superblock->array == array_ && found.superblock->lease.id == options_.lease_id;
    if (is_ours) continue;
    roster_.stop(text("another server has taken the array over: member ", role, " names ",
                      described(found.superblock->lease.holder), "; this one has stopped"));
    break;
  }
  return failed();
}

Status Core::claim_lease(const LeaseHolder& holder) {
  const std::lock_guard lock(commit_mutex_);
  superblock_.lease.is_held = true;
  superblock_.lease.id = options_.lease_id;
  superblock_.lease.holder = holder;
  write_lease();
  CALPE_CHECK(failed());
  if (options_.settle) options_.settle();
  return check_lease();
}

Status Core::renew_lease(const LeaseHolder& holder) {
  const std::lock_guard lock(commit_mutex_);
  CALPE_CHECK(check_lease());
  superblock_.lease.holder = holder;
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

}  // namespace calpe::store::array
