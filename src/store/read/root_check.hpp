// SPDX-License-Identifier: Apache-2.0
// Checks that the files of a set are those its roots were computed from. Checksums detect
// accidental damage. An attacker can make them match, but not the roots.
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
  wrong,    // all blocks match their checksums but not the root, or the header alone shows it
};

// Combines the common header of a set with the fields of one file.
ShardHeader header_of(const ShardHeader& set, ShardIndex index, const FoundShard& found);
// True if the root and path in a shard's header lead to the set's root.
Result<bool> is_claim_good(const ShardHeader& own);

// Computes the roots of all files of a set from blocks read in order. Does nothing for a set
// without roots.
class CopyHashes {
 public:
  // `proven`, if given, receives the digests of all good files, by index in OpenSet::copies().
  explicit CopyHashes(const OpenSet& files, ProvenBlocks* proven = nullptr);
  // Adds the run that is in `slots`. Runs must follow each other, starting at stripe 0.
  void add(StripeWindow& slots, const StripeRun& run);
  // Returns one state per OpenSet::copies() entry. Fails as libcrypto does.
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

// The caller's requirements for a set.
struct RootDemand {
  Key key = {};                         // the HMAC must be made with this key
  std::optional<Digest> expected = {};  // the required set root
  bool has_roots = false;               // roots of any kind are required
  bool is_any() const noexcept { return has_roots || names_one(); }
  // True if only the owner of the key can make another set that fits.
  bool names_one() const noexcept { return expected || !key.empty(); }
};

// Checks the header only, not the blocks. Fails with corrupt and names the unmet requirement, so
// that roots cannot be removed or replaced unnoticed.
Status check_demand(const ShardHeader& header, const RootDemand& demand);
// Removes all sets that do not meet the demand. Fails with corrupt when none remains.
Status keep_demanded(Findings& findings, const RootDemand& demand);

// Reads everything and distrusts all files that the set's root does not prove. The result remembers
// what was proven, so that its readers reject blocks that changed since. Fails with corrupt when no
// file is proven, and with io. `leaf_bytes`: memory for block digests (proven_blocks.hpp).
Result<FoundSet> distrust_unproven(FileSystem& files, FoundSet set, unsigned jobs = 1,
                                   const OnProgress& on_progress = {},
                                   std::size_t leaf_bytes = ProvenBlocks::usual_leaf_bytes);

}  // namespace calpe::store
