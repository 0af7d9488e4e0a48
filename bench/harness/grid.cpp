// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/grid.hpp"

#include <algorithm>

#include "bench/harness/cell.hpp"
#include "bench/harness/plan_timing.hpp"

namespace calpe::bench {

namespace {

constexpr std::size_t kib = 1024;

// Share of the run's time. A call on a large stripe fills several slices, so equal shares would
// leave few rounds where the memory makes the most noise.
double weight_of(Shape shape, std::size_t shard_bytes) {
  const std::size_t shard_count = std::size_t{shape.data_shards} + shape.parity_shards;
  return 1 + std::min(3.0, static_cast<double>(shard_count * shard_bytes) / (8 * kib * kib));
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
    report_.threads = options_.threads;
    report_.pool_threads = options_.pool_threads;
    for (const NamedPeer& peer : peers_) {
      report_.peers.push_back(
          {peer.name, std::string(peer.peer->version()), std::string(peer.peer->library())});
    }
    // A code that nobody refuses tells whether the backend is there, and its path.
    auto codec = Codec::create({.data_shards = 2, .parity_shards = 1}, codec_options());
    if (!codec) return std::move(codec).error();
    report_.path = codec->backend();
    if (observer_.on_start) observer_.on_start(report_);
    return Done{};
  }

  Result<Codec> make_codec(Shape shape) const {
    auto spec = find_profile(options_.profile);
    if (!spec) return std::move(spec).error();
    spec->data_shards = shape.data_shards;
    spec->parity_shards = shape.parity_shards;
    return Codec::create(*spec, codec_options());
  }

  CodecOptions codec_options() const {
    CodecOptions codec_options;
    codec_options.backend = options_.backend;
    codec_options.threads = options_.pool_threads;
    codec_options.plan_cache_entries = 0;  // `plan` must not find what it made before
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
    observer_.on_progress(done_, total_, what);
  }

  void skip(Shape shape, std::size_t shard_bytes, const std::string& reason) {
    report_.skipped.push_back({shape, shard_bytes, to_text(shape) + ": " + reason});
    if (observer_.on_skip) observer_.on_skip(report_.skipped.back());
  }

  void keep(Row row) {
    ++done_;
    report_.rows.push_back(std::move(row));
    if (observer_.on_row) observer_.on_row(report_, report_.rows.back());
  }

  // Refusals of the profile skip a cell; whatever else goes wrong ends the run.
  static bool is_refusal(const Error& error) {
    return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unproven;
  }

  Status run_cell(Shape shape, std::size_t shard_bytes) {
    tell_progress(operations_.front(), shape, shard_bytes);
    auto codec = make_codec(shape);
    Result<Cell> cell = codec ? Cell::create({shape, shard_bytes, operations_, options_.profile,
                                              options_.threads, options_.has_nt_roof},
                                             *codec, peers_)
                              : Result<Cell>(codec.error());
    if (!cell) {
      if (!is_refusal(cell.error())) return std::move(cell).error();
      skip(shape, shard_bytes, cell.error().message);
      done_ += operations_.size();
      return Done{};
    }
    for (const Operation operation : operations_) {
      tell_progress(operation, shape, shard_bytes);
      auto row = cell->measure(operation,
                               round_options(options_.pool_threads, weight_of(shape, shard_bytes)));
      if (!row) return std::move(row).error();
      keep(*std::move(row));
    }
    return Done{};
  }

  Status run_plan(Shape shape) {
    tell_progress(Operation::plan, shape, 0);
    auto codec = make_codec(shape);
    auto row = codec ? measure_plan(*codec, options_.profile, peers_, round_options(1, plan_weight))
                     : Result<Row>(codec.error());
    if (!row) {
      if (!is_refusal(row.error())) return std::move(row).error();
      skip(shape, 0, row.error().message);
      ++done_;
      return Done{};
    }
    keep(*std::move(row));
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
  grid.has_nt_roof = true;
  return grid;
}

Result<Report> run_grid(const GridOptions& options, std::span<const NamedPeer> peers,
                        const GridObserver& observer) {
  return GridRun(options, peers, observer).run();
}

}  // namespace calpe::bench
