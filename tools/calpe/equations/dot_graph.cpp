// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/dot_graph.hpp"

#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace calpe::tools {

namespace {

std::string node(const ir::Program& program, ir::Value v) {
  const ir::Value units = program.inputs() + program.outputs();
  return v < units ? fmt::format("u{}", v) : fmt::format("t{}", v - units);
}

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

struct Side {
  const char* name;
  const char* style;
  ir::Value first;
  std::span<const ShardIndex> shards;
};

void append_shards(std::string& out, const ir::Program& program, const Side& side) {
  for (std::size_t s = 0; s < side.shards.size(); ++s) {
    fmt::format_to(std::back_inserter(out),
                   "  subgraph cluster_{}_{} {{\n    label=\"shard {}\"; node [{}];\n   ",
                   side.name, s, side.shards[s], side.style);
    for (std::uint32_t b = 0; b < program.unit_count(); ++b) {
      const auto value = static_cast<ir::Value>(side.first + s * program.unit_count() + b);
      fmt::format_to(std::back_inserter(out), " {};", node(program, value));
    }
    out += "\n  }\n";
  }
}

}  // namespace

std::string dot_graph(const ir::Program& program, const DotLabels& labels) {
  std::vector<std::size_t> readers(program.values());
  for (const ir::Term& term : program.terms())
    ++readers[term.value];
  std::string out = fmt::format(
      "digraph equations {{\n  label=\"{}\";\n  rankdir=LR; ranksep=2; node "
      "[fontname=monospace];\n",
      quoted(labels.title));
  append_shards(out, program, {"read", "shape=box", 0, labels.reads});
  append_shards(out, program,
                {"written", "shape=box, style=filled, fillcolor=lightgrey", program.output(0),
                 labels.writes});
  for (std::uint32_t t = 0; t < program.temporaries(); ++t) {
    const ir::Value value = program.inputs() + program.outputs() + t;
    fmt::format_to(std::back_inserter(out), "  {} [tooltip=\"read {} times\"];\n",
                   node(program, value), readers[value]);
  }
  for (const ir::Instruction& instruction : program.instructions()) {
    for (const ir::Term& term : program.terms(instruction)) {
      fmt::format_to(std::back_inserter(out), "  {} -> {};\n", node(program, term.value),
                     node(program, instruction.target));
    }
  }
  out += "}\n";
  return out;
}

}  // namespace calpe::tools
