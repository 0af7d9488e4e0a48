// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cell.hpp"

#include <algorithm>
#include <numeric>

#include "bench/harness/check.hpp"
#include "bench/harness/limits.hpp"
#include "bench/harness/own_coder.hpp"
#include "bench/harness/roof.hpp"

namespace calpe::bench {

namespace {

double gigabytes_per_second(std::size_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

Figure speed_of(std::size_t bytes, const Samples& samples) {
  return {gigabytes_per_second(bytes, quantile(samples, 0)),
          gigabytes_per_second(bytes, quantile(samples, 0.5))};
}

// Shards are padded to whole pages, so the roof may work on a little more than a short shard.
std::size_t roof_shard_bytes(std::size_t shard_bytes) {
  return std::max(shard_bytes / roof_bytes_multiple, std::size_t{1}) * roof_bytes_multiple;
}

}  // namespace

Result<Cell> Cell::create(const CellOptions& options, const Codec& codec,
                          std::span<const NamedPeer> peers) {
  Cell cell(options);
  cell.losses_max_ = std::min<std::size_t>(codec.proof().losses, options.shape.data_shards);
  auto own = make_own_coder(codec, options.shard_bytes);
  if (!own) return std::move(own).error();
  cell.own_ = *std::move(own);
  for (const NamedPeer& peer : peers) {
    cell.peers_.push_back(
        {peer.name, peer.peer->prepare({options.shape, options.shard_bytes, options.profile})});
  }
  for (unsigned thread = 0; thread < options.threads; ++thread) {
    auto stripe = StripeBuffers::create(options.shape, options.shard_bytes);
    if (!stripe) return std::move(stripe).error();
    cell.stripes_.push_back(*std::move(stripe));
  }

  std::vector<NamedCoder> coders = {{"calpe", cell.own_.get()}};
  for (const PeerCoders& peer : cell.peers_) {
    for (const auto& coder : peer.coders)
      coders.push_back({peer.name, coder.get()});
  }
  std::vector<std::vector<ShardIndex>> patterns;
  for (const Operation operation : options.operations) {
    if (operation != Operation::encode) patterns.push_back(cell.lost_shards(operation));
  }
  // Encode alone still has to prove that its parity can rebuild.
  if (patterns.empty()) patterns.push_back(cell.lost_shards(Operation::decode));
  if (auto status = check_coders(cell.stripes_.front(), coders, patterns); !status)
    return std::move(status).error();
  return cell;
}

std::vector<ShardIndex> Cell::lost_shards(Operation operation) const {
  std::size_t count = 0;
  if (operation == Operation::decode) count = losses_max_;
  if (operation == Operation::decode1) count = 1;
  std::vector<ShardIndex> lost(count);
  std::iota(lost.begin(), lost.end(), ShardIndex{0});
  return lost;
}

Result<Contestant> Cell::contestant(const std::string& name, const Coder& coder,
                                    Operation operation) const {
  Contestant contestant{name, {}};
  const std::vector<ShardIndex> lost = lost_shards(operation);
  for (const StripeBuffers& stripe : stripes_) {
    if (operation == Operation::encode) {
      contestant.lanes.push_back(coder.encode_call(stripe.view()));
      continue;
    }
    auto call = coder.decode_call(stripe.view(), lost);
    if (!call) return std::move(call).error();
    contestant.lanes.push_back(*std::move(call));
  }
  return contestant;
}

// Reads what a decode reads too: k shards, whichever they are.
Contestant Cell::roof(Stores stores, std::size_t output_count) const {
  Contestant contestant{"roof", {}};
  const std::size_t k = options_.shape.data_shards;
  const RoofKernel kernel = roof_kernel(stores, k);
  const std::size_t bytes = roof_shard_bytes(options_.shard_bytes);
  for (const StripeBuffers& stripe : stripes_) {
    const StripeView view = stripe.view();
    std::vector<const std::byte*> sources(view.shards.begin(),
                                          view.shards.begin() + static_cast<std::ptrdiff_t>(k));
    contestant.lanes.push_back(
        [sources, outputs = view.rebuilt.first(output_count), kernel, bytes] {
          kernel(sources, outputs, bytes);
          return true;
        });
  }
  return contestant;
}

void Cell::add_limits(std::vector<Contestant>& contestants) const {
  Contestant copy{"memcpy", {}};
  Contestant read{"read", {}};
  Contestant write{"write", {}};
  for (const StripeBuffers& stripe : stripes_) {
    LimitCalls calls = make_limit_calls(stripe.memory(), limits_.working_set_bytes);
    copy.lanes.push_back(std::move(calls.copy));
    read.lanes.push_back(std::move(calls.read));
    write.lanes.push_back(std::move(calls.write));
  }
  for (Contestant* each : {&copy, &read, &write})
    contestants.push_back(std::move(*each));
}

Result<Cell::LineUp> Cell::line_up(Operation operation, bool with_limits) const {
  const std::size_t outputs =
      operation == Operation::encode ? options_.shape.parity_shards : lost_shards(operation).size();
  LineUp line_up;
  auto own = contestant("calpe", *own_, operation);
  if (!own) return std::move(own).error();
  line_up.contestants.push_back(*std::move(own));
  line_up.contestants.push_back(roof(Stores::plain, outputs));
  if (options_.has_nt_roof) line_up.contestants.push_back(roof(Stores::non_temporal, outputs));
  line_up.limits_at = line_up.contestants.size();
  if (with_limits) add_limits(line_up.contestants);
  line_up.peers_at = line_up.contestants.size();
  for (const PeerCoders& peer : peers_) {
    for (const auto& coder : peer.coders) {
      auto theirs = contestant(peer.name, *coder, operation);
      if (!theirs) return std::move(theirs).error();
      line_up.contestants.push_back(*std::move(theirs));
    }
  }
  return line_up;
}

Result<Row> Cell::measure(Operation operation, const RoundOptions& rounds) {
  const bool with_limits = limits_.working_set_bytes == 0;
  if (with_limits) {
    const std::size_t shard_count = stripes_[0].view().shards.size();
    limits_.working_set_bytes =
        make_limit_calls(stripes_[0].memory(), shard_count * options_.shard_bytes).bytes;
  }
  auto lined_up = line_up(operation, with_limits);
  if (!lined_up) return std::move(lined_up).error();
  auto samples = run_rounds(lined_up->contestants, rounds);
  if (!samples) return std::move(samples).error();

  const std::size_t lanes = stripes_.size();
  if (with_limits) {
    const std::size_t at = lined_up->limits_at;
    const std::size_t bytes = lanes * limits_.working_set_bytes;
    limits_.memcpy_gb_per_s = speed_of(bytes / 2, (*samples)[at]).best;
    limits_.read_gb_per_s = speed_of(bytes, (*samples)[at + 1]).best;
    limits_.write_gb_per_s = speed_of(bytes, (*samples)[at + 2]).best;
  }
  const std::size_t data_shards = lanes * options_.shape.data_shards;
  const std::size_t roof_bytes = data_shards * roof_shard_bytes(options_.shard_bytes);
  Row row;
  row.shape = options_.shape;
  row.shard_bytes = options_.shard_bytes;
  row.operation = operation;
  row.path = own_->method();
  row.lost_shards = lost_shards(operation).size();
  row.rounds = samples->front().size();
  row.figure = speed_of(data_shards * options_.shard_bytes, (*samples)[0]);
  row.roof_gb_per_s = speed_of(roof_bytes, (*samples)[1]).best;
  if (options_.has_nt_roof) row.roof_nt_gb_per_s = speed_of(roof_bytes, (*samples)[2]).best;
  row.limits = limits_;
  row.peers = peer_figures(*samples, lined_up->peers_at);
  return row;
}

std::vector<std::optional<PeerFigure>> Cell::peer_figures(const std::vector<Samples>& samples,
                                                          std::size_t peers_at) const {
  const std::size_t data_bytes =
      stripes_.size() * options_.shape.data_shards * options_.shard_bytes;
  std::vector<std::optional<PeerFigure>> figures;
  std::size_t next = peers_at;
  for (const PeerCoders& peer : peers_) {
    std::optional<PeerFigure>& best = figures.emplace_back();
    for (const auto& coder : peer.coders) {
      const Samples& theirs = samples[next++];
      const Figure figure = speed_of(data_bytes, theirs);
      if (best && best->figure.best >= figure.best) continue;
      best = PeerFigure{peer.name, std::string(coder->method()), figure,
                        summarize_ratio(samples[0], theirs)};
    }
  }
  return figures;
}

}  // namespace calpe::bench
