// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/known_damage.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t lost_stripes_named_max = 1000;  // as in make_report()

void add_to_shard(store::ShardState& shard, std::uint64_t bad_blocks) {
  if (shard.path.empty()) return;  // missing: all of its blocks count
  shard.bad_blocks += bad_blocks;
  if (!shard.problem.empty()) shard.problem += ", ";
  shard.problem += fmt::format("{} of other parts {} damaged when last read",
                               count_text(bad_blocks, "block"), bad_blocks == 1 ? "was" : "were");
  shard.is_only_interrupted = false;
}

void add_lost(store::VerifyReport& report, const store::StripeRun& run) {
  report.lost_stripe_count += run.stripe_count;
  for (std::uint64_t stripe = run.first_stripe; stripe < run.end(); ++stripe) {
    if (report.lost_stripes.size() >= lost_stripes_named_max) return;
    report.lost_stripes.push_back(stripe);
  }
}

}  // namespace

Status add_damage(store::VerifyReport& report, const store::FoundSet& set,
                  const store::ReadDamage& damage) {
  if (damage.stripes.is_empty() && damage.contradicting.is_empty()) return Done{};
  report.bad_stripes += damage.stripes.count();
  report.contradicting_stripes += damage.contradicting.count();
  for (store::ShardState& shard : report.shards) {
    const auto bad = damage.shards.find(shard.index);
    if (bad != damage.shards.end()) add_to_shard(shard, bad->second.count());
  }
  CALPE_TRY(const store::StripeCoder coder, store::StripeCoder::make(set.header));
  const bool has_originals = set.header.kind == store::SetKind::originals;
  std::vector<std::uint8_t> present(set.shards.size());
  for (std::size_t index = 0; index < present.size(); ++index) {
    const bool is_original = has_originals && index < set.header.spec.data_shards;
    present[index] = is_original || !set.shards[index].empty() ? 1 : 0;
  }
  for (const store::DamagedRun& bad : store::damaged_runs(damage)) {
    std::vector<std::uint8_t> good = present;
    for (const ShardIndex index : bad.shards)
      good[index] = 0;
    if (!coder.can_rebuild(good)) add_lost(report, bad.run);
  }
  std::sort(report.lost_stripes.begin(), report.lost_stripes.end());
  return Done{};
}

}  // namespace calpe::tools
