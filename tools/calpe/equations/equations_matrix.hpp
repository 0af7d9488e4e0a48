// SPDX-License-Identifier: Apache-2.0
// Chooses matrices with the fewest XORs: from the built-in table, a remembered search, or a new
// one.
#pragma once
#include <string>

#include <calpe/result.hpp>

#include "opt/found_matrix.hpp"
#include "opt/matrix_search.hpp"

namespace calpe::tools {

struct ChosenMatrix {
  opt::FoundMatrix found;
  std::string origin;    // "known", "remembered" or "searched"
  std::string not_kept;  // why a search could not be saved; empty: saved, or no search was made
};

// Looks in the table only. Fails with invalid_argument and lists the shapes it has.
Result<ChosenMatrix> matrix_of_table(const opt::MatrixSpec& spec);

// Returns the better of the table's matrix and the search's. Saves searches in matrices.txt in the
// cache directory, and does not repeat a search with the same budget and seed.
Result<ChosenMatrix> fewest_xors_matrix(const opt::MatrixSpec& spec, opt::Budget budget,
                                        std::uint64_t seed);

}  // namespace calpe::tools
