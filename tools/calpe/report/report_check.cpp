// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_check.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

namespace {

constexpr std::string_view rate_word = "gb_per_s";

class Checker {
 public:
  std::vector<std::string> run(const Json& root) {
    visit(root, "run");
    return std::move(problems_);
  }

 private:
  void visit(const Json& json, const std::string& where) {
    if (json.is_object()) {
      if (is_true(json, "predicted")) {
        // Predictions have no bytes and seconds, but they need a formula.
        if (text_of(json, "formula").empty()) say(where, "is a prediction without its formula");
        return;
      }
      check_object(json, where);
    }
    if (!json.is_structured()) return;
    std::size_t index = 0;
    for (const auto& item : json.items()) {
      const Json& value = item.value();
      const std::string part = json.is_array() ? fmt::format("[{}]", index) : "." + item.key();
      const bool is_row = value.is_object() && value.contains("data_shards");
      visit(value, is_row ? fmt::format("{}{} ({})", where, part, name_row(value)) : where + part);
      ++index;
    }
  }

  void check_object(const Json& row, const std::string& where) {
    for (const auto& item : row.items()) {
      const std::string& key = item.key();
      if (key.find(rate_word) != std::string::npos && item.value().is_number())
        check_rate(row, key, where);
      if (key.rfind("methods_", 0) == 0) check_methods(row, key, where);
    }
    if (row.contains("operation") && row.contains("gb_per_s")) {
      check_bytes(row, where);
      check_roofs(row, where);
    }
  }

  void check_rate(const Json& row, const std::string& key, const std::string& where) {
    const std::size_t at = key.find(rate_word);
    const std::string before = key.substr(0, at);
    const std::string after = key.substr(at + rate_word.size());
    const double seconds = number_of(row, before + "seconds" + after);
    const double bytes = bytes_of(row, before, after);
    const double rate = number_of(row, key);
    if (seconds <= 0 || bytes <= 0) {
      say(where, fmt::format("has {} {} without {}seconds{} and bytes to check it", key, rate,
                             before, after));
      return;
    }
    check_equal(where, key, rate, bytes / seconds / 1e9);
  }

  // Looks up "bytes" under the full name, then under shorter ones.
  static double bytes_of(const Json& row, const std::string& before, const std::string& after) {
    const std::string roof = before.rfind("roof_", 0) == 0 ? "roof_" : "";
    for (const std::string& name :
         {before + "bytes" + after, before + "bytes", roof + "bytes" + after, roof + "bytes",
          "bytes" + after, std::string("bytes")}) {
      if (row.contains(name)) return number_of(row, name);
    }
    return 0;
  }

  void check_methods(const Json& row, const std::string& key, const std::string& where) {
    const std::string peer = key.substr(std::string_view("methods_").size());
    const std::string seconds_key = "method_seconds_" + peer;
    for (const auto& item : row.at(key).items()) {
      const double seconds =
          row.contains(seconds_key) ? number_of(row.at(seconds_key), item.key()) : 0;
      if (seconds <= 0) {
        say(where, fmt::format("has a rate of {} {} without {}", peer, item.key(), seconds_key));
        continue;
      }
      check_equal(where, peer + " " + item.key(), number_of(row.at(key), item.key()),
                  number_of(row, "bytes") / seconds / 1e9);
    }
  }

  void check_equal(const std::string& where, const std::string& key, double rate, double expected) {
    if (std::abs(rate - expected) <= rate_tolerance * std::abs(expected)) return;
    say(where,
        fmt::format("has {} {}, but its bytes over its seconds are {:.5g}", key, rate, expected));
  }

  void check_bytes(const Json& row, const std::string& where) {
    const double expected = bytes_counted(row);
    const double bytes = number_of(row, "bytes");
    if (expected > 0 && bytes != expected)
      say(where, fmt::format("counts {} bytes; expected {} from its shape", bytes, expected));
  }

  void check_roofs(const Json& row, const std::string& where) {
    // The roof is measured on one thread; n pool threads can reach at most n times its rate.
    const double pool = std::max(1.0, number_of(row, "pool_threads"));
    const double roof = number_of(row, "roof_gb_per_s");
    const double roof_alone = number_of(row, "roof_gb_per_s_alone");
    if (roof <= 0) {
      if (row.contains("condition")) say(where, "has no memory limit (roof_gb_per_s)");
      return;
    }
    for (const auto& item : row.items()) {
      const std::string& key = item.key();
      if (key.rfind(rate_word, 0) != 0 || !item.value().is_number()) continue;
      const bool is_alone = key == "gb_per_s_alone";
      const double most = is_alone ? (roof_alone > 0 ? roof_alone : roof) : roof * pool;
      const double rate = item.value().get<double>();
      if (rate <= roof_margin * most) continue;
      say(where, fmt::format("has {} {}, more than {:.0f} % above the memory limit of {}", key,
                             rate, 100 * (roof_margin - 1), most));
    }
  }

  void say(const std::string& where, const std::string& what) {
    problems_.push_back(where + " " + what);
  }

  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> find_impossible(const Json& run) {
  return Checker().run(run);
}

std::string name_row(const Json& row) {
  std::string name = text_of(row, "operation");
  if (!name.empty()) name += ' ';
  name += shape_of(row);
  if (const double bytes = number_of(row, "shard_bytes"); bytes > 0)
    name += ' ' + length_text(bytes);
  for (const char* key : {"condition", "device", "way", "style", "processing", "coder"}) {
    const std::string word = text_of(row, key);
    if (!word.empty() && word != "hot") name += ", " + word;
  }
  for (const char* key : {"threads", "pool_threads"}) {
    const double count = number_of(row, key);
    if (count > 1) name += fmt::format(", {} {}", key, count);
  }
  return name;
}

}  // namespace calpe::tools
