// SPDX-License-Identifier: Apache-2.0
#include "store/read/loss_count.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/next_subset.hpp"

namespace calpe::store {

namespace {

// Maximum queries to the codec: about a second if each takes an elimination.
constexpr std::size_t questions_max = 20000;

class LossCount {
 public:
  LossCount(const StripeCoder& coder, const SetCopies& copies, const std::vector<CopyGroup>& groups)
      : coder_(coder), copies_(copies), groups_(groups) {}

  std::optional<std::size_t> run() {
    if (copies_.stripes.empty()) return run_without_stripes();
    if (!survives({})) return std::nullopt;
    std::size_t survived = lower_bound();
    if (is_bound_exact()) return survived;
    while (survived < groups_.size() && survives_any(survived + 1)) {
      ++survived;
    }
    return survived;
  }

 private:
  // Lose the groups with the most copies first.
  std::optional<std::size_t> run_without_stripes() const {
    const auto is_listed = [&](std::size_t copy) {
      return copies_.shards[copy] >= copies_.first_listed;
    };
    std::size_t left = 0;
    for (std::size_t copy = 0; copy < copies_.shards.size(); ++copy) {
      left += is_listed(copy) ? 1 : 0;
    }
    if (left == 0) return std::nullopt;
    std::vector<std::size_t> sizes;
    for (const CopyGroup& group : groups_) {
      sizes.push_back(
          static_cast<std::size_t>(std::count_if(group.begin(), group.end(), is_listed)));
    }
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    std::size_t count = 0;
    while (count < sizes.size() && sizes[count] < left) {
      left -= sizes[count++];
    }
    return count;
  }

  std::size_t shard_count() const {
    const CodeSpec& spec = coder_.codec().spec();
    return std::size_t{spec.data_shards} + spec.parity_shards;
  }

  // True if every stripe can be decoded without these groups.
  bool survives(std::span<const std::size_t> lost) {
    std::vector<std::uint8_t> is_lost(copies_.shards.size(), 0);
    for (const std::size_t group : lost) {
      for (const std::size_t copy : groups_[group]) {
        is_lost[copy] = 1;
      }
    }
    return std::all_of(copies_.stripes.begin(), copies_.stripes.end(), [&](const auto& stripe) {
      std::vector<std::uint8_t> good(shard_count(), 0);
      for (std::size_t copy = 0; copy < stripe.size(); ++copy) {
        if (stripe[copy] != 0 && is_lost[copy] == 0) good[copies_.shards[copy]] = 1;
      }
      ++questions_;
      return coder_.can_rebuild(good);
    });
  }

  // Also returns false when there are too many choices to try.
  bool survives_any(std::size_t count) {
    std::vector<std::size_t> lost(count);
    std::iota(lost.begin(), lost.end(), std::size_t{0});
    do {
      if (questions_ > questions_max || !survives(lost)) return false;
    } while (next_subset<std::size_t>(lost, groups_.size()));
    return true;
  }

  // Assumes that each group loses all its good shards, even those with copies elsewhere.
  std::size_t lower_bound() const {
    std::size_t fewest = groups_.size();
    for (const auto& stripe : copies_.stripes) {
      std::set<ShardIndex> good;
      for (std::size_t copy = 0; copy < stripe.size(); ++copy) {
        if (stripe[copy] != 0) good.insert(copies_.shards[copy]);
      }
      // The code guarantees this many losses; `bad` of them have already happened.
      const std::size_t bad = shard_count() - good.size();
      const std::size_t losses = coder_.codec().proof().losses;
      std::size_t left = losses > bad ? losses - bad : 0;
      std::vector<std::size_t> sizes;
      for (const CopyGroup& group : groups_) {
        std::set<ShardIndex> shards;
        for (const std::size_t copy : group) {
          if (stripe[copy] != 0) shards.insert(copies_.shards[copy]);
        }
        sizes.push_back(shards.size());
      }
      std::sort(sizes.begin(), sizes.end(), std::greater<>());
      std::size_t count = 0;
      while (count < sizes.size() && sizes[count] <= left) {
        left -= sizes[count++];
      }
      fewest = std::min(fewest, count);
    }
    return fewest;
  }

  bool is_bound_exact() const {
    if (!coder_.is_any_k_enough()) return false;
    std::vector<std::size_t> groups_of_shard(shard_count(), 0);
    for (const CopyGroup& group : groups_) {
      std::set<ShardIndex> shards;
      for (const std::size_t copy : group) {
        shards.insert(copies_.shards[copy]);
      }
      for (const ShardIndex shard : shards) {
        if (++groups_of_shard[shard] > 1) return false;
      }
    }
    return true;
  }

  const StripeCoder& coder_;
  const SetCopies& copies_;
  const std::vector<CopyGroup>& groups_;
  std::size_t questions_ = 0;
};

}  // namespace

std::optional<std::size_t> losses_survived(const StripeCoder& coder, const SetCopies& copies,
                                           const std::vector<CopyGroup>& groups) {
  return LossCount(coder, copies, groups).run();
}

std::vector<CopyGroup> groups_by_shard(const SetCopies& copies) {
  std::map<ShardIndex, CopyGroup> by_shard;
  for (std::size_t copy = 0; copy < copies.shards.size(); ++copy) {
    by_shard[copies.shards[copy]].push_back(copy);
  }
  std::vector<CopyGroup> groups;
  groups.reserve(by_shard.size());
  for (auto& [shard, group] : by_shard) {
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace calpe::store
