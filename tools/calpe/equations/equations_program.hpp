// SPDX-License-Identifier: Apache-2.0
// Makes the requested program, in its style, from a code, a loss or a text.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "calpe/equations/equations_arguments.hpp"
#include "calpe/equations/equations_matrix.hpp"
#include "ir/program.hpp"

namespace calpe::tools {

struct PassFigures {
  std::string name;
  std::size_t xors = 0;
  double seconds = 0;
};

struct Equations {
  ir::Program program;
  std::string what;  // "cauchy 5+2, w=3", or the file name
  std::string style;
  std::vector<ShardIndex> reads = {};   // input shard r is this shard of the stripe
  std::vector<ShardIndex> writes = {};  // the same for the outputs
  bool is_decoder = false;
  std::size_t direct_xors = 0;
  std::vector<PassFigures> passes = {};
  double seconds = 0;                       // time spent on the style
  std::optional<ChosenMatrix> matrix = {};  // --matrix

  std::size_t word_bits() const noexcept { return program.unit_count(); }
};

// Fails with invalid_argument or io, and with unproven or unrecoverable if the answer is no.
Result<Equations> make_equations(const EquationsArguments& arguments);

// Reads a file, or standard input for "-". Fails with io.
Result<std::string> read_text(const std::string& path);

// Returns "data 0, 3 with parity 1", as `calpe codes check` names losses.
std::string name_shards(const std::vector<ShardIndex>& shards, std::size_t data_shards);

}  // namespace calpe::tools
