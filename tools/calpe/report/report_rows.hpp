// SPDX-License-Identifier: Apache-2.0
// Reading rows of a run file: what is missing or of another kind is 0 or empty, never an exception.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace calpe::tools {

using Json = nlohmann::ordered_json;

double number_of(const Json& object, std::string_view key);
std::string text_of(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);

// Null when there is none.
const Json& object_of(const Json& object, std::string_view key);
// An empty list when there is none.
const Json& list_of(const Json& object, std::string_view key);
// A section of the run; null when it was not measured at all.
const Json& section_of(const Json& run, std::string_view name);
// Rows of a section, or of the run's own grid for an empty name.
const Json& rows_of(const Json& run, std::string_view section);

std::string shape_of(const Json& row);   // "10+4"
std::string length_text(double bytes);   // "64 KiB"
std::string rate_text(double gb_per_s);  // three digits: "38.2"

// What a row's rate counts, by shape, operation and threads; 0 when the row has no such.
double bytes_counted(const Json& row);

// Names of the peers in their order.
std::vector<std::string> peers_of(const Json& run);
// "ISA-L 2.0.30", for people.
std::string peer_title(const Json& run, std::string_view name);

}  // namespace calpe::tools
