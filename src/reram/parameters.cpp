// SPDX-License-Identifier: Apache-2.0
#include "reram/parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/settings_file.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::reram {

namespace {

constexpr std::array origins = {Origin::paper, Origin::nvsim, Origin::fit, Origin::user};

// Allowed values.
struct Bounds {
  double low = 0;
  double high = 0;
  double step = 0;  // values are multiples of it; 0: any number
  bool is_zero_too = false;
  bool is_low_excluded = false;

  bool hold(double value) const {
    if (is_zero_too && value == 0) return true;
    const bool is_high_enough = is_low_excluded ? value > low : value >= low;
    return is_high_enough && value <= high && (step == 0 || std::fmod(value, step) == 0);
  }
};

std::string text_of(const Bounds& bounds) {
  const std::string kind = bounds.step == 0   ? "a number"
                           : bounds.step == 1 ? "a whole number"
                                              : "a multiple of " + number_text(bounds.step);
  return text(bounds.is_zero_too ? "0 or " : "", kind,
              bounds.is_low_excluded ? " above " : " from ", number_text(bounds.low),
              bounds.is_low_excluded ? " up to " : " to ", number_text(bounds.high));
}

constexpr Bounds count_to(double high) {
  return {.low = 1, .high = high, .step = 1};
}
constexpr Bounds number_to(double high) {
  return {.low = 0, .high = high};
}
constexpr double ns_max = 1e6;
constexpr double exact_max = 9007199254740992;  // 2^53: integers up to it are exact
// Maximum number of simulated cells; with variation, each takes 4 bytes.
constexpr double cells_max = 1 << 30;

using Member = Parameter Parameters::*;
using Optional = std::optional<Parameter> Parameters::*;

struct Key {
  std::string_view name;
  Member member;  // null: an optional parameter
  Bounds bounds;
  std::string_view comment;
  bool is_needed = false;
  Optional optional = nullptr;
};

using P = Parameters;
constexpr std::array keys = {
    Key{"banks", &P::banks, count_to(4096), "banks per chip"},
    Key{"subarrays", &P::subarrays, count_to(4096), "crossbars per bank"},
    Key{"rows", &P::rows, {2, 4096, 1}, "word-lines per crossbar"},
    Key{"columns", &P::columns, {64, 4096, 64}, "bit-lines per crossbar"},
    Key{"packet_bytes",
        &P::packet_bytes,
        {8, 1 << 20, 8},
        "shards are cut into packets of this size"},
    Key{"adc_bits", &P::adc_bits, count_to(16), "bits of a converter"},
    Key{"read_ns", &P::read_ns, {0.001, ns_max}, "time of one conversion", true},
    Key{"column_mux", &P::column_mux, count_to(4096), "bit-lines that share a converter"},
    Key{"load_ns_per_byte", &P::load_ns_per_byte, number_to(ns_max), "time to load inputs", true},
    Key{"write_word_ns", &P::write_word_ns, number_to(ns_max), "time to write one word", true},
    Key{"write_word_bits", &P::write_word_bits, count_to(4096), "cells written together"},
    Key{"combine_ns", &P::combine_ns, number_to(ns_max), "time to XOR two partial results"},
    Key{"mode_switch_ns", &P::mode_switch_ns, number_to(ns_max),
        "time between storage and compute"},
    Key{"bus_gb_per_s", &P::bus_gb_per_s, {0.001, 1e6, 0, true}, "in each direction; 0: no limit"},
    Key{"queue_depth", &P::queue_depth, count_to(1e6), "blocks in flight"},
    Key{"read_word_pj", nullptr, number_to(1e9), "energy to read one word", false,
        &P::read_word_pj},
    Key{"write_word_pj", nullptr, number_to(1e9), "energy to write one word", false,
        &P::write_word_pj},
    Key{"endurance", &P::endurance, count_to(exact_max), "writes that a row survives"},
    Key{"variation", &P::variation, number_to(1), "relative deviation of a cell's conductance"},
    Key{"on_off_ratio",
        &P::on_off_ratio,
        {1, 1e12, 0, true, true},
        "conductance of a 1 over that of a 0; 0: infinite"},
    Key{"stuck_at_0", &P::stuck_at_0, number_to(1), "fraction of all cells"},
    Key{"stuck_at_1", &P::stuck_at_1, number_to(1), "fraction of all cells"},
    Key{"seed", &P::seed, {0, exact_max, 1}, "seed of variation and stuck cells"},
};

std::string known_keys() {
  std::string names;
  for (const Key& key : keys)
    names += text(names.empty() ? "" : ", ", key.name);
  return names;
}

std::string known_origins() {
  std::string names;
  for (const Origin origin : origins)
    names += text(names.empty() ? "" : ", ", name_of(origin));
  return names;
}

const Key* find_key(std::string_view name) {
  const auto* const found =
      std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : found;
}

// Errors begin with `place`.
Status set(Parameters& parameters, const Key& key, std::string_view value, Origin origin,
           std::string_view place) {
  const std::optional<double> number = parse_number(value);
  if (!number || !key.bounds.hold(*number)) {
    return invalid(place, key.name, " is \"", value, "\"; expected ", text_of(key.bounds));
  }
  if (key.member != nullptr) {
    parameters.*key.member = {*number, origin};
  } else {
    parameters.*key.optional = Parameter{*number, origin};
  }
  return Done{};
}

// `value` is "36.3 fit".
Status set_with_origin(Parameters& parameters, const Key& key, std::string_view value,
                       std::string_view place) {
  const std::size_t blank = value.find_first_of(" \t");
  if (blank == std::string_view::npos) {
    return invalid(place, key.name, " is \"", value, "\"; expected a value and its origin, one of ",
                   known_origins());
  }
  const std::string_view word = trimmed(value.substr(blank));
  const auto* const origin = std::find_if(origins.begin(), origins.end(),
                                          [&](Origin known) { return name_of(known) == word; });
  if (origin == origins.end()) {
    return invalid(place, "the origin of ", key.name, " is \"", word, "\"; expected one of ",
                   known_origins());
  }
  return set(parameters, key, value.substr(0, blank), *origin, place);
}

// Checks combinations of values.
Status check_together(const Parameters& parameters, std::string_view place) {
  const double stuck = parameters.stuck_at_0.value + parameters.stuck_at_1.value;
  if (stuck > 1) {
    return invalid(place, "stuck_at_0 + stuck_at_1 is ", number_text(stuck),
                   "; expected at most 1: fractions of all cells");
  }
  const double cells = parameters.banks.value * parameters.subarrays.value * parameters.rows.value *
                       parameters.columns.value;
  if (cells > cells_max) {
    return invalid(place, "banks * subarrays * rows * columns is ", number_text(cells),
                   "; expected at most ", number_text(cells_max), " cells");
  }
  return Done{};
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

std::string_view name_of(Origin origin) noexcept {
  switch (origin) {
    case Origin::paper:
      return "paper";
    case Origin::nvsim:
      return "nvsim";
    case Origin::fit:
      return "fit";
    case Origin::user:
      break;
  }
  return "user";
}

Result<Parameters> parse_parameters(std::string_view content, std::string_view path) {
  CALPE_TRY(const auto settings, split_settings(content, path));
  Parameters parameters;
  for (const Setting& setting : settings) {
    const std::string place = place_of(setting, path);
    if (setting.key == "name") {
      parameters.name = setting.value;
      continue;
    }
    const Key* const key = find_key(setting.key);
    if (key == nullptr) {
      return invalid(place, "the key is \"", setting.key, "\"; expected one of name, ",
                     known_keys());
    }
    CALPE_CHECK(set_with_origin(parameters, *key, setting.value, place));
  }
  for (const Key& key : keys) {
    const bool is_given = std::any_of(settings.begin(), settings.end(),
                                      [&](const Setting& given) { return given.key == key.name; });
    if (key.is_needed && !is_given) {
      return invalid(path, ": no ", key.name, "; expected ", key.name, " = NUMBER ORIGIN");
    }
  }
  CALPE_CHECK(check_together(parameters, text(path, ": ")));
  return parameters;
}

Result<Parameters> read_parameters_file(const std::string& path) {
  CALPE_TRY(const std::string content, read_settings(path, "parameters of a ReRAM"));
  return parse_parameters(content, path);
}

std::string to_text(const Parameters& parameters) {
  constexpr std::size_t value_width = 10;
  constexpr std::size_t origin_width = 6;
  std::size_t name_width = 0;
  for (const Key& key : keys)
    name_width = std::max(name_width, key.name.size());
  std::string out;
  if (!parameters.name.empty()) {
    out += text(padded("name", name_width), " = ", parameters.name, "\n");
  }
  for (const Key& key : keys) {
    const std::optional<Parameter> parameter =
        key.member != nullptr ? parameters.*key.member : parameters.*key.optional;
    if (!parameter) continue;
    out += text(padded(std::string(key.name), name_width), " = ",
                padded(number_text(parameter->value), value_width), " ",
                padded(std::string(name_of(parameter->origin)), origin_width), "# ", key.comment,
                "\n");
  }
  return out;
}

Status set_parameter(Parameters& parameters, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return invalid("the parameter is \"", assignment, "\"; expected key=value");
  }
  const std::string_view name = trimmed(assignment.substr(0, equals));
  const Key* const key = find_key(name);
  if (key == nullptr) {
    return invalid("the parameter's key is \"", name, "\"; expected one of ", known_keys());
  }
  Parameters changed = parameters;
  CALPE_CHECK(set(changed, *key, trimmed(assignment.substr(equals + 1)), Origin::user, ""));
  CALPE_CHECK(check_together(changed, ""));
  parameters = std::move(changed);
  return Done{};
}

}  // namespace calpe::reram
