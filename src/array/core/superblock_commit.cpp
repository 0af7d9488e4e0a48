// SPDX-License-Identifier: Apache-2.0
// Superblocks: whoever went out is out durably on those who are left, before anything that he
// missed is acknowledged.
#include "array/core/array_core.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

Superblock Core::superblock_of(unsigned role, const Uuid& uuid) const {
  Superblock mine = superblock_;
  mine.role = role;
  mine.member = uuid;
  return mine;
}

// False: somebody failed, and is out in memory only.
bool Core::write_superblocks() {
  superblock_.epoch += epoch_step_;
  epoch_step_ = 1;
  superblock_.previous = durable_epoch_;
  superblock_.roles.resize(layout_.roles());
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    RoleRecord record = roster_.record(role);
    if (record.state == MemberState::out && record.out_epoch == 0) {
      record.out_epoch = durable_epoch_;
      roster_.set(role, record);
    }
    superblock_.roles[role] = record;
  }
  const std::size_t spares = roster_.spares().size();
  AlignedBytes bytes((layout_.roles() + spares) * block_bytes);
  std::vector<MemberRequest> requests;
  const auto add = [&](unsigned member, unsigned copy, const Superblock& superblock) {
    const SuperblockBytes image = to_bytes(superblock);
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = member;
    request.offset = (1 - copy) * block_bytes;
    request.bytes = bytes.span().subspan(requests.size() * block_bytes, block_bytes);
    request.is_durable = true;
    request.is_past_cache = true;
    std::copy(image.begin(), image.end(), request.bytes.begin());
    requests.push_back(request);
  };
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    add(role, roster_.copy(role), superblock_of(role, superblock_.roles[role].uuid));
  }
  const std::size_t of_roles = requests.size();
  for (const SparePlace& spare : roster_.spares()) {
    add(spare.place, spare.copy, superblock_of(no_role, spare.uuid));
  }
  const std::uint64_t failed_roles = roster_.run(std::span(requests).first(of_roles));
  for (std::size_t i = 0; i < of_roles; ++i) {
    if (!requests[i].error) roster_.copy(requests[i].member) ^= 1U;
  }
  roster_.members().run(std::span(requests).subspan(of_roles));
  std::vector<SparePlace> left;
  for (std::size_t i = 0; i < spares; ++i) {
    SparePlace spare = roster_.spares()[i];
    spare.copy ^= 1U;
    if (!requests[of_roles + i].error) left.push_back(spare);  // else: one spare less
  }
  roster_.spares() = std::move(left);
  if (failed_roles == 0) durable_epoch_ = superblock_.epoch;
  return failed_roles == 0;
}

Status Core::settle_members() {
  while (roster_.take_changed()) {
    if (roster_.is_failed()) break;
    if (roster_.take_left()) {
      // What the log holds may not have come to its place at whoever left.
      for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
        if (touched_[stripe] != 0) index_.set_missed(stripe);
      }
    }
    write_superblocks();
  }
  return roster_.check();
}

}  // namespace calpe::array
