// SPDX-License-Identifier: Apache-2.0
#include "array/core/chunk_writer.hpp"

#include <bit>
#include <span>

namespace calpe::array {

namespace {

template <class Visit>
void for_each_role(std::uint64_t roles, const Visit& visit) {
  for (; roles != 0; roles &= roles - 1)
    visit(static_cast<unsigned>(std::countr_zero(roles)));
}

}  // namespace

void ChunkWriter::want(const StripeAt& at, std::uint64_t roles, StripeBuffer& buffer) const {
  for_each_role(roles, [&](unsigned role) {
    const std::size_t first = buffer.at(layout_.shard_of(role, at.stripe), 0);
    std::fill_n(buffer.needs.begin() + static_cast<std::ptrdiff_t>(first), layout_.columns,
                needs_block);
  });
}

void ChunkWriter::compute_checks(const StripeAt& at, std::uint64_t roles,
                                 StripeBuffer& buffer) const {
  for_each_role(roles, [&](unsigned role) {
    const unsigned shard = layout_.shard_of(role, at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const std::size_t i = buffer.at(shard, column);
      const BlockPlace place{role, at.stripe, at.slot, column};
      const bool is_good = buffer.states[i] == BlockState::good;
      buffer.checks[i] = is_good ? check_.of(place, buffer.block(shard, column)) : unknown_check;
    }
  });
}

void ChunkWriter::add_writes(const StripeAt& at, std::uint64_t roles, StripeBuffer& buffer,
                             std::vector<MemberRequest>& to) const {
  for_each_role(roles, [&](unsigned role) {
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = layout_.block_at(at.slot, 0);
    request.bytes = buffer.blocks(layout_.shard_of(role, at.stripe), 0, layout_.columns);
    request.is_past_cache = true;
    to.push_back(request);
  });
}

void ChunkWriter::set_checks(const StripeAt& at, std::uint64_t roles,
                             const StripeBuffer& buffer) const {
  for_each_role(roles, [&](unsigned role) {
    const std::size_t first = buffer.at(layout_.shard_of(role, at.stripe), 0);
    table_.set(role, layout_.table_index(at.slot, 0),
               std::span(buffer.checks).subspan(first, layout_.columns));
  });
}

}  // namespace calpe::array
