// SPDX-License-Identifier: Apache-2.0
// Chooses the chunks that a daemon has to read. Refuses losses that cannot be rebuilt.
#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "ceph/erasure_code.hpp"

namespace calpe_ceph {

namespace {

int shard_of(int shard) {
  return shard;
}
int shard_of(const std::pair<const int, int>& shard_and_cost) {
  return shard_and_cost.first;
}

}  // namespace

// Ignores shards that the code does not have.
template <class Set>
ShardMask ErasureCode::mask_of(const Set& shards) const {
  ShardMask mask = 0;
  for (const auto& entry : shards) {
    const int shard = shard_of(entry);
    if (shard >= 0 && shard < static_cast<int>(get_chunk_count())) mask |= ShardMask{1} << shard;
  }
  return mask;
}

int ErasureCode::find_reads(ShardMask want, ShardMask available, ShardMask& reads) const {
  reads = want & available;
  if (reads == want) return 0;
  const auto plan = code_->find_plan(available, want);
  if (plan == nullptr) return -EIO;
  reads |= plan->read_mask();
  return 0;
}

int ErasureCode::minimum_to_decode(const std::set<int>& want, const std::set<int>& available,
                                   ceph::SubChunks* minimum) {
  ShardMask reads = 0;
  if (const int status = find_reads(mask_of(want), mask_of(available), reads)) return status;
  for (int shard = 0; shard < static_cast<int>(get_chunk_count()); ++shard) {
    if ((reads >> shard & 1) != 0) (*minimum)[shard] = {{0, get_sub_chunk_count()}};
  }
  return 0;
}

int ErasureCode::minimum_to_decode_with_cost(const std::set<int>& want,
                                             const std::map<int, int>& available,
                                             std::set<int>* minimum) {
  const ShardMask wanted = mask_of(want), present = mask_of(available);
  ShardMask reads = wanted & present;
  if (reads != wanted) {
    std::array<std::uint32_t, shards_max> costs{};
    for (const auto& [shard, cost] : available) {
      if (shard < 0 || shard >= static_cast<int>(get_chunk_count())) continue;
      const bool is_read = (wanted >> shard & 1) != 0;
      costs[static_cast<std::size_t>(shard)] =
          is_read ? 0 : static_cast<std::uint32_t>(std::max(cost, 0));
    }
    const auto plan = code_->make_plan(present, wanted & ~present, costs);
    if (plan == nullptr) return -EIO;
    reads |= plan->read_mask();
  }
  for (int shard = 0; shard < static_cast<int>(get_chunk_count()); ++shard) {
    if ((reads >> shard & 1) != 0) minimum->insert(shard);
  }
  return 0;
}

}  // namespace calpe_ceph
