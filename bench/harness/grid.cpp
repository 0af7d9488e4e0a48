// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/grid.hpp"

#include <algorithm>

#include "base/byte_count.hpp"
#include "bench/harness/measurement.hpp"
#include "bench/harness/plan_timing.hpp"

namespace calpe::bench {

namespace {

constexpr std::size_t kib = 1024;

// Weight of a cell in the run's time. A call on a large stripe fills several slices, so equal
// shares would leave too few rounds for the noisiest cells.
double weight_of(Shape shape, std::size_t shard_bytes) {
  const std::size_t shard_count = std::size_t{shape.data_shards} + shape.parity_shards;
  return 1 + std::min(3.0, static_cast<double>(shard_count * shard_bytes) / (8 * kib * kib));
}

// The roof cannot be slower than a coder. If it is, by more than its own error of 4 %, other work
// disturbed its best rounds, and the row is measured again.
constexpr double roof_slack = 1.08;
constexpr unsigned tries_max = 4;
constexpr unsigned rounds_growth = 3;

// The roof has one thread; a codec with n threads may be up to n times as fast.
bool is_below_somebody(const Row& row, unsigned pool_threads) {
  const double most = roof_slack * row.roof().best;
  if (row.figure.best > most * pool_threads) return true;
  if (row.alone) {
    const double roof_alone = row.alone->roof.best > 0 ? row.alone->roof.best : row.roof().best;
    if (row.alone->figure.best > roof_slack * roof_alone) return true;
  }
  return std::any_of(row.peers.begin(), row.peers.end(),
                     [&](const auto& peer) { return peer && peer->figure.best > most; });
}

// Some peers need 60 ms per pattern.
constexpr double plan_weight = 2;

class GridRun {
 public:
  GridRun(const GridOptions& options, std::span<const NamedPeer> peers,
          const GridObserver& observer)
      : options_(options), peers_(peers), observer_(observer), operations_(options.operations) {
    has_plan_ = std::erase(operations_, Operation::plan) > 0;
    total_ = options.shapes.size() * options.shard_bytes.size() * operations_.size() +
             (has_plan_ ? options.plan_shapes.size() : 0);
    for (const Shape shape : options.shapes) {
      for (const std::size_t shard_bytes : options.shard_bytes)
        total_weight_ += weight_of(shape, shard_bytes) * static_cast<double>(operations_.size());
    }
    if (has_plan_) total_weight_ += plan_weight * static_cast<double>(options.plan_shapes.size());
  }

  Result<Report> run() {
    if (auto status = start(); !status) return std::move(status).error();
    if (!operations_.empty()) {
      for (const Shape shape : options_.shapes) {
        for (const std::size_t shard_bytes : options_.shard_bytes) {
          if (auto status = run_cell(shape, shard_bytes); !status) return std::move(status).error();
        }
      }
    }
    if (has_plan_) {
      for (const Shape shape : options_.plan_shapes) {
        if (auto status = run_plan(shape); !status) return std::move(status).error();
      }
    }
    if (report_.rows.empty() && !report_.skipped.empty())
      return Error{ErrorCode::invalid_argument, report_.skipped.front().reason};
    return std::move(report_);
  }

 private:
  Status start() {
    report_.machine = describe_machine();
    report_.profile = options_.profile;
    report_.word_bits = options_.word_bits;
    report_.packet_bytes = options_.packet_bytes;
    report_.effort = options_.effort;
    report_.conditions = options_.conditions;
    for (const NamedPeer& peer : peers_) {
      report_.peers.push_back(
          {peer.name, std::string(peer.peer->version()), std::string(peer.peer->library())});
    }
    // A small code that no backend refuses shows whether the backend is available. "auto" depends
    // on the layout.
    const CodecOptions codec_options = codec_options_of(options_.conditions.pool_threads);
    auto codec = Codec::create({.data_shards = 2, .parity_shards = 1}, codec_options);
    if (!codec) return std::move(codec).error();
    report_.path = codec->backend();
    if (const auto of_profile = make_codecs({.data_shards = 2, .parity_shards = 1}, 1))
      report_.path = of_profile->codec.backend();
    if (observer_.on_start) observer_.on_start(report_);
    return Done{};
  }

  Result<OwnCodecs> make_codecs(Shape shape, unsigned pool_threads) const {
    auto spec = find_profile(options_.profile);
    if (!spec) return std::move(spec).error();
    spec->data_shards = shape.data_shards;
    spec->parity_shards = shape.parity_shards;
    if (options_.word_bits != 0) spec->word_bits = static_cast<std::uint8_t>(options_.word_bits);
    if (options_.packet_bytes != 0) spec->packet_bytes = options_.packet_bytes;
    CodecOptions codec_options = codec_options_of(pool_threads);
    auto codec = Codec::create(*spec, codec_options);
    if (!codec) return std::move(codec).error();
    codec_options.plan_cache_entries = 0;
    auto uncached = Codec::create(*spec, codec_options);
    if (!uncached) return std::move(uncached).error();
    return OwnCodecs{*std::move(codec), *std::move(uncached)};
  }

  CodecOptions codec_options_of(unsigned pool_threads) const {
    CodecOptions codec_options;
    codec_options.backend = options_.backend;
    codec_options.threads = pool_threads;
    codec_options.effort = options_.effort;
    return codec_options;
  }

  RoundOptions round_options(unsigned pool_threads, double weight) const {
    RoundOptions rounds;
    rounds.rounds = options_.rounds;
    rounds.seconds = options_.seconds * weight / total_weight_;
    rounds.clock = pool_threads > 1 ? Clock::wall : Clock::thread_cpu;
    return rounds;
  }

  void tell_progress(Operation operation, Shape shape, std::size_t shard_bytes) {
    if (!observer_.on_progress) return;
    std::string what = std::string(name_of(operation)) + " " + to_text(shape);
    if (shard_bytes > 0) what += " " + bytes_to_text(shard_bytes);
    // Checks and preparation take time as well, so the planned time is only the first estimate.
    const double pace = done_weight_ > 0 ? (seconds_now(Clock::wall) - started_) / done_weight_
                                         : options_.seconds / total_weight_;
    observer_.on_progress({done_, total_, pace * (total_weight_ - done_weight_), std::move(what)});
  }

  void skip(Shape shape, std::size_t shard_bytes, std::size_t rows, double weight,
            const std::string& reason) {
    done_ += rows;
    total_weight_ -= static_cast<double>(rows) * weight;
    report_.skipped.push_back({shape, shard_bytes, to_text(shape) + ": " + reason});
    if (observer_.on_skip) observer_.on_skip(report_.skipped.back());
  }

  void keep(Row row, double weight) {
    ++done_;
    done_weight_ += weight;
    report_.rows.push_back(std::move(row));
    if (observer_.on_row) observer_.on_row(report_, report_.rows.back());
  }

  // A cell that the profile refuses is skipped; any other error ends the run.
  static bool is_refusal(const Error& error) {
    return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unproven;
  }

  // One cell with all its operations except batch, which has its own stripes.
  Status run_cell(Shape shape, std::size_t shard_bytes) {
    std::vector<Operation> operations = operations_;
    const bool has_batch = std::erase(operations, Operation::batch) > 0;
    if (!operations.empty()) {
      if (auto status = run_operations(shape, shard_bytes, operations); !status) return status;
    }
    if (!has_batch) return Done{};
    return run_operations(shape, shard_bytes, {Operation::batch});
  }

  Status run_operations(Shape shape, std::size_t shard_bytes,
                        const std::vector<Operation>& operations) {
    tell_progress(operations.front(), shape, shard_bytes);
    const double weight = weight_of(shape, shard_bytes);
    auto cell = Cell::create(
        {shape, shard_bytes, operations, options_.profile, options_.conditions},
        [&](unsigned pool_threads) { return make_codecs(shape, pool_threads); }, peers_);
    if (!cell) {
      if (!is_refusal(cell.error())) return std::move(cell).error();
      skip(shape, shard_bytes, operations.size(), weight, cell.error().message);
      return Done{};
    }
    for (const Operation operation : operations) {
      tell_progress(operation, shape, shard_bytes);
      RoundOptions rounds = round_options(options_.conditions.pool_threads, weight);
      auto row = cell->measure(operation, rounds);
      for (unsigned tries = 1; row && tries < tries_max; ++tries) {
        if (!is_below_somebody(*row, options_.conditions.pool_threads)) break;
        // Use more rounds: with few of them another disturbance is likely.
        rounds.rounds *= rounds_growth;
        rounds.seconds *= rounds_growth;
        row = cell->measure(operation, rounds);
      }
      if (!row) return std::move(row).error();
      keep(*std::move(row), weight);
    }
    return Done{};
  }

  Status run_plan(Shape shape) {
    tell_progress(Operation::plan, shape, 0);
    auto codecs = make_codecs(shape, 1);
    auto row = codecs
                   ? measure_plan(*codecs, options_.profile, peers_, round_options(1, plan_weight))
                   : Result<Row>(codecs.error());
    if (!row) {
      if (!is_refusal(row.error())) return std::move(row).error();
      skip(shape, 0, 1, plan_weight, row.error().message);
      return Done{};
    }
    keep(*std::move(row), plan_weight);
    return Done{};
  }

  const GridOptions& options_;
  std::span<const NamedPeer> peers_;
  const GridObserver& observer_;
  std::vector<Operation> operations_;  // without plan
  bool has_plan_ = false;
  std::size_t total_ = 0;
  double total_weight_ = 0;
  std::size_t done_ = 0;
  double done_weight_ = 0;
  double started_ = seconds_now(Clock::wall);
  Report report_;
};

}  // namespace

GridOptions quick_grid() {
  GridOptions grid;
  grid.shapes = {{4, 2}, {8, 3}, {10, 4}, {16, 4}, {20, 10}};
  grid.shard_bytes = {4 * kib, 64 * kib, kib * kib};
  grid.operations = {Operation::encode, Operation::decode, Operation::plan};
  grid.plan_shapes = {{223, 32}};
  return grid;
}

GridOptions full_grid() {
  GridOptions grid = quick_grid();
  grid.shapes = {{4, 2},  {5, 2},   {8, 3},  {10, 4},   {12, 4},
                 {16, 4}, {20, 10}, {40, 8}, {128, 32}, {223, 32}};
  grid.operations = {Operation::encode, Operation::decode, Operation::decode1, Operation::plan};
  grid.plan_shapes = grid.shapes;
  grid.seconds = 300;
  return grid;
}

GridOptions wide_grid() {
  GridOptions grid;
  grid.shapes = {{4, 2},    {10, 4},   {20, 10},    {32, 32},     {64, 64},      {128, 128},
                 {200, 56}, {256, 64}, {1000, 200}, {4096, 1024}, {10000, 2000}, {32768, 32768}};
  grid.shard_bytes = {kib};
  grid.operations = {Operation::encode, Operation::decode, Operation::decode1,
                     Operation::decode_fresh};
  grid.plan_shapes = grid.shapes;
  grid.conditions.layout = ShardLayout::contiguous;
  grid.seconds = 60;
  return grid;
}

Result<Report> run_grid(const GridOptions& options, std::span<const NamedPeer> peers,
                        const GridObserver& observer) {
  return GridRun(options, peers, observer).run();
}

}  // namespace calpe::bench
