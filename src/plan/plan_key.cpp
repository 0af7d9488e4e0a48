// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_key.hpp"

#include "base/assert.hpp"

namespace calpe::plan {

void PlanKey::put(std::uint64_t value, std::size_t bytes) {
  CALPE_ASSERT(used_ + bytes <= bytes_.size());
  for (std::size_t i = 0; i < bytes; ++i)
    bytes_[used_++] = static_cast<char>(value >> 8 * i);
}

PlanKey::PlanKey(const CodeSpec& spec, PlanKind kind)
    : bytes_(plan_key_bytes(std::size_t{spec.data_shards} + spec.parity_shards)) {
  put(static_cast<std::uint64_t>(kind), 1);
  put(static_cast<std::uint64_t>(spec.family), 1);
  put(static_cast<std::uint64_t>(spec.layout), 1);
  put(spec.word_bits, 1);
  put(spec.data_shards, 2);
  put(spec.parity_shards, 2);
  put(spec.local_groups, 2);
  put(spec.polynomial, 4);
  put(spec.packet_bytes, 4);
  put(spec.matrix_hash, 8);
}

void PlanKey::add(std::span<const ShardIndex> shards) {
  put(shards.size(), 4);
  for (const ShardIndex shard : shards)
    put(shard, 2);
}

void PlanKey::add(std::span<const std::uint32_t> costs) {
  put(costs.size(), 4);
  for (const std::uint32_t cost : costs)
    put(cost, 4);
}

}  // namespace calpe::plan
