// SPDX-License-Identifier: Apache-2.0
// Command line of P. Sobe's generator, "Parallel coding for storage systems" (2012), section 4:
//   cauchyrs -k=5 -m=2 --ocl_encoder --ocl_file=crs5+2.cl --ocl_unit_len=2048
//     --ocl_encstyle=iterative
#pragma once
#include <span>

namespace calpe::tools {

// Takes the arguments without the program name. Returns the exit code, as `calpe equations` does.
int run_cauchyrs(std::span<char* const> arguments);

}  // namespace calpe::tools
