// SPDX-License-Identifier: Apache-2.0
// `calpe reram --json`: stable keys; rates in bytes of input shards per second.
#include "calpe/reram/reram_report.hpp"
#include "reram/energy.hpp"
#include "reram/paper.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json parameters_json(const reram::Parameters& parameters) {
  Json values = Json::object();
  for (const NamedParameter& each : list_parameters(parameters))
    values[each.name] = {{"value", each.value}, {"origin", each.origin}};
  return values;
}

Json mode_json(const ReramRun& run) {
  Json mode = {{"name", mode_of(run)}, {"text", mode_text(run)}};
  if (run.plan.is_xor_mode) {
    mode["ssds"] = run.plan.ssd_count;
    return mode;
  }
  const reram::Mapping& mapping = *run.plan.mapping;
  mode["inputs"] = mapping.inputs();
  mode["outputs"] = mapping.outputs();
  mode["grid"] = {mapping.options.grid.rows, mapping.options.grid.columns};
  mode["copies"] = mapping.groups;
  if (mapping.is_combined()) mode["combine"] = name_of(mapping.options.combine);
  return mode;
}

Json counts_json(const ReramRun& run) {
  const reram::Counters& counters = run.counters;
  const auto activations = static_cast<double>(counters.activations);
  return {{"activations", counters.activations},
          {"activations_per_stripe", activations / static_cast<double>(run.stripes)},
          {"bytes_per_activation", static_cast<double>(run.bytes_read) / activations},
          {"adc_conversions", counters.adc_conversions},
          {"matrix_row_writes", counters.matrix_row_writes},
          {"data_row_writes", counters.data_row_writes},
          {"partial_row_writes", counters.partial_row_writes},
          {"words_written", counters.words_written},
          {"words_read", counters.words_read},
          {"words_loaded", counters.words_loaded},
          {"combined_bits", counters.combined_bits},
          {"mode_switches", counters.mode_switches},
          {"bytes_in", counters.bytes_in},
          {"bytes_out", counters.bytes_out},
          {"largest_sum", counters.largest_sum},
          {"clipped_sums", counters.clipped_sums}};
}

Json wear_json(const ReramReport& report) {
  const std::optional<WearRate> rate = wear_rate(report);
  Json wear = {{"most_written_row", report.run.wear.most},
               {"writes_per_second", nullptr},
               {"seconds_to_endurance", nullptr}};
  if (!rate) return wear;
  wear["writes_per_second"] = rate->writes_per_second;
  wear["seconds_to_endurance"] = rate->seconds_to_endurance;
  return wear;
}

Json errors_json(const ReramReport& report) {
  const ReramErrors& errors = report.run.errors;
  return {{"is_noisy", report.request.parameters.is_noisy()},
          {"bits", errors.bits},
          {"wrong_bits", errors.wrong},
          {"rate", static_cast<double>(errors.wrong) / static_cast<double>(errors.bits)},
          {"closed_form_rate", or_null(errors.closed_form)},
          {"rows_driven", errors.rows_driven},
          {"target_rate", report.request.target_rate},
          {"rows_for_target", errors.rows_for_target}};
}

Json baselines_json(const ReramReport& report) {
  Json list = Json::array();
  for (const Baseline& baseline : report.baselines) {
    list.push_back({{"id", baseline.id},
                    {"name", name_of(baseline)},
                    {"library", baseline.library},
                    {"matrix", baseline.matrix},
                    {"packets", baseline.packets},
                    {"machine", baseline.machine},
                    {"measured", baseline.is_measured},
                    {"bytes_per_s", or_null(baseline.rate)},
                    {"median_bytes_per_s", or_null(baseline.median_rate)},
                    {"speed_up", or_null(speed_up(report.run, baseline))},
                    {"problem", baseline.problem}});
  }
  return list;
}

Json claims_json() {
  Json list = Json::array();
  for (const reram::PaperClaim& claim : reram::paper_claims()) {
    list.push_back({{"what", claim.what},
                    {"figure", claim.figure},
                    {"derivable", claim.is_derivable},
                    {"standing", claim.standing}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json to_json(const ReramReport& report) {
  const ReramRun& run = report.run;
  return {{"preset", report.request.parameters.name},
          {"work", work_text(run)},
          {"code",
           {{"profile", "hybrid"},
            {"layout", "packets"},
            {"data_shards", run.spec.data_shards},
            {"parity_shards", run.spec.parity_shards},
            {"word_bits", run.spec.word_bits},
            {"packet_bytes", run.spec.packet_bytes}}},
          {"reads", run.reads},
          {"writes", run.writes},
          {"mode", mode_json(run)},
          {"stripes", run.stripes},
          {"bytes_read", run.bytes_read},
          {"bytes_written", run.bytes_written},
          {"adc_bits_needed", run.adc_bits_needed},
          {"counts", counts_json(run)},
          {"simulated_seconds", run.simulated_seconds},
          {"bytes_per_s", run.rate},
          {"steady_bytes_per_s", run.steady_rate},
          {"written_bytes_per_s", static_cast<double>(run.bytes_written) / run.simulated_seconds},
          {"wall_seconds", run.wall_seconds},
          {"energy_joules", or_null(run.joules)},
          {"energy", run.joules ? "a lower bound: cells only" : reram::energy_not_modelled},
          {"wear", wear_json(report)},
          {"errors", errors_json(report)},
          {"baselines", baselines_json(report)},
          {"baseline_shard_bytes", baseline_shard_bytes(run.spec)},
          {"warnings", warnings_of(report)},
          {"conclusions", conclusions_of(report)},
          {"paper_claims", claims_json()},
          {"parameters", parameters_json(report.request.parameters)},
          {"plots", report.plots}};
}

}  // namespace calpe::tools
