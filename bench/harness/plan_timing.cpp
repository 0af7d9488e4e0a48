// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/plan_timing.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "bench/harness/own_coder.hpp"

namespace calpe::bench {

namespace {

using Patterns = std::vector<std::vector<ShardIndex>>;

// A shard length that every peer accepts; planning does not depend on it.
constexpr std::size_t any_shard_bytes = 4096;
constexpr std::size_t pattern_count_max = 1024;

// Distinct ones, as many as the shape has up to pattern_count_max.
std::shared_ptr<const Patterns> draw_patterns(Shape shape, std::size_t lost_count) {
  std::mt19937 random(7);
  std::vector<ShardIndex> shards(shape.data_shards);
  std::iota(shards.begin(), shards.end(), ShardIndex{0});
  std::set<std::vector<ShardIndex>> drawn;
  for (std::size_t draw = 0; draw < 4 * pattern_count_max; ++draw) {
    if (drawn.size() == pattern_count_max) break;
    std::shuffle(shards.begin(), shards.end(), random);
    std::vector<ShardIndex> lost(shards.begin(),
                                 shards.begin() + static_cast<std::ptrdiff_t>(lost_count));
    std::sort(lost.begin(), lost.end());
    drawn.insert(std::move(lost));
  }
  auto patterns = std::make_shared<Patterns>(drawn.begin(), drawn.end());
  // The set sorted them, and neighbours that share most shards would flatter branch predictors.
  std::shuffle(patterns->begin(), patterns->end(), random);
  return patterns;
}

Contestant plan_contestant(const std::string& name, const Coder& coder,
                           std::shared_ptr<const Patterns> patterns) {
  Call call = [&coder, patterns = std::move(patterns), next = std::size_t{0}]() mutable {
    const std::vector<ShardIndex>& lost = (*patterns)[next];
    next = next + 1 == patterns->size() ? 0 : next + 1;
    return coder.make_tables(lost).has_value();
  };
  return {name, {std::move(call)}};
}

Figure microseconds(const Samples& samples) {
  return {1e6 * quantile(samples, 0), 1e6 * quantile(samples, 0.5)};
}

}  // namespace

Result<Row> measure_plan(const Codec& codec, std::string_view profile,
                         std::span<const NamedPeer> peers, const RoundOptions& rounds) {
  Row row;
  row.operation = Operation::plan;
  row.shape = {codec.spec().data_shards, codec.spec().parity_shards};
  row.path = codec.backend();
  row.lost_shards = std::min<std::size_t>(codec.proof().losses, row.shape.data_shards);
  const auto patterns = draw_patterns(row.shape, row.lost_shards);

  auto own = make_own_coder(codec, any_shard_bytes);
  if (!own) return std::move(own).error();
  std::vector<Contestant> contestants = {plan_contestant("calpe", **own, patterns)};
  std::vector<std::vector<std::unique_ptr<Coder>>> peer_coders;
  for (const NamedPeer& peer : peers) {
    peer_coders.push_back(peer.peer->prepare({row.shape, any_shard_bytes, profile}));
    for (const auto& coder : peer_coders.back())
      contestants.push_back(plan_contestant(peer.name, *coder, patterns));
  }
  auto samples = run_rounds(contestants, rounds);
  if (!samples) return std::move(samples).error();

  row.rounds = samples->front().size();
  row.figure = microseconds((*samples)[0]);
  std::size_t next = 1;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    std::optional<PeerFigure>& best = row.peers.emplace_back();
    for (const auto& coder : peer_coders[i]) {
      const Samples& theirs = (*samples)[next++];
      const Figure figure = microseconds(theirs);
      if (best && best->figure.best <= figure.best) continue;
      best = PeerFigure{peers[i].name, std::string(coder->method()), figure,
                        summarize_ratio((*samples)[0], theirs)};
    }
  }
  return row;
}

}  // namespace calpe::bench
