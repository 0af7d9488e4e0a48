// SPDX-License-Identifier: Apache-2.0
#include "calpe/durability/durability_bench.hpp"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace calpe::tools {

Result<MeasuredRates> MeasuredRates::read(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return make_error(ErrorCode::io, "cannot read ", path,
                      "; expected a report of calpe bench --json");
  const nlohmann::json report = nlohmann::json::parse(file, nullptr, false);
  const bool has_rows = report.is_object() && report.contains("rows") && report["rows"].is_array();
  MeasuredRates rates;
  for (const nlohmann::json& row : has_rows ? report["rows"] : nlohmann::json::array()) {
    const auto number = [&](const char* key) {
      return row.is_object() && row.contains(key) && row[key].is_number() ? row[key].get<double>()
                                                                          : 0.0;
    };
    const auto word = [&](const char* key) {
      return row.is_object() && row.contains(key) && row[key].is_string()
                 ? row[key].get<std::string>()
                 : std::string();
    };
    const double gb_per_s = number("gb_per_s");
    if (!word("operation").starts_with("decode") || gb_per_s <= 0) continue;
    const Row found = {static_cast<unsigned>(number("data_shards")),
                       static_cast<unsigned>(number("parity_shards")),
                       {}};
    rates.rows_.push_back(found);
    rates.rows_.back().rate = {gb_per_s * 1e9,
                               fmt::format("{:.3g} GB/s, {} of {}+{}, shards of {:.0f} bytes, {}",
                                           gb_per_s, word("operation"), found.data, found.parity,
                                           number("shard_bytes"), word("path"))};
  }
  if (!rates.rows_.empty()) return rates;
  return make_error(ErrorCode::invalid_argument, path,
                    " has no decode rows; expected a report of calpe bench --json");
}

MeasuredRates::Rate MeasuredRates::decode_rate(unsigned data, unsigned parity) const {
  const Row* slowest = nullptr;
  bool is_same = false;
  for (const Row& row : rows_) {
    const bool fits = row.data == data && row.parity == parity;
    const bool is_better = slowest == nullptr || (fits && !is_same) ||
                           (fits == is_same && row.rate.bytes_per_s < slowest->rate.bytes_per_s);
    if (!is_better) continue;
    slowest = &row;
    is_same = fits;
  }
  Rate rate = slowest->rate;
  rate.is_same_code = is_same;
  return rate;
}

}  // namespace calpe::tools
