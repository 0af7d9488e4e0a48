// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

// For comparison: a full run has half a megabyte, lists of 135 entries and 8 levels.
constexpr std::size_t file_bytes_max = std::size_t{64} << 20U;
constexpr std::size_t depth_max = 32;
constexpr std::size_t list_max = 5'000;
constexpr std::size_t text_bytes_max = 2'000;
constexpr std::size_t key_bytes_max = 100;
constexpr double number_max = 1e15;
constexpr double count_max = 1e6;

constexpr std::array<std::string_view, 8> counts = {"data_shards", "parity_shards", "lost_shards",
                                                    "threads",     "pool_threads",  "stripes",
                                                    "word_bits",   "cpu_count"};

// Nesting depth of brackets outside strings.
std::size_t depth_of(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_text) {
      if (c == '\\') ++i;
      is_text = c != '"';
    } else if (c == '"') {
      is_text = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

// Returns the value with printable strings and keys. Fails for values that cannot be drawn.
Result<Json> cleaned(const Json& value, const std::string& where) {
  if (value.is_string())
    return Json(printable(value.get_ref<const std::string&>(), text_bytes_max));
  if (value.is_number()) {
    if (const double number = value.get<double>(); !(std::abs(number) <= number_max)) {
      return invalid(where, fmt::format(" is {}; expected a number up to {}", number, number_max));
    }
    return value;
  }
  if (!value.is_structured()) return value;
  if (value.size() > list_max) {
    return invalid(where, " has ", value.size(), " entries; expected at most ", list_max);
  }
  Json result = value.is_array() ? Json::array() : Json::object();
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      CALPE_TRY(Json part, cleaned(value[i], text(where, "[", i, "]")));
      result.push_back(std::move(part));
    }
    return result;
  }
  for (const auto& item : value.items()) {
    const std::string key = printable(item.key(), key_bytes_max);
    CALPE_TRY(Json part, cleaned(item.value(), text(where, where.empty() ? "" : ".", key)));
    result[key] = std::move(part);
  }
  return result;
}

bool is_list_of_objects(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& part) { return part.is_object(); });
}

Status check_row(const Json& row, const std::string& where) {
  for (const auto& item : row.items()) {
    const Json& value = item.value();
    if (std::find(counts.begin(), counts.end(), item.key()) != counts.end()) {
      const double count = value.is_number() ? value.get<double>() : -1;
      if (count < 0 || count > count_max || std::floor(count) != count) {
        return invalid(where, ".", item.key(), " is ", printable(value.dump(), 40),
                       fmt::format("; expected a whole number up to {}", count_max));
      }
    }
    if (item.key().starts_with("methods_")) {
      const bool is_sound =
          value.is_object() && std::all_of(value.begin(), value.end(),
                                           [](const Json& rate) { return rate.is_number(); });
      if (!is_sound) return invalid(where, ".", item.key(), " is not an object of numbers");
    }
  }
  return Done{};
}

// Checks the row lists of the run itself, of a section, or of a GPU in it.
Status check_rows(const Json& owner, const std::string& where) {
  if (owner.contains("rows")) {
    const Json& rows = owner.at("rows");
    if (!is_list_of_objects(rows)) return invalid(where, "rows is not a list of objects");
    for (std::size_t i = 0; i < rows.size(); ++i)
      CALPE_CHECK(check_row(rows[i], text(where, "rows[", i, "]")));
  }
  if (!owner.contains("gpus")) return Done{};
  const Json& gpus = owner.at("gpus");
  if (!is_list_of_objects(gpus)) return invalid(where, "gpus is not a list of objects");
  for (std::size_t i = 0; i < gpus.size(); ++i)
    CALPE_CHECK(check_rows(gpus[i], text(where, "gpus[", i, "].")));
  return Done{};
}

Status check_structure(const Json& run) {
  if (!run.is_object() || !run.contains("machine") || !run.contains("rows")) {
    return invalid("no machine or no rows; expected a file written by calpe bench -o");
  }
  if (!run.at("machine").is_object()) return invalid("machine is not an object");
  CALPE_CHECK(check_row(run.at("machine"), "machine"));
  if (run.contains("peers") && !is_list_of_objects(run.at("peers"))) {
    return invalid("peers is not a list of objects");
  }
  CALPE_CHECK(check_rows(run, ""));
  if (!run.contains("sections")) return Done{};
  if (!run.at("sections").is_object()) return invalid("sections is not an object");
  for (const auto& item : run.at("sections").items()) {
    const std::string where = text("sections.", item.key());
    if (!item.value().is_object()) return invalid(where, " is not an object");
    CALPE_CHECK(check_rows(item.value(), where + "."));
  }
  return Done{};
}

}  // namespace

Result<Json> parse_run(std::string_view content) {
  if (content.size() > file_bytes_max) {
    return invalid("the file has ", content.size(), " bytes; expected at most ", file_bytes_max);
  }
  if (depth_of(content) > depth_max) {
    return invalid("lists and objects are nested more than ", depth_max, " deep");
  }
  const Json read = Json::parse(content, nullptr, false);
  if (read.is_discarded()) return invalid("not JSON; expected a file written by calpe bench -o");
  CALPE_TRY(Json run, cleaned(read, ""));
  CALPE_CHECK(check_structure(run));
  return run;
}

}  // namespace calpe::tools
