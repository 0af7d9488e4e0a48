// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/report_json.hpp"

#include <algorithm>
#include <cmath>

namespace calpe::bench {

namespace {

// Writes a rate with its bytes and seconds, so that readers can check it: "roof_gb_per_s",
// "roof_bytes" and "roof_seconds".
void add_rate(Json& json, const std::string& prefix, const Figure& figure,
              const std::string& suffix = "") {
  json[prefix + "gb_per_s" + suffix] = rounded(figure.best);
  json[prefix + "seconds" + suffix] = rounded(figure.timing.best);
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
  limits["bytes"] = row.limits.read.timing.bytes;
  limits["memcpy_bytes"] = row.limits.copy.timing.bytes;
  add_rate(limits, "memcpy_", row.limits.copy);
  add_rate(limits, "read_", row.limits.read);
  add_rate(limits, "write_", row.limits.write);
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
  if (is_plan) {
    row[speed] = rounded(peer->figure.median);
  } else {
    add_rate(row, "", peer->figure, "_" + name);
    row[speed + "_median"] = rounded(peer->figure.median);
    row["seconds_" + name + "_median"] = rounded(peer->figure.timing.median);
  }
  row[ratio] = rounded(peer->ratio.best);
  row[ratio + "_median"] = rounded(peer->ratio.median);
  row[ratio + "_p10"] = rounded(peer->ratio.p10);
  row[ratio + "_p90"] = rounded(peer->ratio.p90);
  row["method_" + name] = peer->method;
  if (is_plan) return;
  Json& methods = row["methods_" + name] = Json::object();
  Json& seconds = row["method_seconds_" + name] = Json::object();
  for (const MethodFigure& each : peer->methods) {
    methods[each.method] = rounded(each.figure.best);
    seconds[each.method] = rounded(each.figure.timing.best);
  }
}

void add_conditions(Json& row, const Conditions& conditions) {
  row["condition"] = conditions.is_cold ? "cold" : "hot";
  row["layout"] = name_of(conditions.layout);
  row["stores"] = name_of(conditions.stores);
  row["threads"] = conditions.threads;
  row["pool_threads"] = conditions.pool_threads;
}

// Scaling of Calpe and of the roof with threads; the roof has no pool.
void add_scaling(Json& json, const Row& row) {
  const Alone& alone = *row.alone;
  const double scaling = row.figure.best / alone.figure.best;
  json["bytes_alone"] = alone.figure.timing.bytes;
  add_rate(json, "", alone.figure, "_alone");
  json["scaling"] = rounded(scaling);
  if (alone.roof.best == 0) return;
  const double roof_scaling = row.roof().best / alone.roof.best;
  json["roof_bytes_alone"] = alone.roof.timing.bytes;
  add_rate(json, "roof_", alone.roof, "_alone");
  json["roof_scaling"] = rounded(roof_scaling);
  json["scaling_over_roof"] = rounded(scaling / roof_scaling);
}

// Describes `bytes`: "10 data shards x 65536 bytes".
std::string counted_text(const Report& report, const Row& row) {
  std::string text = std::to_string(row.shape.data_shards) + " data shards x ";
  if (is_update(row.operation)) text = "the changed shard's ";
  text += std::to_string(row.shard_bytes) + " bytes";
  if (row.operation == Operation::batch) text += " x " + std::to_string(row.stripes) + " stripes";
  if (report.conditions.threads > 1)
    text += " x " + std::to_string(report.conditions.threads) + " threads";
  return text;
}

void add_timing(Json& json, const Report& report, const Row& row) {
  const Timing& timing = row.figure.timing;
  json["bytes"] = timing.bytes;
  json["bytes_counted"] = counted_text(report, row);
  json["seconds"] = rounded(timing.best);
  json["seconds_median"] = rounded(timing.median);
  json["seconds_p10"] = rounded(timing.p10);
  json["seconds_p90"] = rounded(timing.p90);
}

}  // namespace

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
    add_timing(json, report, row);
  }
  for (std::size_t i = 0; i < row.peers.size(); ++i)
    add_peer(json, report.peers[i].name, row.peers[i], is_plan);
  if (is_plan) return json;
  json["roof_bytes"] = row.roof().timing.bytes;
  add_rate(json, "roof_", row.roof());
  json["fraction_of_roof"] = rounded(row.figure.best / row.roof().best);
  add_rate(json, "roof_plain_", row.roof_plain);
  json["fraction_of_roof_plain"] = rounded(row.figure.best / row.roof_plain.best);
  add_rate(json, "roof_nt_", row.roof_nt);
  json["fraction_of_roof_nt"] = rounded(row.figure.best / row.roof_nt.best);
  if (row.alone) add_scaling(json, row);
  json["memcpy_bytes"] = row.limits.copy.timing.bytes;
  add_rate(json, "memcpy_", row.limits.copy);
  return json;
}

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 4 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json to_json(const Report& report) {
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
    // Limits are measured once per cell, with the first operation.
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
  return json;
}

namespace {

// CPU models and library paths are untrusted text; invalid UTF-8 must not make the report fail.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void append_lines(std::string& out, const Json& json, const std::string& margin) {
  const bool is_list = json.is_array() && !json.empty() && json.front().is_structured();
  const bool has_list =
      json.is_object() &&
      std::any_of(json.begin(), json.end(), [](const Json& each) { return each.is_structured(); });
  // Objects that contain only values go on one line.
  const bool is_row = json.is_object() && json.contains("operation");
  if (is_row || (!is_list && !has_list)) {
    out += dump(json, -1);
    return;
  }
  out += is_list ? "[" : "{";
  const std::string inner = margin + "  ";
  const char* separator = "\n";
  for (const auto& item : json.items()) {
    out += separator;
    out += inner;
    if (!is_list) out += dump(Json(item.key()), -1) + ": ";
    append_lines(out, item.value(), inner);
    separator = ",\n";
  }
  out += "\n";
  out += margin;
  out += is_list ? "]" : "}";
}

}  // namespace

std::string json_text(const Json& json) {
  std::string out;
  append_lines(out, json, "");
  return out + "\n";
}

}  // namespace calpe::bench
