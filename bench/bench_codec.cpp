// SPDX-License-Identifier: Apache-2.0
// Google Benchmark of the codec, for development: every operation, shape, shard length and CPU path
// of this machine. To compare with other libraries use `calpe bench`, which interleaves the runs.
//
//   bench_codec --benchmark_filter='encode/cpu:avx2/10\+4/'
#include <benchmark/benchmark.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/codec.hpp>

#include "bench/harness/operation.hpp"
#include "bench/harness/stripe.hpp"

namespace {

using calpe::Codec;
using calpe::ConstShard;
using calpe::Shard;
using calpe::ShardIndex;
using calpe::bench::Shape;
using calpe::bench::StripeBuffers;

// A codec and a stripe in the form its calls expect.
struct Setup {
  Codec codec;
  StripeBuffers buffers;
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  std::vector<Shard> rebuilt;
};

struct Cell {
  std::string backend;
  Shape shape;
  std::size_t shard_bytes = 0;
};

// Returns null and shows the reason if the cell cannot be run.
std::unique_ptr<Setup> make_setup(benchmark::State& state, const Cell& cell) {
  calpe::CodeSpec spec;
  spec.data_shards = cell.shape.data_shards;
  spec.parity_shards = cell.shape.parity_shards;
  auto codec = Codec::create(spec, {.backend = cell.backend});
  auto buffers = StripeBuffers::create(cell.shape, cell.shard_bytes);
  if (!codec || !buffers) {
    state.SkipWithError((codec ? buffers.error() : codec.error()).message.c_str());
    return nullptr;
  }
  auto setup = std::make_unique<Setup>(Setup{*codec, *std::move(buffers), {}, {}, {}});
  const auto stripe = setup->buffers.view();
  for (std::size_t i = 0; i < stripe.shards.size(); ++i) {
    if (i < cell.shape.data_shards) {
      setup->data.emplace_back(stripe.shards[i], stripe.shard_bytes);
    } else {
      setup->parity.emplace_back(stripe.shards[i], stripe.shard_bytes);
    }
  }
  for (std::byte* shard : stripe.rebuilt)
    setup->rebuilt.emplace_back(shard, stripe.shard_bytes);
  if (auto done = setup->codec.encode(setup->data, setup->parity); !done) {
    state.SkipWithError(done.error().message.c_str());
    return nullptr;
  }
  return setup;
}

// Runs `call` until Google Benchmark has enough samples; `bytes` is the data per call.
template <class OperationCall>
void time_calls(benchmark::State& state, std::size_t bytes, const OperationCall& call) {
  for (auto _ : state) {
    if (!call()) {
      state.SkipWithError("the call reported an error");
      break;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void run_encode(benchmark::State& state, const Cell& cell) {
  const auto setup = make_setup(state, cell);
  if (!setup) return;
  time_calls(state, cell.shape.data_shards * cell.shard_bytes,
             [&] { return setup->codec.encode(setup->data, setup->parity).has_value(); });
}

// Loses as many data shards as the code can rebuild, which is the most work.
void run_decode(benchmark::State& state, const Cell& cell) {
  const auto setup = make_setup(state, cell);
  if (!setup) return;
  std::vector<ShardIndex> lost;
  std::vector<ShardIndex> available;
  const int shard_count = cell.shape.data_shards + cell.shape.parity_shards;
  const int lost_count = std::min(cell.shape.data_shards, cell.shape.parity_shards);
  for (int i = 0; i < shard_count; ++i)
    (i < lost_count ? lost : available).push_back(static_cast<ShardIndex>(i));
  auto plan = setup->codec.plan_decode(available, lost);
  if (!plan) {
    state.SkipWithError(plan.error().message.c_str());
    return;
  }
  std::vector<ConstShard> survivors;
  for (const ShardIndex shard : plan->reads())
    survivors.emplace_back(setup->buffers.view().shards[shard], cell.shard_bytes);
  setup->rebuilt.resize(lost.size());
  time_calls(state, cell.shape.data_shards * cell.shard_bytes,
             [&] { return setup->codec.decode(*plan, survivors, setup->rebuilt).has_value(); });
}

// Replaces one whole data shard; counts the changed bytes.
void run_update(benchmark::State& state, const Cell& cell) {
  const auto setup = make_setup(state, cell);
  if (!setup) return;
  Codec::Change change;
  change.shard_bytes = cell.shard_bytes;
  time_calls(state, cell.shard_bytes, [&] {
    return setup->codec.update(change, setup->data[0], setup->parity).has_value();
  });
}

void run_verify(benchmark::State& state, const Cell& cell) {
  const auto setup = make_setup(state, cell);
  if (!setup) return;
  const std::vector<ConstShard> parity(setup->parity.begin(), setup->parity.end());
  time_calls(state, cell.shape.data_shards * cell.shard_bytes, [&] {
    auto wrong = setup->codec.verify(setup->data, parity);
    return wrong.has_value() && wrong->empty();
  });
}

struct NamedRun {
  std::string_view name;
  void (*run)(benchmark::State& state, const Cell& cell);
};

void register_all() {
  constexpr NamedRun runs[] = {{"encode", run_encode},
                               {"decode", run_decode},
                               {"update", run_update},
                               {"verify", run_verify}};
  const std::vector<Shape> shapes = {{4, 2}, {8, 3}, {10, 4}, {16, 4}, {20, 10}};
  const std::vector<std::size_t> lengths = {4096, 65536, 1048576};
  for (const calpe::BackendInfo& backend : calpe::list_backends()) {
    // Skip "cpu": it is an alias of the best path, which is listed separately.
    if (!backend.available || backend.name.rfind("cpu:", 0) != 0) continue;
    for (const NamedRun& each : runs) {
      for (const Shape shape : shapes) {
        for (const std::size_t shard_bytes : lengths) {
          const std::string name = std::string(each.name) + "/" + backend.name + "/" +
                                   calpe::bench::to_text(shape) + "/" + std::to_string(shard_bytes);
          benchmark::RegisterBenchmark(name.c_str(), each.run,
                                       Cell{backend.name, shape, shard_bytes});
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("calpe_version", std::string(calpe::version()));
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
