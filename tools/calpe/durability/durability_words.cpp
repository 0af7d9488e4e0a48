// SPDX-License-Identifier: Apache-2.0
// Texts that the table and JSON of `calpe durability` share.
#include <cmath>
#include <fmt/format.h>

#include "calpe/durability/durability_number.hpp"
#include "calpe/durability/durability_report.hpp"

namespace calpe::tools {

namespace {

constexpr double believable = 1e-11;
constexpr double crowded = 0.1;  // expected further failures during a rebuild

void warn_of_devices(std::vector<std::string>& list, const DurabilityRow& row) {
  const durability::Inputs& in = row.inputs;
  const double others =
      in.pool_devices == 0 ? row.scheme.shards() - 1.0 : static_cast<double>(in.pool_devices) - 1;
  const double meanwhile =
      others * in.failures_per_hour() * in.batch_factor * row.estimate.rebuild.hours();
  if (meanwhile > crowded) {
    list.push_back(
        fmt::format("{:.2g} further failures are expected during a rebuild; the window model and "
                    "closed forms do not apply, and the chain assumes independent failures",
                    meanwhile));
  }
  const double unit = others + 1;
  const double unused = static_cast<double>(in.devices) - row.estimate.groups * unit;
  if (in.devices != 0 && unused > 0) {
    list.push_back(fmt::format("{:.0f} of {} devices are unused: they do not fill a {} of {:.0f}",
                               unused, in.devices, in.pool_devices == 0 ? "group" : "pool", unit));
  }
  if (!in.life.is_exponential()) {
    list.push_back(fmt::format(
        "the chain replaces the Weibull distribution (shape {:g}) by its mean rate over "
        "the mission, {:.3g} failures a year; use --missions to simulate it",
        in.life.shape, in.failures_per_hour() * durability::hours_per_year));
  }
  if (in.model == durability::Model::window) {
    list.push_back(
        fmt::format("the window model misses failures that span two windows and is optimistic by a "
                    "factor of about m + 1 = {}; use it only to compare with published numbers",
                    row.scheme.parity_shards + 1));
    if (in.pool_devices != 0) list.emplace_back("the window model treats pools as groups");
  }
  if (in.pool_devices > row.scheme.shards()) {
    list.emplace_back(
        "a pool loses data more often than groups, but less each time, so compare NOMDL; the model "
        "does not rebuild stripes with few survivors first, as good systems do");
  }
}

void warn_of_reading(std::vector<std::string>& list, const DurabilityRow& row) {
  const durability::LossProbability& mission = row.estimate.mission;
  // Otherwise the line in the table is enough.
  if (mission.any > 0.01 && mission.any > 1.02 * mission.any_clustered) {
    list.push_back(fmt::format(
        "one rebuild can lose several stripes: the probability of a loss in {:g} years is {} if "
        "they count as one event, and {} if every stripe counts",
        row.inputs.mission_years, probability_text(mission.any_clustered),
        probability_text(mission.any)));
  }
  if (row.inputs.scrub_days == 0 && row.inputs.latent_errors_per_tb_year > 0)
    list.emplace_back("without scrubbing, latent errors accumulate for the whole mission");
}

void warn_of_sampling(std::vector<std::string>& list, const DurabilityReport& report,
                      const DurabilityRow& row) {
  const durability::Sampled& sampled = row.sampled;
  if (report.request.is_comparison || sampled.cycles == 0) return;
  if (sampled.high - sampled.low > 0.2 * sampled.losses_per_year)
    list.emplace_back("the sampled interval is wide; raise --cycles");
  // Three intervals: happens by chance once in ten million runs.
  const double middle = (sampled.high + sampled.low) / 2;
  if (std::abs(row.chain_losses - middle) > 3 * (sampled.high - middle) + 1e-9 * middle) {
    list.emplace_back(
        "the sampled value and the chain differ by more than chance; raise --cycles, and report a "
        "bug if they still differ");
  }
}

}  // namespace

std::vector<std::string> warnings_of(const DurabilityReport& report, const DurabilityRow& row) {
  std::vector<std::string> list = row.notes;
  warn_of_devices(list, row);
  warn_of_reading(list, row);
  warn_of_sampling(list, report, row);
  if (row.inputs.shocks_per_year == 0 && row.inputs.batch_factor == 1) {
    list.emplace_back(
        "shared causes (power, racks, firmware, batches) are not counted; set --shocks-per-year or "
        "--batch-factor");
  }
  return list;
}

std::string survives_text(const durability::Scheme& scheme) {
  if (scheme.parity_shards == 0) return "no loss";
  std::string out = fmt::format("any {}", scheme.sure_losses());
  for (unsigned losses = scheme.sure_losses() + 1; losses <= scheme.parity_shards; ++losses)
    out += fmt::format(", {:.3g} % of {}", 100 * (1 - scheme.dead_fraction(losses)), losses);
  return out;
}

std::string nines_text(double loss_per_year) {
  if (loss_per_year < believable) return "11 nines or more, device model only";
  return fmt::format("{:.1f} nines", -std::log10(loss_per_year));
}

}  // namespace calpe::tools
