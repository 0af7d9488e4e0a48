// SPDX-License-Identifier: Apache-2.0
// Numbers as people write them: "20T", "1Mi", "1.5%", "200M".
#pragma once
#include <string>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe::tools {

// K, M, G, T, P, E are powers of 1000; Ki, Mi, ... are powers of 1024; % divides by 100. Errors
// name `option`.
Result<double> parse_number(std::string_view option, std::string_view text);

std::string bytes_text(double bytes);        // "20 TB"
std::string probability_text(double value);  // "1.3e-05", "50.2 %", "< 1e-11"

}  // namespace calpe::tools
