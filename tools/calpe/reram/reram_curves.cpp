// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_curves.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/divide_up.hpp"
#include "base/try.hpp"
#include "calpe/reram/reram_baselines.hpp"
#include "calpe/reram/reram_words.hpp"
#include "gf/bit_matrix.hpp"
#include "reram/error_rates.hpp"
#include "reram/noise.hpp"
#include "reram/paper.hpp"
#include "reram/timing.hpp"

namespace calpe::tools {

namespace {

constexpr unsigned parities[] = {2, 4, 6, 8, 16};
constexpr unsigned data_first = 10;
constexpr unsigned data_last = 40;
constexpr unsigned data_step = 5;
constexpr double rate_seconds = 0.02;

constexpr double variations[] = {0.01, 0.03, 0.1};
constexpr double rate_shown_min = 1e-18;  // smaller rates are not drawn
constexpr std::uint64_t crossbars_drawn = 16;
constexpr std::uint64_t wrong_min = 20;  // fewer errors make the rate too uncertain

constexpr std::size_t wear_bytes = std::size_t{1} << 20U;
constexpr double gib = 1024.0 * 1024 * 1024;
constexpr double gib_shown[] = {0.001, 0.01, 0.1, 1, 10, 100, 1000};

Result<double> steady_encode_rate(unsigned data, unsigned parity,
                                  const reram::Parameters& parameters) {
  const CodeSpec spec = reram_spec(data, parity, parameters);
  CALPE_TRY(const std::vector<std::uint16_t> cells, parity_rows(spec));
  CALPE_TRY(const gf::FieldRef field, gf::Field::create(spec.word_bits, spec.polynomial));
  gf::Matrix rows(parity, data);
  for (std::size_t i = 0; i < cells.size(); ++i)
    rows(i / data, i % data) = cells[i];
  CALPE_TRY(const reram::Mapping mapping, map_matrix(expand(*field, rows), parameters));
  return reram::steady_rate(parameters, mapping);
}

Result<ThroughputPlot> throughput(const ReramRequest& request,
                                  const std::function<void(std::string)>& say) {
  ThroughputPlot plot{.preset = request.parameters.name,
                      .origin = calibration_text(request.parameters),
                      .paper_baseline = std::string(reram::paper_baseline)};
  for (const unsigned parity : parities) {
    ParityRates simulated{.parity = parity};
    ParityRates paper{.parity = parity};
    ParityRates calpe{.parity = parity};
    for (unsigned data = data_first; data <= data_last; data += data_step) {
      say(fmt::format("measuring {}+{} on the CPU", data, parity));
      const auto k = static_cast<double>(data);
      CALPE_TRY(const double rate, steady_encode_rate(data, parity, request.parameters));
      CALPE_TRY(const Baseline measured, measure_calpe(data, parity, rate_seconds));
      simulated.rates.push_back({k, rate * 1e-6});
      paper.rates.push_back({k, reram::paper_cpu_mb_per_s(data, parity)});
      calpe.rates.push_back({k, *measured.rate * 1e-6});
      plot.calpe_baseline = name_of(measured);
    }
    plot.simulated.push_back(std::move(simulated));
    plot.paper_cpu.push_back(std::move(paper));
    plot.calpe.push_back(std::move(calpe));
  }
  plot.notes.emplace_back("Packets of 8 bytes slowed down the paper's CPU.");
  return plot;
}

// Wrong bits with `active` rows driven.
struct Count {
  std::size_t active = 0;
  std::uint64_t bits = 0;
  std::uint64_t wrong = 0;
};

// Drives each group of count.active rows of a crossbar whose cells all hold 1.
void count_wrong(const reram::CellNoise& cells, std::size_t rows, std::size_t columns,
                 Count& count) {
  std::vector<std::int32_t> sums(columns);
  for (std::size_t first = 0; first + count.active <= rows; first += count.active) {
    std::vector<std::uint64_t> word_lines(divide_up(rows, 64));
    for (std::size_t row = first; row < first + count.active; ++row)
      word_lines[row / 64] |= std::uint64_t{1} << (row % 64);
    cells.sum(word_lines, sums);
    count.bits += columns;
    count.wrong += static_cast<std::uint64_t>(std::ranges::count_if(sums, [&](std::int32_t sum) {
      return ((sum ^ static_cast<std::int32_t>(count.active)) & 1) != 0;
    }));
  }
}

std::vector<ChartPoint> measured_rates(const reram::Parameters& noise) {
  const auto rows = static_cast<std::size_t>(noise.rows.value);
  const auto columns = static_cast<std::size_t>(noise.columns.value);
  std::vector<Count> counts;
  for (std::size_t active = 4; active <= rows; active *= 2) {
    counts.push_back({.active = active});
    if (active / 2 * 3 <= rows) counts.push_back({.active = active / 2 * 3});
  }
  // Drop points with less than one expected error.
  std::erase_if(counts, [&](const Count& count) {
    return reram::bit_error_rate(noise, count.active, 0) * noise.rows.value * noise.columns.value <
           1;
  });
  const std::vector<std::uint64_t> ones(divide_up(columns, 64), ~std::uint64_t{0});
  std::vector<std::uint64_t> held(ones.size());
  for (std::uint64_t index = 0; index < crossbars_drawn; ++index) {
    reram::CellNoise cells(noise, index);
    for (std::size_t row = 0; row < rows; ++row)
      cells.program(row, columns, ones, held);
    for (Count& count : counts)
      count_wrong(cells, rows, columns, count);
  }
  std::vector<ChartPoint> points;
  for (const Count& count : counts) {
    if (count.wrong < wrong_min) continue;
    points.push_back({static_cast<double>(count.active),
                      static_cast<double>(count.wrong) / static_cast<double>(count.bits)});
  }
  return points;
}

std::vector<ChartPoint> closed_form(const reram::Parameters& noise) {
  const auto rows = static_cast<std::size_t>(noise.rows.value);
  std::vector<ChartPoint> points;
  const auto add = [&](std::size_t active) {
    const double rate = reram::bit_error_rate(noise, active, 0);
    if (rate >= rate_shown_min) points.push_back({static_cast<double>(active), rate});
  };
  for (std::size_t active = 1; active < rows; active += std::max<std::size_t>(1, active / 8))
    add(active);
  add(rows);
  return points;
}

ErrorPlot errors(const ReramRequest& request, const std::function<void(std::string)>& say) {
  reram::Parameters noise = request.parameters;
  noise.stuck_at_0.value = noise.stuck_at_1.value = 0;
  ErrorPlot plot{.preset = noise.name, .target = request.target_rate};
  plot.conditions =
      fmt::format("all cells hold 1, on/off ratio {}, seed {:g}, {} crossbars drawn",
                  noise.on_off_ratio.value == 0 ? std::string("infinite")
                                                : fmt::format("{:g}", noise.on_off_ratio.value),
                  noise.seed.value, crossbars_drawn);
  for (const double variation : variations) {
    say(fmt::format("drawing cells of {:g} % variation", variation * 100));
    noise.variation.value = variation;
    plot.curves.push_back({.variation = variation,
                           .closed_form = closed_form(noise),
                           .measured = measured_rates(noise)});
  }
  return plot;
}

// Extrapolates wear linearly from a short simulation.
std::vector<ChartPoint> wear_points(const ReramRequest& request) {
  const Result<ReramRun> run = run_reram(request);
  std::vector<ChartPoint> points;
  if (!run) return points;  // does not fit: not drawn
  const double per_gib =
      static_cast<double>(run->wear.most) * gib / static_cast<double>(run->bytes_read);
  for (const double x : gib_shown)
    points.push_back({x, run->is_wearing() ? per_gib * x : static_cast<double>(run->wear.most)});
  return points;
}

WearPlot wear(const ReramRequest& request) {
  ReramRequest each = request;
  each.bytes = wear_bytes;
  each.lose.clear();
  each.options = {};
  each.parameters.variation.value = 0;
  each.parameters.stuck_at_0.value = each.parameters.stuck_at_1.value = 0;
  WearPlot plot{.preset = request.parameters.name};
  plot.conditions =
      fmt::format("{}+{}, {} crossbars share the work; XOR mode in {} SSDs", request.data,
                  request.parity, request.parameters.crossbar_count(), request.data);
  plot.normal = wear_points(each);
  each.options.mapping.grid = {2, 2};
  plot.combination_rewrite = wear_points(each);
  each.options.mapping.combine = reram::Combine::digital;
  plot.combination_digital = wear_points(each);
  each.options = {};
  each.lose = {0};
  plot.xor_mode = wear_points(each);
  plot.notes.emplace_back("Combination mode of 2 x 2 crossbars.");
  return plot;
}

}  // namespace

Result<ReramPlots> compute_plots(const ReramRequest& request,
                                 const std::function<void(std::string)>& say) {
  ReramPlots plots;
  CALPE_TRY(plots.throughput, throughput(request, say));
  plots.errors = errors(request, say);
  say("simulating wear");
  plots.wear = wear(request);
  return plots;
}

}  // namespace calpe::tools
