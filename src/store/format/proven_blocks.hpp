// SPDX-License-Identifier: Apache-2.0
// Digests of the blocks that a root has proven, kept for the next read of the same files. If a file
// changes in between, it no longer matches, even if its checksums do.
//
// Memory: 32 bytes for each group of 512 blocks of each file (13 MB for 10 TB in 10+4 shards with
// blocks of 64 KiB), and up to 64 MiB of leaves. Leaves that do not fit are recomputed from the
// file when needed, and are used only if they yield the group's digest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "store/format/shard_header.hpp"

namespace calpe::store {

class ProvenBlocks {
 public:
  using Leaves = std::vector<Digest>;
  // Returns the current leaves of a group, or nullopt if one of its blocks is damaged.
  using ReadLeaves = std::function<std::optional<Leaves>(std::uint64_t group)>;

  static constexpr std::size_t usual_leaf_bytes = std::size_t{1} << 26U;
  explicit ProvenBlocks(std::size_t files, std::size_t leaf_bytes = usual_leaf_bytes);

  // Adds the next group of a file, starting with group 0. Threads may call this concurrently for
  // different files.
  void add_group(std::size_t file, Leaves leaves, const Digest& group);
  // Call when the file's root turned out to be wrong: none of its blocks is proven.
  void forget(std::size_t file);

  // True if `block` is the proven one. Thread-safe.
  bool is_proven(std::size_t file, std::uint64_t stripe, std::span<const std::byte> block,
                 const ReadLeaves& read) const;

 private:
  struct Kept {
    Leaves leaves;  // empty: the group no longer matches its digest
    std::uint64_t last_use = 0;
  };
  struct Shard {
    std::vector<Digest> groups;
    // The remaining members are a cache, guarded by the mutex.
    mutable std::mutex mutex;
    mutable std::map<std::uint64_t, Kept> kept;
    mutable std::uint64_t uses = 0;
  };
  std::optional<Digest> leaf_of(const Shard& shard, std::uint64_t stripe,
                                const ReadLeaves& read) const;
  Kept& keep(const Shard& shard, std::uint64_t group, Leaves leaves) const;

  std::vector<Shard> shards_;  // never moved, as it contains mutexes
  std::size_t groups_kept_max_;
};

}  // namespace calpe::store
