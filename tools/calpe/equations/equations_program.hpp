// SPDX-License-Identifier: Apache-2.0
// From a code, a loss or a text to the program that is asked for, in its style.
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
  std::string what;  // "cauchy 5+2, w=3", or the name of the file
  std::string style;
  std::vector<ShardIndex> reads = {};   // shard r of the inputs is this one of the stripe
  std::vector<ShardIndex> writes = {};  // the same of the outputs
  bool is_decoder = false;
  std::size_t direct_xors = 0;
  std::vector<PassFigures> passes = {};
  double seconds = 0;                       // that the style took
  std::optional<ChosenMatrix> matrix = {};  // --matrix

  std::size_t word_bits() const noexcept { return program.unit_count(); }
};

// Fails with invalid_argument, io, and with unproven or unrecoverable where the answer is no.
Result<Equations> make_equations(const EquationsArguments& arguments);

// A file or, for "-", standard input; fails with io.
Result<std::string> read_text(const std::string& path);

// "data 0, 3 with parity 1", as docs/codes.md and `calpe codes check` name losses.
std::string name_shards(const std::vector<ShardIndex>& shards, std::size_t data_shards);

}  // namespace calpe::tools
