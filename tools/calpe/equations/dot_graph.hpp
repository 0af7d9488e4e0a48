// SPDX-License-Identifier: Apache-2.0
// Draws a program as a Graphviz graph.
#pragma once
#include <span>
#include <string>

#include <calpe/code_spec.hpp>

#include "ir/program.hpp"

namespace calpe::tools {

struct DotLabels {
  std::string title;
  std::span<const ShardIndex> reads;   // shards of the inputs, in order
  std::span<const ShardIndex> writes;  // shards of the outputs, in order
};

// Left to right: shards read, temporaries, shards written, with an arrow from each operand. The
// tooltip of a temporary gives its number of readers.
std::string dot_graph(const ir::Program& program, const DotLabels& labels);

}  // namespace calpe::tools
