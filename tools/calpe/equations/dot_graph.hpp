// SPDX-License-Identifier: Apache-2.0
// A program as a drawing, in the language of Graphviz.
#pragma once
#include <span>
#include <string>

#include <calpe/code_spec.hpp>

#include "ir/program.hpp"

namespace calpe::tools {

struct DotLabels {
  std::string title;
  std::span<const ShardIndex> reads;   // shard by shard of the inputs
  std::span<const ShardIndex> writes;  // and of the outputs
};

// Left to right: shards that are read, temporaries, shards that are written; an arrow from each
// operand. Temporaries tell how many read them.
std::string dot_graph(const ir::Program& program, const DotLabels& labels);

}  // namespace calpe::tools
