// SPDX-License-Identifier: Apache-2.0
// Reads the content of a set. Checks every block and rebuilds bad ones from the others of the
// stripe.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "store/find/set_discovery.hpp"
#include "store/format/content_ranges.hpp"
#include "store/format/manifest.hpp"
#include "store/format/stripe_ranges.hpp"
#include "store/io/file_system.hpp"

namespace calpe::store {

class SetReader {
 public:
  // Opens every shard. `jobs` threads share the work of a call. Fails with io, and with corrupt
  // when the code or its matrix hash does not match the header.
  static Result<SetReader> open(FileSystem& files, const FoundSet& set, unsigned jobs = 1);
  SetReader(SetReader&&) noexcept;
  SetReader& operator=(SetReader&&) noexcept;
  ~SetReader();

  const ShardHeader& header() const noexcept;
  const Codec& codec() const noexcept;

  // Fails with unrecoverable if too few shards exist to rebuild the others.
  Status check_enough() const;

  // Reads content bytes [offset, offset + bytes.size()). Reads parity only where a data block is
  // bad. Fails with unrecoverable if some of the bytes can neither be read nor rebuilt, and names
  // their stripes; `bytes` is then unspecified. Reads nothing if too few shards exist.
  Status read(std::span<std::byte> bytes, std::uint64_t offset);
  // The same, but fills bytes that cannot be recovered with zeros and adds them to `lost`. Reads
  // what there is even if too few shards exist.
  Status salvage(std::span<std::byte> bytes, std::uint64_t offset, std::vector<ContentRange>& lost);
  // Data blocks that were missing or damaged and were rebuilt, in all reads so far.
  std::uint64_t blocks_rebuilt() const noexcept;
  // Needs only the blocks of the manifest, so it may succeed where read() finds too few shards.
  Result<Manifest> manifest();

  // Blocks of a run for all shards: blocks[shard] holds stripe_count * block_bytes, and good[shard]
  // tells for each stripe whether the block matched its checksum. A missing or unreadable shard has
  // no good blocks. For verify and repair.
  struct Blocks {
    std::vector<std::vector<std::byte>> blocks;
    std::vector<std::vector<bool>> good;
  };
  Status read_blocks(const StripeRun& run, Blocks& blocks);

 private:
  struct Impl;
  explicit SetReader(std::unique_ptr<Impl> impl) noexcept;
  Result<Manifest> original_manifest() const;
  Status check_reachable(std::uint64_t end) const;
  // read() without the check that enough shards exist.
  Status read_present(std::span<std::byte> bytes, std::uint64_t offset);
  Error unrecoverable(std::span<const ContentRange> lost) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace calpe::store
