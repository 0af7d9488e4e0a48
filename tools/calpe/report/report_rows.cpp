// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_rows.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace calpe::tools {

namespace {

const Json nothing;
const Json no_list = Json::array();

const Json& at(const Json& object, std::string_view key) {
  if (!object.is_object()) return nothing;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nothing : *found;
}

}  // namespace

double number_of(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_true(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_boolean() && value.get<bool>();
}

const Json& object_of(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_object() ? value : nothing;
}

const Json& list_of(const Json& object, std::string_view key) {
  const Json& value = at(object, key);
  return value.is_array() ? value : no_list;
}

const Json& section_of(const Json& run, std::string_view name) {
  return at(at(run, "sections"), name);
}

const Json& rows_of(const Json& run, std::string_view section) {
  return list_of(section.empty() ? run : section_of(run, section), "rows");
}

std::string shape_of(const Json& row) {
  if (!row.contains("data_shards")) return {};
  return fmt::format("{}+{}", number_of(row, "data_shards"), number_of(row, "parity_shards"));
}

std::string length_text(double bytes) {
  constexpr double kib = 1024;
  if (bytes >= kib * kib && std::fmod(bytes, kib * kib) == 0)
    return fmt::format("{} MiB", bytes / kib / kib);
  if (bytes >= kib && std::fmod(bytes, kib) == 0) return fmt::format("{} KiB", bytes / kib);
  return fmt::format("{} B", bytes);
}

std::string rate_text(double gb_per_s) {
  if (gb_per_s >= 100) return fmt::format("{:.0f}", gb_per_s);
  return gb_per_s >= 10 ? fmt::format("{:.1f}", gb_per_s) : fmt::format("{:.2f}", gb_per_s);
}

double bytes_counted(const Json& row) {
  const std::string operation = text_of(row, "operation");
  const double shard = number_of(row, "shard_bytes");
  const double threads = std::max(1.0, number_of(row, "threads"));
  if (operation.rfind("update", 0) == 0) return shard * threads;
  const double stripes = operation == "batch" ? std::max(1.0, number_of(row, "stripes")) : 1;
  const double unit = number_of(row, "unit_bytes") * number_of(row, "word_bits");
  // Emitted code splits one stripe over all threads.
  if (shard == 0) return number_of(row, "data_shards") * unit;
  return number_of(row, "data_shards") * shard * stripes * threads;
}

std::vector<std::string> peers_of(const Json& run) {
  std::vector<std::string> names;
  for (const Json& peer : list_of(run, "peers"))
    names.push_back(text_of(peer, "name"));
  return names;
}

std::string peer_title(const Json& run, std::string_view name) {
  for (const Json& peer : list_of(run, "peers")) {
    if (text_of(peer, "name") != name) continue;
    std::string title(name);
    if (name.substr(0, 4) == "isal") title = "ISA-L";
    if (name.substr(0, 8) == "jerasure") title = "Jerasure";
    const std::string version = text_of(peer, "version");
    return version.empty() ? title : title + " " + version;
  }
  return std::string(name);
}

}  // namespace calpe::tools
