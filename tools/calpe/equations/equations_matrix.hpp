// SPDX-License-Identifier: Apache-2.0
// Matrices with the fewest XORs: out of the table of known ones, remembered, or searched for now.
#pragma once
#include <string>

#include <calpe/result.hpp>

#include "opt/found_matrix.hpp"
#include "opt/matrix_search.hpp"

namespace calpe::tools {

struct ChosenMatrix {
  opt::FoundMatrix found;
  std::string origin;    // "known", "remembered" or "searched"
  std::string not_kept;  // why a search could not be remembered; empty: it was, or none was made
};

// The table alone; fails with invalid_argument and lists its shapes.
Result<ChosenMatrix> matrix_of_table(const opt::MatrixSpec& spec);

// The better one of the table's and the search's. What is searched is remembered in the file
// matrices.txt of the cache folder and not searched again with the same budget and seed.
Result<ChosenMatrix> fewest_xors_matrix(const opt::MatrixSpec& spec, opt::Budget budget,
                                        std::uint64_t seed);

}  // namespace calpe::tools
