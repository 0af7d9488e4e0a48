// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/plan_timing.hpp"

#include <algorithm>

#include "bench/harness/patterns.hpp"

namespace calpe::bench {

namespace {

// Any shard length that all peers accept; planning does not depend on it.
constexpr std::size_t any_shard_bytes = 4096;

Contestant plan_contestant(const std::string& name, const Coder& coder,
                           std::shared_ptr<const Patterns> patterns) {
  Call call = [&coder, turn = PatternTurn(std::move(patterns))]() mutable {
    return coder.make_tables(turn.next()).has_value();
  };
  return {name, {std::move(call)}};
}

Figure microseconds(const Samples& samples) {
  return {1e6 * quantile(samples, 0), 1e6 * quantile(samples, 0.5)};
}

}  // namespace

Result<Row> measure_plan(const OwnCodecs& codecs, std::string_view profile,
                         std::span<const NamedPeer> peers, const RoundOptions& rounds) {
  const Codec& codec = codecs.codec;
  Row row;
  row.operation = Operation::plan;
  row.shape = {codec.spec().data_shards, codec.spec().parity_shards};
  row.path = codec.backend();
  row.lost_shards = std::min<std::size_t>(codec.proof().losses, row.shape.data_shards);
  const auto patterns = draw_patterns(row.shape, row.lost_shards);

  auto own = make_own_coder(codecs, any_shard_bytes);
  if (!own) return std::move(own).error();
  std::vector<Contestant> contestants = {plan_contestant("calpe", **own, patterns)};
  std::vector<std::vector<std::unique_ptr<Coder>>> peer_coders;
  for (const NamedPeer& peer : peers) {
    peer_coders.push_back(peer.peer->prepare({row.shape, any_shard_bytes, profile}));
    std::erase_if(peer_coders.back(), [](const auto& coder) { return !coder->has_tables(); });
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
      best = PeerFigure{peers[i].name,
                        std::string(coder->method()),
                        figure,
                        summarize_ratio((*samples)[0], theirs),
                        {}};
    }
  }
  return row;
}

}  // namespace calpe::bench
