// SPDX-License-Identifier: Apache-2.0
#include "reram/energy.hpp"

namespace calpe::reram {

namespace {

constexpr double joules_per_picojoule = 1e-12;

bool has_source(const std::optional<Parameter>& parameter) {
  return parameter && (parameter->origin == Origin::nvsim || parameter->origin == Origin::user);
}

}  // namespace

std::optional<double> energy_joules(const Parameters& parameters, const Counters& counters) {
  if (!has_source(parameters.read_word_pj) || !has_source(parameters.write_word_pj)) {
    return std::nullopt;
  }
  const double read = static_cast<double>(counters.words_read) * parameters.read_word_pj->value;
  const double write =
      static_cast<double>(counters.words_written) * parameters.write_word_pj->value;
  return (read + write) * joules_per_picojoule;
}

}  // namespace calpe::reram
