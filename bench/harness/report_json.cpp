// SPDX-License-Identifier: Apache-2.0
// The report for programs. Fields are only ever added: dashboards read them by name.
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/harness/report.hpp"

namespace calpe::bench {

namespace {

using Json = nlohmann::ordered_json;

// Five digits are more than a measurement has.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 4 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json machine_json(const Report& report) {
  const MachineInfo& machine = report.machine;
  Json caches = Json::array();
  for (const CacheInfo& cache : machine.caches)
    caches.push_back({{"level", cache.level}, {"kind", cache.kind}, {"size", cache.size}});
  return {{"cpu", machine.cpu},
          {"cpu_count", machine.cpu_count},
          {"caches", caches},
          {"kernel", machine.kernel},
          {"huge_pages", machine.huge_pages},
          {"load_average", rounded(machine.load_average)},
          {"path", report.path},
          {"compiler", machine.compiler},
          {"calpe_version", machine.calpe_version},
          {"threads", report.conditions.threads},
          {"pool_threads", report.conditions.pool_threads}};
}

Json cell_json(Shape shape, std::size_t shard_bytes) {
  return {{"data_shards", shape.data_shards},
          {"parity_shards", shape.parity_shards},
          {"shard_bytes", shard_bytes}};
}

Json limits_json(const Row& row) {
  Json limits = cell_json(row.shape, row.shard_bytes);
  limits["working_set_bytes"] = row.limits.working_set_bytes;
  limits["memcpy_gb_per_s"] = rounded(row.limits.memcpy_gb_per_s);
  limits["read_gb_per_s"] = rounded(row.limits.read_gb_per_s);
  limits["write_gb_per_s"] = rounded(row.limits.write_gb_per_s);
  return limits;
}

void add_peer(Json& row, const std::string& name, const std::optional<PeerFigure>& peer,
              bool is_plan) {
  const std::string speed = (is_plan ? "plan_us_" : "gb_per_s_") + name;
  const std::string ratio = "ratio_" + name;
  if (!peer) {
    row[speed] = nullptr;
    row[ratio] = nullptr;
    return;
  }
  row[speed] = rounded(is_plan ? peer->figure.median : peer->figure.best);
  row[ratio] = rounded(peer->ratio.best);
  row[ratio + "_median"] = rounded(peer->ratio.median);
  row[ratio + "_p10"] = rounded(peer->ratio.p10);
  row[ratio + "_p90"] = rounded(peer->ratio.p90);
  row["method_" + name] = peer->method;
  if (is_plan) return;
  Json& methods = row["methods_" + name] = Json::object();
  for (const MethodFigure& each : peer->methods)
    methods[each.method] = rounded(each.figure.best);
}

void add_conditions(Json& row, const Conditions& conditions) {
  row["condition"] = conditions.is_cold ? "cold" : "hot";
  row["layout"] = name_of(conditions.layout);
  row["stores"] = name_of(conditions.stores);
  row["threads"] = conditions.threads;
  row["pool_threads"] = conditions.pool_threads;
}

// How more threads scale, ours and the roof's; the roof has no pool.
void add_scaling(Json& json, const Row& row) {
  const double scaling = row.figure.best / row.alone->gb_per_s;
  json["gb_per_s_alone"] = rounded(row.alone->gb_per_s);
  json["scaling"] = rounded(scaling);
  if (row.alone->roof_gb_per_s == 0) return;
  const double roof_scaling = row.roof_gb_per_s() / row.alone->roof_gb_per_s;
  json["roof_gb_per_s_alone"] = rounded(row.alone->roof_gb_per_s);
  json["roof_scaling"] = rounded(roof_scaling);
  json["scaling_over_roof"] = rounded(scaling / roof_scaling);
}

Json row_json(const Report& report, const Row& row) {
  const bool is_plan = row.operation == Operation::plan;
  Json json = cell_json(row.shape, row.shard_bytes);
  json["operation"] = name_of(row.operation);
  json["profile"] = report.profile;
  if (report.word_bits != 0) json["word_bits"] = report.word_bits;
  if (report.packet_bytes != 0) json["packet_bytes"] = report.packet_bytes;
  json["effort"] = name_of(report.effort);
  json["path"] = row.path;
  json["lost_shards"] = row.lost_shards;
  if (!is_plan) {
    add_conditions(json, report.conditions);
    json["stripes"] = row.stripes;
  }
  json["rounds"] = row.rounds;
  json["gb_per_s"] = is_plan ? Json() : Json(rounded(row.figure.best));
  if (is_plan) {
    json["plan_us"] = rounded(row.figure.median);
    json["plan_us_best"] = rounded(row.figure.best);
  } else {
    json["gb_per_s_median"] = rounded(row.figure.median);
  }
  for (std::size_t i = 0; i < row.peers.size(); ++i)
    add_peer(json, report.peers[i].name, row.peers[i], is_plan);
  if (is_plan) return json;
  json["roof_gb_per_s"] = rounded(row.roof_gb_per_s());
  json["fraction_of_roof"] = rounded(row.figure.best / row.roof_gb_per_s());
  json["roof_plain_gb_per_s"] = rounded(row.roof_plain_gb_per_s);
  json["fraction_of_roof_plain"] = rounded(row.figure.best / row.roof_plain_gb_per_s);
  json["roof_nt_gb_per_s"] = rounded(row.roof_nt_gb_per_s);
  json["fraction_of_roof_nt"] = rounded(row.figure.best / row.roof_nt_gb_per_s);
  if (row.alone) add_scaling(json, row);
  json["memcpy_gb_per_s"] = rounded(row.limits.memcpy_gb_per_s);
  return json;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json;
  json["machine"] = machine_json(report);
  json["unit"] =
      "gb_per_s: 1e9 bytes of data per second, data_shards * shard_bytes / time; "
      "for updates shard_bytes / time";
  json["peers"] = Json::array();
  for (const PeerInfo& peer : report.peers) {
    json["peers"].push_back(
        {{"name", peer.name}, {"version", peer.version}, {"library", peer.library}});
  }
  json["limits"] = Json::array();
  json["rows"] = Json::array();
  for (const Row& row : report.rows) {
    // Limits are measured once per cell, with its first operation.
    const Json limits = row.operation == Operation::plan ? Json() : limits_json(row);
    if (!limits.is_null() && (json["limits"].empty() || json["limits"].back() != limits))
      json["limits"].push_back(limits);
    json["rows"].push_back(row_json(report, row));
  }
  json["skipped"] = Json::array();
  for (const SkippedCell& cell : report.skipped) {
    Json skipped = cell_json(cell.shape, cell.shard_bytes);
    skipped["reason"] = cell.reason;
    json["skipped"].push_back(skipped);
  }
  // A CPU model is the only foreign text; bytes that are not UTF-8 must not cost the report.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace calpe::bench
