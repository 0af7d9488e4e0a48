// SPDX-License-Identifier: Apache-2.0
// Digests of the blocks that a root has proven, kept for the next read of the same files: a file
// that changes in between no longer matches them, whatever its checksums say.
//
// Memory: 32 bytes for each group of 512 blocks of each file (13 MB for 10 TB in 10+4 shards with
// blocks of 64 KiB), and up to 64 MiB of leaves. Leaves that do not fit are computed again from the
// file when they are needed, and count only if they give the group's digest.
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
  // The leaves of a group as the file has them now; nothing: some block of it is damaged.
  using ReadLeaves = std::function<std::optional<Leaves>(std::uint64_t group)>;

  static constexpr std::size_t usual_leaf_bytes = std::size_t{1} << 26U;
  explicit ProvenBlocks(std::size_t files, std::size_t leaf_bytes = usual_leaf_bytes);

  // Groups of a file follow each other from the first on. Several threads may add, each to its own
  // files.
  void add_group(std::size_t file, Leaves leaves, const Digest& group);
  // The file's root turned out wrong: none of its blocks is proven.
  void forget(std::size_t file);

  // Whether `block` is the one that was proven. Several threads may ask.
  bool is_proven(std::size_t file, std::uint64_t stripe, std::span<const std::byte> block,
                 const ReadLeaves& read) const;

 private:
  struct Kept {
    Leaves leaves;  // empty: the group no longer matches its digest
    std::uint64_t last_use = 0;
  };
  struct Shard {
    std::vector<Digest> groups;
    // The rest is a cache, guarded by the mutex.
    mutable std::mutex mutex;
    mutable std::map<std::uint64_t, Kept> kept;
    mutable std::uint64_t uses = 0;
  };
  std::optional<Digest> leaf_of(const Shard& shard, std::uint64_t stripe,
                                const ReadLeaves& read) const;
  Kept& keep(const Shard& shard, std::uint64_t group, Leaves leaves) const;

  std::vector<Shard> shards_;  // never moved: it has mutexes
  std::size_t groups_kept_max_;
};

}  // namespace calpe::store
