// SPDX-License-Identifier: Apache-2.0
#include "calpe/durability/durability_run.hpp"

#include <cmath>
#include <fmt/format.h>

#include "base/try.hpp"
#include "calpe/durability/durability_bench.hpp"
#include "calpe/durability/durability_number.hpp"

namespace calpe::tools {

namespace {

double devices_of(const DurabilityRow& row) {
  if (row.inputs.devices != 0) return static_cast<double>(row.inputs.devices);
  return row.inputs.pool_devices != 0 ? static_cast<double>(row.inputs.pool_devices)
                                      : row.scheme.shards();
}

// The quick part of a row; finish_row() adds the rest.
Result<DurabilityRow> begin_row(const DurabilityRequest& request,
                                const durability::CodeChoice& code,
                                const std::optional<MeasuredRates>& rates) {
  DurabilityRow row;
  row.code = code;
  CALPE_TRY(durability::KnownCode known, know_code(code));
  row.scheme = std::move(known.scheme);
  row.notes = std::move(known.notes);
  row.inputs = request.inputs;
  if (rates) {
    const MeasuredRates::Rate rate = rates->decode_rate(code.data, code.parity);
    row.inputs.decode_bytes_per_s = rate.bytes_per_s;
    row.decode_origin = rate.origin;
    if (!rate.is_same_code) {
      row.notes.push_back(fmt::format("{} is not in {}; using its slowest decode rate, {}",
                                      row.scheme.name, request.bench, rate.origin));
    }
  }
  CALPE_CHECK(check(row.inputs, row.scheme));
  row.estimate = estimate(row.scheme, row.inputs);
  row.traffic = repair_traffic(row.scheme, row.inputs, devices_of(row));
  return row;
}

std::optional<durability::Scheme> find_smallest(const DurabilityRequest& request,
                                                const DurabilityRow& row) {
  return smallest_parity(
      [&](unsigned parity) -> std::optional<durability::Scheme> {
        durability::CodeChoice code = row.code;
        code.parity = parity;
        if (parity < code.groups) return std::nullopt;
        auto known = know_code(code);
        if (!known) return std::nullopt;
        return std::move(known->scheme);
      },
      row.inputs, request.target_nines);
}

void finish_row(const DurabilityRequest& request, DurabilityRow& row) {
  const durability::LossChain chain = make_chain(row.scheme, row.inputs);
  row.chain_losses = std::exp(solve(chain).log_loss_rate) * durability::hours_per_year;
  row.sampled = sample_rare_losses(chain, request.cycles, request.seed);
  if (request.missions > 0) {
    row.missions = simulate_missions(row.scheme, row.inputs,
                                     {.missions = request.missions,
                                      .seed = request.seed,
                                      .is_repair_fixed = request.is_repair_fixed});
  }
  row.sensitivities = sensitivities(row.scheme, row.inputs);
  row.smallest = find_smallest(request, row);
}

std::optional<durability::CodeChoice> counterpart_of(const durability::CodeChoice& code) {
  durability::CodeChoice other = code;
  if (code.groups != 0) {
    other.profile = "default";
    other.groups = 0;
    return other;
  }
  if (code.parity < 3 || code.data < 4) return std::nullopt;
  other.profile = "lrc";
  other.groups = 2;
  return other;
}

}  // namespace

Result<DurabilityReport> run_durability(const DurabilityRequest& request) {
  DurabilityReport report;
  report.request = request;
  std::optional<MeasuredRates> rates;
  if (!request.bench.empty()) {
    CALPE_TRY(rates, MeasuredRates::read(request.bench));
  }
  for (const durability::CodeChoice& code : request.codes) {
    CALPE_TRY(DurabilityRow row, begin_row(request, code, rates));
    if (!request.is_comparison) finish_row(request, row);
    report.rows.push_back(std::move(row));
  }
  const std::optional<durability::CodeChoice> other =
      request.is_comparison ? std::nullopt : counterpart_of(request.codes.front());
  if (other) {
    if (auto row = begin_row(request, *other, rates)) report.counterpart = *std::move(row);
  }
  if (!request.plot.empty()) {
    CALPE_TRY(report.plots, write_plots(request.plot, loss_plot(report), rebuild_plot(report)));
  }
  return report;
}

LossPlot loss_plot(const DurabilityReport& report) {
  LossPlot plot;
  for (const DurabilityRow& row : report.rows)
    plot.codes.push_back({row.scheme.name, row.scheme.overhead(), row.estimate.year.any});
  const durability::Inputs& in = report.request.inputs;
  plot.conditions =
      fmt::format("devices of {}, {}, {:g} read errors per bit", bytes_text(in.capacity_bytes),
                  report.request.failures, in.read_errors_per_bit);
  return plot;
}

RebuildPlot rebuild_plot(const DurabilityReport& report) {
  RebuildPlot plot;
  plot.conditions = loss_plot(report).conditions;
  for (const DurabilityRow& row : report.rows) {
    RebuildCurve curve = {row.scheme.name};
    // 1 to 1000 hours, eight points per decade.
    for (int step = 0; step <= 24; ++step) {
      durability::Inputs in = row.inputs;
      in.repair_hours = std::pow(10.0, step / 8.0);
      curve.points.push_back({*in.repair_hours, estimate(row.scheme, in).year.any});
    }
    curve.hours = row.estimate.rebuild.hours();
    curve.loss = row.estimate.year.any;
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

}  // namespace calpe::tools
