// SPDX-License-Identifier: Apache-2.0
#include "array/core/block_repair.hpp"

#include <span>

namespace calpe::array {

BlockRepair::BlockRepair(SharedState& shared, Log& log)
    : layout_(shared.layout),
      options_(shared.options),
      check_(shared.check),
      roster_(shared.roster),
      overlay_(shared.overlay),
      log_(log) {}

// A lost checksum goes through the log, like all changes of the table. Returns false if that fails;
// the block then still needs repair.
bool BlockRepair::put_checksum(const StripeAt& at, unsigned role, std::uint32_t column,
                               std::uint64_t check) {
  const std::uint64_t bit = std::uint64_t{1} << role;
  while (log_.can_append()) {
    const bool is_put = overlay_.put([&](Batch& batch) {
      if (!batch.fits(RecordKind::block, bit)) return false;
      batch.put_found({.kind = RecordKind::block,
                       .column = static_cast<std::uint16_t>(column),
                       .slot = at.slot,
                       .stripe = at.stripe,
                       .roles = bit,
                       .checks = std::span(&check, 1)});
      batch.set_needs_flush();
      overlay_.count_rewritten(role);
      return true;
    });
    if (is_put) return true;
    if (!log_.commit()) return false;
  }
  return false;
}

void BlockRepair::rewrite(const StripeAt& at, StripeBuffer& buffer) {
  if (options_.is_read_only) return;
  buffer.requests.clear();
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    const unsigned role = layout_.role_of(shard, at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const std::size_t i = buffer.at(shard, column);
      if (buffer.needs[i] != needs_rewrite || !roster_.has(role, at.stripe)) continue;
      MemberRequest request;
      request.call = MemberCall::write;
      request.member = role;
      request.offset = layout_.block_at(at.slot, column);
      request.bytes = buffer.block(shard, column);
      buffer.requests.push_back(request);
    }
  }
  if (buffer.requests.empty() || roster_.is_failed()) return;
  const std::uint64_t failed_roles = roster_.run(buffer.requests);
  for (const MemberRequest& request : buffer.requests) {
    const unsigned role = request.member;
    if ((failed_roles >> role & 1U) != 0) continue;
    const auto column =
        static_cast<std::uint32_t>((request.offset - layout_.block_at(at.slot, 0)) / block_bytes);
    const std::size_t i = buffer.at(layout_.shard_of(role, at.stripe), column);
    if (buffer.checks[i] == unknown_check) {
      const std::uint64_t check = check_.of({role, at.stripe, at.slot, column}, request.bytes);
      if (!put_checksum(at, role, column, check)) continue;
    } else {
      overlay_.count_rewritten(role);
    }
    buffer.needs[i] = is_rewritten;
  }
}

}  // namespace calpe::array
