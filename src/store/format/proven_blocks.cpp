// SPDX-License-Identifier: Apache-2.0
#include "store/format/proven_blocks.hpp"

#include <algorithm>

#include "store/format/geometry.hpp"
#include "store/format/root_hash.hpp"

namespace calpe::store {

ProvenBlocks::ProvenBlocks(std::size_t files, std::size_t leaf_bytes)
    : shards_(files),
      groups_kept_max_(std::max<std::size_t>(
          1, leaf_bytes / (group_stripes * sizeof(Digest)) / std::max<std::size_t>(1, files))) {}

void ProvenBlocks::add_group(std::size_t file, Leaves leaves, const Digest& group) {
  Shard& shard = shards_[file];
  const std::uint64_t number = shard.groups.size();
  shard.groups.push_back(group);
  // Keep the first groups, as most readers start there.
  if (shard.kept.size() < groups_kept_max_) keep(shard, number, std::move(leaves));
}

void ProvenBlocks::forget(std::size_t file) {
  shards_[file].groups.clear();
  shards_[file].kept.clear();
}

ProvenBlocks::Kept& ProvenBlocks::keep(const Shard& shard, std::uint64_t group,
                                       Leaves leaves) const {
  if (shard.kept.size() >= groups_kept_max_) {
    shard.kept.erase(std::min_element(
        shard.kept.begin(), shard.kept.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
  }
  return shard.kept[group] = {std::move(leaves), ++shard.uses};
}

std::optional<Digest> ProvenBlocks::leaf_of(const Shard& shard, std::uint64_t stripe,
                                            const ReadLeaves& read) const {
  const std::uint64_t group = stripe / group_stripes;
  const std::scoped_lock lock(shard.mutex);
  if (group >= shard.groups.size()) return std::nullopt;
  const auto known = shard.kept.find(group);
  if (known == shard.kept.end()) {
    Sha256 hash;
    std::optional<Leaves> leaves = read(group);
    const Result<Digest> digest = leaves ? group_digest(hash, *leaves) : Result<Digest>(Digest{});
    const bool is_same = leaves && digest && is_equal_digest(*digest, shard.groups[group]);
    keep(shard, group, is_same ? *std::move(leaves) : Leaves());
  }
  Kept& kept = shard.kept[group];
  kept.last_use = ++shard.uses;
  const std::size_t within = stripe % group_stripes;
  if (within >= kept.leaves.size()) return std::nullopt;
  return kept.leaves[within];
}

bool ProvenBlocks::is_proven(std::size_t file, std::uint64_t stripe,
                             std::span<const std::byte> block, const ReadLeaves& read) const {
  const std::optional<Digest> expected = leaf_of(shards_[file], stripe, read);
  if (!expected) return false;
  Sha256 hash;
  const Result<Digest> leaf = leaf_digest(hash, block);
  return leaf && is_equal_digest(*leaf, *expected);
}

}  // namespace calpe::store
