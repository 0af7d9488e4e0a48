// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/sections.hpp"

#include <algorithm>
#include <set>

#include "bench/harness/measurement.hpp"

namespace calpe::bench {

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;

GridOptions grid_of(double seconds, std::vector<Shape> shapes, std::vector<std::size_t> bytes) {
  GridOptions grid;
  grid.shapes = std::move(shapes);
  grid.shard_bytes = std::move(bytes);
  grid.operations = {Operation::encode};
  grid.seconds = seconds;
  return grid;
}

// M. L. Curry et al., "Gibraltar" (2011), figure 1: k + 2, k + 3 and k + 4, buffers of 1 MiB.
Section over_k(Extent extent) {
  const bool is_full = extent == Extent::full;
  std::vector<Shape> shapes;
  for (const unsigned m : {2U, 3U, 4U}) {
    for (const unsigned k : {2U, 4U, 6U, 8U, 12U, 16U, 20U, 24U, 28U, 32U}) {
      const bool is_quick = k == 2 || k == 4 || k == 8 || k == 16 || k == 32;
      if (is_full || is_quick) shapes.push_back({k, m});
    }
  }
  GridOptions grid = grid_of(is_full ? 90 : 9, std::move(shapes), {mib});
  if (is_full) grid.operations.push_back(Operation::decode);
  return {"over-k", "Rate over the number of data shards, shards of 1 MiB", {{grid}}};
}

// Figure 2 of the same paper: k + 2 over the buffer size.
Section over_bytes(Extent extent) {
  const bool is_full = extent == Extent::full;
  std::vector<std::size_t> bytes;
  for (std::size_t each = kib; each <= (is_full ? 16 : 4) * mib; each *= is_full ? 2 : 4)
    bytes.push_back(each);
  std::vector<Shape> shapes = {{10, 2}};
  if (is_full) shapes = {{4, 2}, {10, 2}, {16, 2}, {10, 4}};
  return {"over-bytes",
          "Rate over shard length",
          {{grid_of(is_full ? 90 : 6, std::move(shapes), std::move(bytes))}}};
}

// Packets are the blocks that the XORs of a kernel run over.
Section packet_sizes(Extent extent) {
  Section section{"packets", "Rate over packet length, layout packets", {}};
  for (const unsigned packet : {64U, 128U, 256U, 512U, 1024U, 2048U, 4096U, 8192U, 16384U}) {
    const bool is_quick = packet == 64 || packet == 512 || packet == 2048 || packet == 16384;
    if (extent == Extent::quick && !is_quick) continue;
    GridOptions grid = grid_of(extent == Extent::full ? 2 : 0.5, {{10, 4}}, {mib});
    grid.profile = "hybrid-good";
    grid.word_bits = 4;
    grid.packet_bytes = packet;
    section.grids.push_back({grid, false});
  }
  return section;
}

Section profiles(Extent extent) {
  Section section{"profiles", "Rates by profile", {}};
  const bool is_full = extent == Extent::full;
  for (const std::string name : {"default", "cauchy", "hybrid-good"}) {
    GridOptions grid = grid_of(is_full ? 8 : 2, {{4, 2}, {10, 4}, {20, 10}}, {64 * kib});
    grid.profile = name;
    grid.operations = {Operation::encode, Operation::decode};
    section.grids.push_back({grid, false});
  }
  return section;
}

Section cold(Extent extent) {
  const bool is_full = extent == Extent::full;
  std::vector<Shape> shapes = {{10, 4}};
  if (is_full) shapes = {{4, 2}, {10, 4}, {20, 10}};
  GridOptions grid = grid_of(is_full ? 12 : 2, std::move(shapes), {64 * kib, mib});
  grid.conditions.is_cold = true;
  grid.conditions.stores = Stores::streaming;
  return {"cold", "Uncached stripes", {{grid}}};
}

std::vector<unsigned> thread_counts(unsigned cpu_count) {
  std::set<unsigned> counts;
  for (unsigned n = 2; n < cpu_count; n *= 2)
    counts.insert(n);
  counts.insert(std::max(2U, cpu_count));
  return {counts.begin(), counts.end()};
}

Section thread_scaling(Extent extent, unsigned cpu_count) {
  Section section{"threads", "Rate over the number of threads", {}};
  const bool is_full = extent == Extent::full;
  const std::vector<std::size_t> bytes = {64 * kib, mib};
  for (const unsigned threads : thread_counts(cpu_count)) {
    GridOptions callers = grid_of(is_full ? 8 : 2, {{10, 4}}, bytes);
    callers.conditions.threads = threads;
    section.grids.push_back({callers, false});
    GridOptions pool = grid_of(is_full ? 4 : 1, {{10, 4}}, {mib});
    pool.conditions.pool_threads = threads;
    section.grids.push_back({pool, false});
  }
  return section;
}

}  // namespace

std::vector<Section> grid_sections(Extent extent, unsigned cpu_count) {
  return {over_k(extent),       over_bytes(extent), cold(extent),
          packet_sizes(extent), profiles(extent),   thread_scaling(extent, cpu_count)};
}

std::vector<LatencyCell> latency_cells(Extent extent) {
  const double seconds = extent == Extent::full ? 20 : 1.5;
  return {{{10, 4}, 4 * kib, seconds}, {{10, 4}, 64 * kib, seconds}};
}

Result<std::vector<LatencyRow>> run_latency(const LatencyCell& cell,
                                            std::span<const NamedPeer> peers) {
  const auto make_codecs = [&](unsigned) -> Result<OwnCodecs> {
    auto codec = Codec::create(
        {.data_shards = cell.shape.data_shards, .parity_shards = cell.shape.parity_shards});
    if (!codec) return std::move(codec).error();
    return OwnCodecs{*codec, *codec};
  };
  CellOptions options;
  options.shape = cell.shape;
  options.shard_bytes = cell.shard_bytes;
  options.operations = {Operation::encode};
  options.profile = default_profile;
  auto made = Cell::create(options, make_codecs, peers);
  if (!made) return std::move(made).error();
  auto latencies = made->latencies(cell.seconds);
  if (!latencies) return std::move(latencies).error();
  std::vector<LatencyRow> rows;
  for (Latency& latency : *latencies) {
    // Keep the fastest technique of each library.
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const LatencyRow& row) { return row.name == latency.name; });
    if (same == rows.end()) {
      rows.push_back({cell, latency.name, latency.method, latency});
    } else if (latency.p50 < same->latency.p50) {
      *same = {cell, latency.name, latency.method, latency};
    }
  }
  return rows;
}

}  // namespace calpe::bench
