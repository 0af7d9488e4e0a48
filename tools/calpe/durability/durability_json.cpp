// SPDX-License-Identifier: Apache-2.0
// `calpe durability --json`: stable keys and raw values; null if nothing is ever lost.
#include <cmath>
#include <fmt/format.h>

#include "calpe/durability/durability_report.hpp"
#include "durability/published.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json inputs_json(const DurabilityRow& row) {
  const durability::Inputs& in = row.inputs;
  return {{"model", in.model == durability::Model::chain ? "chain" : "window"},
          {"devices", in.devices},
          {"pool_devices", in.pool_devices},
          {"capacity_bytes", in.capacity_bytes},
          {"fill", in.fill},
          {"failures_per_year", in.failures_per_hour() * durability::hours_per_year},
          {"weibull_shape", in.life.shape},
          {"weibull_scale_hours", finite(in.life.scale_hours)},
          {"read_errors_per_bit", in.read_errors_per_bit},
          {"latent_errors_per_tb_year", in.latent_errors_per_tb_year},
          {"scrub_days", in.scrub_days},
          {"shard_bytes", in.shard_bytes},
          {"read_bytes_per_s", in.read_bytes_per_s},
          {"write_bytes_per_s", in.write_bytes_per_s},
          {"rebuild_share", in.rebuild_share},
          {"network_bytes_per_s", or_null(in.network_bytes_per_s)},
          {"decode_bytes_per_s", or_null(in.decode_bytes_per_s)},
          {"detect_hours", in.detect_hours},
          {"replace_hours", in.replace_hours},
          {"repair_hours", or_null(in.repair_hours)},
          {"serial_repair", in.is_repair_serial},
          {"shocks_per_year", in.shocks_per_year},
          {"shock_hit", in.shock_hit},
          {"batch_factor", in.batch_factor},
          {"mission_years", in.mission_years}};
}

Json probability_json(const durability::LossProbability& loss) {
  return {{"device", loss.device},
          {"read_error", loss.read_error},
          {"correlated", loss.correlated},
          {"any", loss.any},
          {"any_clustered", loss.any_clustered}};
}

Json code_json(const durability::Scheme& scheme) {
  Json patterns = Json::array();
  for (unsigned losses = 1; losses <= scheme.parity_shards; ++losses)
    patterns.push_back({{"losses", losses}, {"survived", 1 - scheme.dead_fraction(losses)}});
  return {{"name", scheme.name},
          {"data_shards", scheme.data_shards},
          {"parity_shards", scheme.parity_shards},
          {"overhead", scheme.overhead()},
          {"survives_any", scheme.sure_losses()},
          {"patterns", patterns},
          {"reads_for_one_loss", scheme.single_reads}};
}

Json rebuild_json(const durability::RebuildTime& time) {
  return {{"hours", time.hours()},
          {"waiting_hours", time.waiting_hours},
          {"transfer_hours", time.transfer_hours},
          {"bottleneck", name_of(time.bottleneck)}};
}

Json traffic_json(const DurabilityReport& report, const DurabilityRow& row) {
  const double per_day = row.traffic.bytes_per_day();
  const double nodes = report.request.nodes;
  return {{"code", row.scheme.name},
          {"failures_per_day", row.traffic.failures_per_day},
          {"read_bytes_per_day", row.traffic.read_bytes_per_day},
          {"written_bytes_per_day", row.traffic.written_bytes_per_day},
          {"bytes_per_s_and_node", nodes == 0 ? Json(nullptr) : Json(per_day / 86400 / nodes)}};
}

void add_extras(Json& json, const DurabilityReport& report, const DurabilityRow& row) {
  json["sampled"] = {{"losses_per_year", row.sampled.losses_per_year},
                     {"low", row.sampled.low},
                     {"high", row.sampled.high},
                     {"chain", row.chain_losses},
                     {"cycles", row.sampled.cycles},
                     {"seed", report.request.seed}};
  json["missions"] = nullptr;
  if (row.missions) {
    json["missions"] = {{"missions", row.missions->missions},
                        {"device", row.missions->device},
                        {"read_error", row.missions->read_error},
                        {"correlated", row.missions->correlated},
                        {"probability", row.missions->probability},
                        {"low", row.missions->low},
                        {"high", row.missions->high},
                        {"seed", report.request.seed}};
  }
  for (const durability::Sensitivity& each : row.sensitivities) {
    json["sensitivity"].push_back({{"change", each.change},
                                   {"year", probability_json(each.year)},
                                   {"nines", finite(each.nines)}});
  }
  json["target_nines"] = report.request.target_nines;
  json["smallest"] = row.smallest ? code_json(*row.smallest) : Json(nullptr);
}

Json row_json(const DurabilityReport& report, const DurabilityRow& row) {
  const durability::Estimate& e = row.estimate;
  Json json = {{"code", code_json(row.scheme)},
               {"inputs", inputs_json(row)},
               {"decode_origin", row.decode_origin},
               {"rebuild", rebuild_json(e.rebuild)},
               {"groups", e.groups},
               {"usable_bytes", e.usable_bytes},
               {"device_losses_per_year", e.device_losses},
               {"log10_device_losses_per_year", finite(e.log10_device_losses)},
               {"lost_stripes_per_year", e.lost_stripes},
               {"read_error_losses_per_year", e.read_error_losses},
               {"correlated_losses_per_year", e.correlated_losses},
               {"year", probability_json(e.year)},
               {"mission", probability_json(e.mission)},
               {"nines", finite(e.nines)},
               {"durability", nines_text(e.year.any)},
               {"nomdl", e.nomdl},
               {"lost_bytes", e.lost_bytes},
               {"full_read_survives", e.full_read}};
  if (!report.request.is_comparison) add_extras(json, report, row);
  json["repair_traffic"] = traffic_json(report, row);
  if (report.counterpart)
    json["repair_traffic_of_other"] = traffic_json(report, *report.counterpart);
  if (report.request.has_mttdl) json["mttdl_years"] = finite(1 / e.device_losses);
  json["warnings"] = warnings_of(report, row);
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const DurabilityReport& report) {
  Json rows = Json::array();
  for (const DurabilityRow& row : report.rows)
    rows.push_back(row_json(report, row));
  return {{"failures", report.request.failures}, {"rows", rows}, {"plots", report.plots}};
}

void print_published(bool as_json) {
  Json list = Json::array();
  for (const durability::PublishedFigure& figure : durability::published_figures()) {
    list.push_back({{"what", figure.what},
                    {"published", figure.published},
                    {"computed", figure.computed},
                    {"unit", figure.unit},
                    {"confirmed", figure.is_confirmed},
                    {"standing", figure.standing}});
    if (as_json) continue;
    fmt::print("{}\n  published {}, computed {:.4g}{}{}\n  {}\n", figure.what, figure.published,
               figure.computed, figure.unit.empty() ? "" : " ", figure.unit, figure.standing);
  }
  if (as_json) fmt::print("{}\n", list.dump(2));
}

}  // namespace calpe::tools
