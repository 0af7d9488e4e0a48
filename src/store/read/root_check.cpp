// SPDX-License-Identifier: Apache-2.0
#include "store/read/root_check.hpp"

#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/find/held_set.hpp"
#include "store/read/survey.hpp"

namespace calpe::store {

namespace {

template <class... Parts>
Error not_as_demanded(const ShardHeader& header, const Parts&... parts) {
  return make_error(ErrorCode::corrupt, "set ", uuid_text(header.uuid), ", generation ",
                    header.generation, ": ", parts...);
}

}  // namespace

ShardHeader header_of(const ShardHeader& set, ShardIndex index, const FoundShard& found) {
  ShardHeader own = set;
  own.shard_index = index;
  own.shard_root = found.root;
  own.root_path = found.root_path;
  return own;
}

Result<bool> is_claim_good(const ShardHeader& own) {
  Sha256 hash;
  CALPE_TRY(const Digest top, climb_path(hash, own));
  CALPE_TRY(const Digest set, set_digest(hash, own, top));
  return is_equal_digest(set, own.set_root);
}

CopyHashes::CopyHashes(const OpenSet& files, ProvenBlocks* proven)
    : files_(files), proven_(proven) {
  if (files.header().root_kind == RootKind::none) return;
  for (const ShardCopy& copy : files.copies()) {
    const std::size_t number = copies_.size();
    copies_.emplace_back(files.header(), copy.index);
    if (proven == nullptr) continue;
    copies_.back().hasher.on_group(
        [proven, number](std::vector<Digest> leaves, const Digest& group) {
          proven->add_group(number, std::move(leaves), group);
        });
  }
}

void CopyHashes::add(StripeWindow& slots, const StripeRun& run) {
  if (copies_.empty()) return;
  slots.for_each_slot([&](std::size_t slot) {
    const ShardCopy* const file = slots.slots()[slot].copy;
    if (file == nullptr) return;
    Copy& copy = copies_[static_cast<std::size_t>(file - files_.copies().data())];
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      copy.is_damaged = copy.is_damaged || !slots.is_good(slot, j);
    }
    if (copy.is_damaged) return;
    copy.stripes += run.stripe_count;
    const Status added = copy.hasher.add(slots.blocks(slot));
    if (!added) copy.error = added.error();
  });
}

Result<std::vector<RootState>> CopyHashes::finish() {
  std::vector<RootState> states(files_.copies().size(), RootState::none);
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    Copy& copy = copies_[i];
    const ShardCopy& file = files_.copies()[i];
    if (copy.error) return *copy.error;
    CALPE_TRY(const bool is_claimed,
              is_claim_good(header_of(files_.header(), file.index, file.found)));
    if (file.found.is_distrusted || !is_claimed) {
      states[i] = RootState::wrong;
    } else if (copy.is_damaged || copy.stripes != files_.header().stripe_count) {
      states[i] = RootState::unknown;
    } else {
      CALPE_TRY(const Digest root, copy.hasher.finish());
      states[i] = is_equal_digest(root, file.found.root) ? RootState::good : RootState::wrong;
    }
    if (proven_ != nullptr && states[i] != RootState::good) proven_->forget(i);
  }
  return states;
}

Status check_demand(const ShardHeader& header, const RootDemand& demand) {
  if (!demand.is_any()) return Done{};
  if (header.root_kind == RootKind::none) {
    return not_as_demanded(header, "it has no root, so its content cannot be proven");
  }
  if (demand.expected && !is_equal_digest(*demand.expected, header.set_root)) {
    return not_as_demanded(header, "its root is ", to_text(header.set_root), "; expected ",
                           to_text(*demand.expected));
  }
  if (demand.key.empty()) return Done{};
  if (header.root_kind != RootKind::hmac) {
    return not_as_demanded(header, "it has a root but no HMAC, so the key cannot prove it");
  }
  CALPE_TRY(const Digest hmac, hmac_digest(demand.key, header.set_root));
  if (is_equal_digest(hmac, header.hmac)) return Done{};
  return not_as_demanded(header,
                         "its HMAC was not made with this key: the key is wrong, or the set "
                         "was made by another party");
}

Status keep_demanded(Findings& findings, const RootDemand& demand) {
  std::optional<Error> first;
  std::erase_if(findings.sets, [&](const FoundSet& set) {
    Status checked = check_demand(set.header, demand);
    if (checked) return false;
    if (!first) first = std::move(checked).error();
    return true;
  });
  if (findings.sets.empty() && first) return *std::move(first);
  return Done{};
}

Result<FoundSet> distrust_unproven(FileSystem& files, FoundSet set, unsigned jobs,
                                   const OnProgress& on_progress, std::size_t leaf_bytes) {
  return guarded([&]() -> Result<FoundSet> {
    CALPE_TRY(const auto held, hold_found_set(files, set, LockKind::shared));
    CALPE_TRY(const OpenSet shards, OpenSet::open(*held, set));
    ThreadPool helpers(jobs > 1 ? jobs - 1 : 0);
    StripeWindow slots(shards, &helpers, false);
    const auto proven = std::make_shared<ProvenBlocks>(shards.copies().size(), leaf_bytes);
    CopyHashes hashes(shards, proven.get());
    const std::uint64_t reachable = shards.reachable_stripes();
    // Stop at stripes that no file has, as nothing can be proven then.
    for (std::uint64_t stripe = 0; stripe < reachable && shards.next_stripe(stripe) == stripe;) {
      const StripeRun run = slots.next_run(stripe, reachable);
      slots.read(run);
      hashes.add(slots, run);
      stripe = run.end();
      if (on_progress) on_progress(content_before(set.header, stripe), set.header.content_bytes);
    }
    CALPE_TRY(const std::vector<RootState> states, hashes.finish());
    if (std::find(states.begin(), states.end(), RootState::good) == states.end()) {
      return not_as_demanded(set.header, "no shard matches its root", shards.read_error_text());
    }
    auto state = states.begin();
    for (std::vector<FoundShard>& copies : set.shards) {
      for (FoundShard& copy : copies) {
        copy.is_distrusted = *state++ != RootState::good;
      }
    }
    set.proven = proven;
    return std::move(set);
  });
}

}  // namespace calpe::store
