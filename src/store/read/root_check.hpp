// SPDX-License-Identifier: Apache-2.0
// Whether the files of a set are those that its roots were computed from. Checksums tell damage;
// whoever writes a file on purpose makes them match, but not the roots.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/key.hpp"
#include "store/format/proven_blocks.hpp"
#include "store/format/root_hash.hpp"
#include "store/read/stripe_window.hpp"

namespace calpe::store {

enum class RootState : std::uint8_t {
  none,     // the set has no roots
  good,     // every block is proven
  unknown,  // some are damaged, so the others cannot be proven
  wrong,    // all blocks match their checksums, or its header alone shows it
};

// The header of a file that was found, of what all have in common and what is its own.
ShardHeader header_of(const ShardHeader& set, ShardIndex index, const FoundShard& found);
// Whether the root and path that a shard's header claims lead to the set's root.
Result<bool> is_claim_good(const ShardHeader& own);

// The roots of all files of a set, computed from blocks that are read in order. Does nothing for a
// set without.
class CopyHashes {
 public:
  // `proven`, if given, gets the digests of all files that turn out good, by OpenSet::copies().
  explicit CopyHashes(const OpenSet& files, ProvenBlocks* proven = nullptr);
  // The run that is in `slots`; runs follow each other from the first stripe on.
  void add(SlotRun& slots, const StripeRun& run);
  // As OpenSet::copies(). Fails as libcrypto does.
  Result<std::vector<RootState>> finish();

 private:
  struct Copy {
    Copy(const ShardHeader& header, ShardIndex index) : hasher(header, index) {}
    ShardHasher hasher;
    std::uint64_t stripes = 0;
    bool is_damaged = false;
    std::optional<Error> error = {};
  };
  const OpenSet& files_;
  ProvenBlocks* proven_;
  std::vector<Copy> copies_;
};

// What the caller wants of a set before it is used.
struct RootDemand {
  Key key = {};                         // the HMAC must be of this key
  std::optional<Digest> expected = {};  // the set's root
  bool has_roots = false;               // any
  bool is_any() const noexcept { return has_roots || names_one(); }
  // Only the key's owner can make another set that fits.
  bool names_one() const noexcept { return expected || !key.empty(); }
};

// Of the header alone; blocks are another matter. Fails with corrupt and says what is not as
// demanded: whoever takes the roots out of a set, or puts in others, ends here.
Status check_demand(const ShardHeader& header, const RootDemand& demand);
// Leaves out all sets that are not as demanded; fails with corrupt when none is left.
Status keep_demanded(Findings& findings, const RootDemand& demand);

// Reads everything and distrusts all files that are not proven by the set's root. The answer keeps
// what was proven: readers of it take no block that changed since. Fails with corrupt when no file
// is proven, and with io.
// `leaf_bytes`: memory for digests of blocks (proven_blocks.hpp).
Result<FoundSet> distrust_unproven(FileSystem& files, FoundSet set, unsigned jobs = 1,
                                   const OnProgress& on_progress = {},
                                   std::size_t leaf_bytes = ProvenBlocks::usual_leaf_bytes);

}  // namespace calpe::store
