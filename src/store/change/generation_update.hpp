// SPDX-License-Identifier: Apache-2.0
// Brings all shards of a set to a new generation: writes the journals of all shards first, then
// changes the shards. An interruption leaves the old or the new generation (docs/format.md).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

// How many older generations remain readable, through undo journals.
struct KeptGenerations {
  std::uint64_t count = 0;  // besides the new one
  // Keeps all of them, but does not begin with one.
  bool is_as_before = false;

  static KeptGenerations none() { return {}; }
  static KeptGenerations as_before() { return {.count = ~std::uint64_t{0}, .is_as_before = true}; }
};

class NewGeneration {
 public:
  // `after`: the new header of the set, with content and manifest sizes, stripe_count and, to add
  // parity, the spec; this function sets generation and roots. Every shard must exist exactly once,
  // with good headers and size. Fails with corrupt and names the bad shard ("run calpe repair
  // first"), and with invalid_argument and io. Removes journals of abandoned updates.
  // If the set has roots, reads every block and fails with corrupt if a shard does not match its
  // root. The HMAC must match `key`, which also signs the new one. No parity can be added then.
  // Undo journals of more generations than `kept` are removed after the change.
  // Kept originals: only the parity files change, and stripe_count stays.
  static Result<std::unique_ptr<NewGeneration>> begin(FileSystem& files, const FoundSet& set,
                                                      ShardHeader after,
                                                      std::span<const std::byte> key = {},
                                                      KeptGenerations kept = {});
  ~NewGeneration();  // unless committed, removes the journals and leaves the set unchanged
  NewGeneration(const NewGeneration&) = delete;
  NewGeneration& operator=(const NewGeneration&) = delete;

  const ShardHeader& header() const noexcept;  // new header; roots are set by commit()

  // Adds changed or new blocks of consecutive stripes of one shard and computes their checksums.
  // Call in ascending order of stripes for each shard. Every stripe beyond the old stripe_count is
  // required. Of a data shard of kept originals, only the checksums are written; then call in
  // ascending order of groups for all shards together.
  Status write_blocks(ShardIndex shard, std::uint64_t first_stripe,
                      std::span<const std::byte> blocks);

  // Kept originals: required before commit(), as every parity file has the manifest.
  Status write_manifest(std::span<const std::byte> manifest);

  // Adds shards to the set (add-parity). `make` writes them; it is called when all journals are
  // durable.
  using MakeShards = std::function<Status(const ShardHeader& header)>;
  // Adds all checksum pages and headers, saves the old bytes of generations to keep, completes the
  // journals and changes the shards.
  Status commit(const MakeShards& make_shards = {});

 private:
  struct Impl;
  explicit NewGeneration(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Cleans up after an interrupted command: applies journals of a committed generation and removes
// others, also undo journals that no shard needs. Returns the number of changed shards. repair and
// update call it before they read a set.
Result<std::size_t> settle(FileSystem& files, const std::vector<std::string>& paths);
// Same for one set; find the set again afterwards.
Result<std::size_t> settle_set(FileSystem& files, const FoundSet& set);

}  // namespace calpe::store
