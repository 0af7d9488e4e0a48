// SPDX-License-Identifier: Apache-2.0
#include "store/read/read_damage.hpp"

#include <algorithm>

namespace calpe::store {

namespace {

// Replaces the stripes of `read`.
StripeRanges updated(const StripeRanges& before, const StripeRun& read, const StripeRanges& found) {
  StripeRanges after;
  for (const StripeRun& run : before.runs()) {
    const std::uint64_t end = std::min(run.end(), read.first_stripe);
    if (run.first_stripe < end) after.add_run({run.first_stripe, end - run.first_stripe});
  }
  for (const StripeRun& run : found.runs())
    after.add_run(run);
  for (const StripeRun& run : before.runs()) {
    const std::uint64_t first = std::max(run.first_stripe, read.end());
    if (first < run.end()) after.add_run({first, run.end() - first});
  }
  return after;
}

}  // namespace

std::vector<DamagedRun> damaged_runs(const ReadDamage& damage) {
  struct Change {
    std::set<ShardIndex> begin;
    std::set<ShardIndex> end;
  };
  std::map<std::uint64_t, Change> changes;  // by stripe
  for (const auto& [shard, ranges] : damage.shards) {
    for (const StripeRun& run : ranges.runs()) {
      changes[run.first_stripe].begin.insert(shard);
      changes[run.end()].end.insert(shard);
    }
  }
  std::vector<DamagedRun> runs;
  std::set<ShardIndex> bad;
  std::uint64_t first = 0;
  for (const auto& [stripe, change] : changes) {
    if (!bad.empty()) runs.push_back({{first, stripe - first}, bad});
    for (const ShardIndex shard : change.end)
      bad.erase(shard);
    bad.insert(change.begin.begin(), change.begin.end());
    first = stripe;
  }
  return runs;
}

ReadDamage updated(const ReadDamage& before, const StripeRun& read, const ReadDamage& found) {
  ReadDamage after;
  after.stripes = updated(before.stripes, read, found.stripes);
  after.contradicting = updated(before.contradicting, read, found.contradicting);
  after.shards = before.shards;
  for (const auto& [shard, ranges] : found.shards)
    after.shards.try_emplace(shard);
  for (auto& [shard, ranges] : after.shards) {
    const auto now = found.shards.find(shard);
    ranges = updated(ranges, read, now == found.shards.end() ? StripeRanges() : now->second);
  }
  std::erase_if(after.shards, [](const auto& shard) { return shard.second.is_empty(); });
  return after;
}

}  // namespace calpe::store
