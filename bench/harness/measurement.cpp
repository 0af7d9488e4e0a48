// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/measurement.hpp"

#include <algorithm>
#include <numeric>

#include "bench/harness/check.hpp"
#include "bench/harness/limits.hpp"

namespace calpe::bench {

namespace {

// Larger than any cache, so that each stripe is evicted before its next turn.
constexpr std::size_t cold_bytes = std::size_t{1} << 30;
constexpr std::size_t batch_stripes = 64;
constexpr std::size_t batch_bytes_max = std::size_t{256} << 20;

double gigabytes_per_second(std::size_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

Figure speed_of(std::size_t bytes, const Samples& samples) {
  const Timing timing{bytes, quantile(samples, 0), quantile(samples, 0.5), quantile(samples, 0.1),
                      quantile(samples, 0.9)};
  return {gigabytes_per_second(bytes, timing.best), gigabytes_per_second(bytes, timing.median),
          timing};
}

Figure better_of(const Figure& a, const Figure& b) {
  return a.best > b.best ? a : b;
}

bool is_one_of(Operation operation, const std::vector<Operation>& operations) {
  return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

std::size_t stripes_per_lane(const CellOptions& options) {
  const std::size_t distance =
      stripe_distance(options.shape, options.shard_bytes, options.conditions.layout);
  std::size_t count = 1;
  if (is_one_of(Operation::batch, options.operations))
    count = std::clamp<std::size_t>(batch_bytes_max / distance, 2, batch_stripes);
  if (options.conditions.is_cold)
    count = std::max(count, cold_bytes / options.conditions.threads / distance + 1);
  return count;
}

}  // namespace

Result<Cell> Cell::create(const CellOptions& options, const CodecMaker& make_codecs,
                          std::span<const NamedPeer> peers) {
  Cell cell(options);
  const Conditions& conditions = options.conditions;
  RunOptions run_options;
  run_options.stores = conditions.stores;
  const auto make_own = [&](unsigned pool_threads) -> Result<std::unique_ptr<Coder>> {
    auto codecs = make_codecs(pool_threads);
    if (!codecs) return std::move(codecs).error();
    cell.losses_max_ =
        std::min<std::size_t>(codecs->codec.proof().losses, options.shape.data_shards);
    return make_own_coder(*codecs, options.shard_bytes, run_options);
  };
  auto own = make_own(conditions.pool_threads);
  if (!own) return std::move(own).error();
  cell.own_ = *std::move(own);
  if (conditions.threads > 1 || conditions.pool_threads > 1) {
    auto alone = make_own(1);
    if (!alone) return std::move(alone).error();
    cell.own_alone_ = *std::move(alone);
  }
  cell.patterns_ = draw_patterns(options.shape, cell.losses_max_);
  for (const NamedPeer& peer : peers) {
    cell.peers_.push_back(
        {peer.name, peer.peer->prepare({options.shape, options.shard_bytes, options.profile})});
  }
  for (unsigned thread = 0; thread < conditions.threads; ++thread) {
    auto stripes = StripeBuffers::create(options.shape, options.shard_bytes,
                                         {conditions.layout, stripes_per_lane(options)});
    if (!stripes) return std::move(stripes).error();
    cell.lanes_.push_back(*std::move(stripes));
  }
  if (auto status = cell.check(); !status) return std::move(status).error();
  return cell;
}

Status Cell::check() const {
  std::vector<NamedCoder> coders = {{"calpe", own_.get()}};
  if (own_alone_) coders.push_back({"calpe", own_alone_.get()});
  for (const PeerCoders& peer : peers_) {
    for (const auto& coder : peer.coders)
      coders.push_back({peer.name, coder.get()});
  }
  CheckRequest request;
  for (const Operation operation : options_.operations) {
    if (operation == Operation::decode || operation == Operation::decode1)
      request.losses.push_back(match_of(operation).lost);
    if (operation == Operation::decode_fresh) request.fresh = patterns_;
    if (operation == Operation::update) request.changes.push_back(ChangeForm::old_and_new);
    if (operation == Operation::update_delta) request.changes.push_back(ChangeForm::delta);
    request.has_batch |= operation == Operation::batch;
  }
  // Even if only encode is measured, check that its parity can rebuild data.
  if (request.losses.empty()) request.losses.push_back(match_of(Operation::decode).lost);
  return check_coders(lanes_.front(), coders, request);
}

Match Cell::match_of(Operation operation) const {
  Match match;
  match.operation = operation;
  match.patterns = patterns_;
  std::size_t lost_count = 0;
  if (operation == Operation::decode || operation == Operation::decode_fresh)
    lost_count = losses_max_;
  if (operation == Operation::decode1) lost_count = 1;
  match.lost.resize(lost_count);
  std::iota(match.lost.begin(), match.lost.end(), ShardIndex{0});
  return match;
}

// On one lane.
std::size_t Cell::bytes_per_call(Operation operation, std::size_t shard_bytes) const {
  if (is_update(operation)) return shard_bytes;
  const std::size_t stripe_count = operation == Operation::batch ? lanes_[0].count() : 1;
  return stripe_count * options_.shape.data_shards * shard_bytes;
}

Result<Row> Cell::measure(Operation operation, const RoundOptions& rounds) {
  Match match = match_of(operation);
  match.has_limits = limits_.working_set_bytes == 0;
  if (match.has_limits) {
    const std::size_t shard_count = lanes_[0].view().shards.size();
    match.limit_bytes = make_limit_calls(lanes_[0], shard_count * options_.shard_bytes).bytes;
    limits_.working_set_bytes = match.limit_bytes;
  }
  const Field field{own_.get(), own_alone_.get(), &peers_, &lanes_};
  auto line_up = make_line_up(field, match);
  if (!line_up) return std::move(line_up).error();
  auto measured = run_rounds(line_up->contestants, rounds);
  if (!measured) return std::move(measured).error();
  const std::vector<Samples>& samples = *measured;

  const std::size_t lanes = lanes_.size();
  if (match.has_limits) {
    const std::size_t at = line_up->limits_at;
    const std::size_t bytes = lanes * limits_.working_set_bytes;
    limits_.copy = speed_of(bytes / 2, samples[at]);
    limits_.read = speed_of(bytes, samples[at + 1]);
    limits_.write = speed_of(bytes, samples[at + 2]);
  }
  const std::size_t bytes = bytes_per_call(operation, options_.shard_bytes);
  const std::size_t roof_bytes = bytes_per_call(operation, roof_shard_bytes(options_.shard_bytes));
  Row row;
  row.shape = options_.shape;
  row.shard_bytes = options_.shard_bytes;
  row.operation = operation;
  row.path = own_->method();
  row.lost_shards = match.lost.size();
  row.stripes = lanes_[0].count();
  row.rounds = samples.front().size();
  row.figure = speed_of(lanes * bytes, samples[0]);
  row.roof_plain = speed_of(lanes * roof_bytes, samples[1]);
  row.roof_nt = speed_of(lanes * roof_bytes, samples[2]);
  if (const std::size_t at = line_up->alone_at; at != 0) {
    Alone& alone = row.alone.emplace();
    alone.figure = speed_of(bytes, samples[at]);
    if (lanes > 1) {
      alone.roof =
          better_of(speed_of(roof_bytes, samples[at + 1]), speed_of(roof_bytes, samples[at + 2]));
    }
  }
  row.limits = limits_;
  row.peers = peer_figures(*line_up, samples, lanes * bytes);
  return row;
}

Result<std::vector<Latency>> Cell::latencies(double seconds) const {
  const Field field{own_.get(), nullptr, &peers_, &lanes_};
  auto line_up = make_line_up(field, match_of(Operation::encode));
  if (!line_up) return std::move(line_up).error();
  std::vector<Contestant> contestants = {line_up->contestants.front()};
  std::vector<std::string> methods = {std::string(own_->method())};
  for (const LineUp::PeerPlace& place : line_up->peers) {
    contestants.push_back(line_up->contestants[place.contestant]);
    methods.push_back(place.method);
  }
  auto measured = measure_latencies(contestants, seconds);
  for (std::size_t i = 0; measured && i < methods.size(); ++i)
    (*measured)[i].method = methods[i];
  return measured;
}

std::vector<std::optional<PeerFigure>> Cell::peer_figures(const LineUp& line_up,
                                                          const std::vector<Samples>& samples,
                                                          std::size_t bytes) const {
  std::vector<std::optional<PeerFigure>> figures(peers_.size());
  for (const LineUp::PeerPlace& place : line_up.peers) {
    const Samples& theirs = samples[place.contestant];
    const Figure figure = speed_of(bytes, theirs);
    std::optional<PeerFigure>& best = figures[place.peer];
    std::vector<MethodFigure> methods;
    if (best) methods = std::move(best->methods);
    methods.push_back({place.method, figure});
    if (!best || best->figure.best < figure.best) {
      best = PeerFigure{
          peers_[place.peer].name, place.method, figure, summarize_ratio(samples[0], theirs), {}};
    }
    best->methods = std::move(methods);
  }
  return figures;
}

}  // namespace calpe::bench
