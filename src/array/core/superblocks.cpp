// SPDX-License-Identifier: Apache-2.0
#include "array/core/superblocks.hpp"

#include <algorithm>
#include <utility>

#include "store/format/block_checksum.hpp"

namespace calpe::array {

Superblocks::Superblocks(SharedState& shared, const Superblock& newest)
    : layout_(shared.layout),
      options_(shared.options),
      roster_(shared.roster),
      newest_(newest),
      durable_epoch_(newest.epoch) {}

Superblock Superblocks::of(unsigned role, const Uuid& uuid) const {
  Superblock mine = newest_;
  mine.role = role;
  mine.member = uuid;
  return mine;
}

// A successor is a spare, of a role that is in.
Successor Superblocks::successor() {
  const SuccessorAt to = roster_.successor();
  if (to.role == no_role) return {};
  for (const SparePlace& spare : roster_.spares()) {
    if (spare.place != to.place || roster_.state(to.role) != MemberState::in) continue;
    return {.uuid = spare.uuid, .role = to.role, .slots_done = roster_.successor_slots()};
  }
  const bool is_in = roster_.state(to.role) == MemberState::in;
  roster_.drop_successor(is_in ? "cannot write " + roster_.members().name(to.place)
                               : "it is out: " + roster_.why(to.role));
  return {};
}

bool Superblocks::write() {
  roster_.pass_guard();
  newest_.epoch += epoch_step_;
  epoch_step_ = 1;
  newest_.previous = durable_epoch_;
  newest_.roles.resize(layout_.roles());
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    RoleRecord record = roster_.record(role);
    if (record.state == MemberState::out && record.out_epoch == 0) {
      record.out_epoch = durable_epoch_;
      roster_.set(role, record);
    }
    newest_.roles[role] = record;
  }
  newest_.successor = successor();
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
    add(role, roster_.copy(role), of(role, newest_.roles[role].uuid));
  }
  const std::size_t of_roles = requests.size();
  for (const SparePlace& spare : roster_.spares()) {
    add(spare.place, spare.copy, of(no_role, spare.uuid));
  }
  const std::uint64_t failed_roles = roster_.run_past_guard(std::span(requests).first(of_roles));
  for (std::size_t i = 0; i < of_roles; ++i) {
    if (!requests[i].error) roster_.copy(requests[i].member) ^= 1U;
  }
  roster_.members().run(std::span(requests).subspan(of_roles));
  std::vector<SparePlace> left;
  for (std::size_t i = 0; i < spares; ++i) {
    SparePlace spare = roster_.spares()[i];
    spare.copy ^= 1U;
    if (!requests[of_roles + i].error) left.push_back(spare);  // drop a spare that fails
  }
  roster_.spares() = std::move(left);
  static_cast<void>(successor());  // dropped with its spare
  if (failed_roles == 0) durable_epoch_ = newest_.epoch;
  return failed_roles == 0;
}

void Superblocks::begin_session(bool is_member_missing) {
  if (is_member_missing) epoch_step_ = 2;
  // Opened again by the same process, after it grew.
  if (options_.lease != nullptr && newest_.session == options_.lease->id()) return;
  newest_.past.insert(newest_.past.begin(), {newest_.session, newest_.epoch});
  if (newest_.past.size() > past_sessions_max) newest_.past.resize(past_sessions_max);
  // If there is no random source, the two halves of a split brain still get different ones.
  const store::BlockName opening{.uuid = newest_.array,
                                 .generation = newest_.epoch,
                                 .stripe = roster_.live_roles(),
                                 .shard = 3};
  newest_.session = options_.lease != nullptr ? options_.lease->id() : store::block_mask(opening);
}

void Superblocks::begin_generation(unsigned index_copy, std::uint64_t index_root) {
  newest_.index_copy = index_copy;
  newest_.index_root = index_root;
  ++newest_.generation;
}

void Superblocks::set_size(const Growth& to) noexcept {
  newest_.settings = to.settings;
  newest_.shape = to.shape;
  newest_.scrub.next = 0;
}

void Superblocks::claim_lease(std::uint64_t id) noexcept {
  newest_.lease.is_held = true;
  newest_.lease.id = id;
}

void Superblocks::renew_lease(const LeaseHolder& holder) {
  newest_.lease.holder = holder;
  ++newest_.lease.renewals;
  // A renewal also makes these durable, so that an idle array writes nothing for them.
  for (unsigned role = 0; role < newest_.roles.size(); ++role)
    newest_.roles[role].errors = roster_.errors(role);
}

}  // namespace calpe::array
