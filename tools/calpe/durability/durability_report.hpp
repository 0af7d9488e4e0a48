// SPDX-License-Identifier: Apache-2.0
// Prints the result of `calpe durability` as a table or JSON.
#pragma once
#include <nlohmann/json.hpp>

#include "calpe/durability/durability_run.hpp"

namespace calpe::tools {

// Cases where the model does not hold, and assumptions that the result does not show.
std::vector<std::string> warnings_of(const DurabilityReport& report, const DurabilityRow& row);
// "any 3, 86 % of 4"
std::string survives_text(const durability::Scheme& scheme);
// "9.6 nines", or "11 nines or more, device model only".
std::string nines_text(double loss_per_year);

void print_table(const DurabilityReport& report);
nlohmann::ordered_json to_json(const DurabilityReport& report);

void print_published(bool as_json);

}  // namespace calpe::tools
