// SPDX-License-Identifier: Apache-2.0
#include "array/core/chunk_group.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/try.hpp"

namespace calpe::array {

namespace {

constexpr std::uint64_t bytes_most = std::uint64_t{16} << 20U;  // of stripe buffers

template <class Visit>
void for_each_role(std::uint64_t roles, const Visit& visit) {
  for (std::uint64_t left = roles; left != 0; left &= left - 1)
    visit(static_cast<unsigned>(std::countr_zero(left)));
}

}  // namespace

ChunkGroup::ChunkGroup(SharedState& shared, Log& log, StripeLoader& loader)
    : layout_(shared.layout),
      check_(shared.check),
      stock_(shared.stock),
      log_(log),
      loader_(loader) {}

std::uint64_t ChunkGroup::stripes_most(const MemberLayout& layout) noexcept {
  const std::uint64_t stripe_bytes = std::uint64_t{layout.chunk_bytes} * layout.roles();
  return std::clamp<std::uint64_t>(bytes_most / stripe_bytes, 1, 64);
}

void ChunkGroup::add(const StripeAt& at, std::uint64_t roles) {
  stripes_.push_back({.at = at, .roles = roles, .buffer = stock_.take()});
  StripeBuffer& buffer = *stripes_.back().buffer;
  for_each_role(roles, [&](unsigned role) {
    const unsigned shard = layout_.shard_of(role, at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      buffer.needs[buffer.at(shard, column)] = needs_block;
    }
  });
}

Status ChunkGroup::load() {
  std::vector<StripeLoad> loads;
  loads.reserve(stripes_.size());
  for (const StripeOfGroup& one : stripes_) {
    loads.push_back({.at = one.at, .buffer = &*one.buffer});
  }
  loader_.load_all(loads);
  for (StripeLoad& load : loads) {
    const bool is_fatal = !load.result && load.result.error().code != ErrorCode::corrupt;
    if (is_fatal) return std::move(load.result);
  }
  return Done{};
}

std::vector<MemberRequest> ChunkGroup::writes() {
  std::vector<MemberRequest> requests;
  for (StripeOfGroup& one : stripes_) {
    StripeBuffer& buffer = *one.buffer;
    for_each_role(one.roles, [&](unsigned role) {
      const unsigned shard = layout_.shard_of(role, one.at.stripe);
      for (std::uint32_t column = 0; column < layout_.columns; ++column) {
        const bool is_good = buffer.states[buffer.at(shard, column)] == BlockState::good;
        const BlockPlace place{role, one.at.stripe, one.at.slot, column};
        one.checks.push_back(is_good ? check_.of(place, buffer.block(shard, column))
                                     : unknown_check);
      }
      MemberRequest request;
      request.call = MemberCall::write;
      request.member = role;
      request.offset = layout_.block_at(one.at.slot, 0);
      request.bytes = buffer.blocks(shard, 0, layout_.columns);
      request.is_past_cache = true;
      requests.push_back(request);
    });
  }
  return requests;
}

Status ChunkGroup::put_checksums() {
  for (const StripeOfGroup& one : stripes_) {
    CALPE_CHECK(log_.put([&](Batch& batch) {
      if (!batch.fits(RecordKind::chunk, one.roles)) return false;
      batch.put_found({.kind = RecordKind::chunk,
                       .column = 0,
                       .slot = one.at.slot,
                       .stripe = one.at.stripe,
                       .roles = one.roles,
                       .checks = one.checks});
      batch.set_needs_flush();
      return true;
    }));
  }
  return Done{};
}

}  // namespace calpe::array
