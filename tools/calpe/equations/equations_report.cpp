// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/equations_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/equations/equations_check.hpp"
#include "calpe/equations/equations_run.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/plan_program.hpp"
#include "ir/text_form.hpp"
#include "ir/verify.hpp"

namespace calpe::tools {

using Json = nlohmann::ordered_json;

struct CheckFindings {
  MdsAnswer mds;
  std::optional<FieldView> view;
  std::string direct;  // equations
};

namespace {

Json rows_of(const gf::Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t r = 0; r < matrix.rows(); ++r)
    rows.push_back(std::vector<unsigned>(matrix.row(r).begin(), matrix.row(r).end()));
  return rows;
}

Json to_json(const CheckFindings& findings) {
  Json json = {{"mds", findings.mds.is_mds},
               {"patterns", findings.mds.patterns},
               {"dead_pattern", findings.mds.dead},
               {"text", findings.mds.text},
               {"direct", findings.direct},
               {"polynomial", nullptr},
               {"coefficients", nullptr}};
  if (findings.view) {
    json["polynomial"] = findings.view->polynomial;
    json["coefficients"] = rows_of(findings.view->coefficients);
  }
  return json;
}

std::vector<emit::Target> targets_to_run(const std::string& emitted) {
  using enum emit::Target;
  if (emitted == "text") return {c, openmp, opencl, cuda, ptx, hip, spirv};
  return {*emit::target_by_name(emitted)};
}

std::string_view name_of(emit::Target target) {
  constexpr std::string_view names[] = {"c", "openmp", "opencl", "cuda", "ptx", "hip", "spirv"};
  return names[static_cast<std::size_t>(target)];
}

// "u0..u2 shard 1, u3..u5 shard 2"
std::string units_of(const std::vector<ShardIndex>& shards, std::size_t first, std::size_t w) {
  std::vector<std::string> names;
  for (const ShardIndex shard : shards) {
    names.push_back(w == 1 ? fmt::format("u{} shard {}", first, shard)
                           : fmt::format("u{}..u{} shard {}", first, first + w - 1, shard));
    first += w;
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

EquationsReport::EquationsReport(const EquationsArguments& arguments, const Equations& equations)
    : arguments_(arguments), equations_(equations), json_(std::make_unique<Json>()) {}
EquationsReport::~EquationsReport() = default;

void EquationsReport::add_stats() {
  const ir::Program& program = equations_.program;
  const ir::Cost cost = ir::cost(program);
  if (arguments_.json) {
    Json& json = *json_;
    json["of"] = equations_.what;
    json["style"] = equations_.style;
    json["word_bits"] = equations_.word_bits();
    json["reads"] = equations_.reads;
    json["writes"] = equations_.writes;
    json["inputs"] = program.inputs();
    json["outputs"] = program.outputs();
    json["temporaries"] = program.temporaries();
    json["equations"] = program.instructions().size();
    json["xors"] = cost.xors;
    json["xors3"] = cost.xors3;
    json["loads"] = cost.loads;
    json["stores"] = cost.stores;
    json["live_values"] = cost.live_values;
    json["direct_xors"] = equations_.direct_xors;
    json["seconds"] = equations_.seconds;
    if (equations_.matrix) {
      json["matrix"] = {{"origin", equations_.matrix->origin},
                        {"line", opt::print(equations_.matrix->found)},
                        {"coefficients", rows_of(equations_.matrix->found.matrix())}};
    }
    json["passes"] = Json::array();
    for (const PassFigures& pass : equations_.passes) {
      json["passes"].push_back(
          {{"name", pass.name}, {"xors", pass.xors}, {"seconds", pass.seconds}});
    }
    return;
  }
  if (!arguments_.stats) return;
  const auto line = [](std::string_view name, std::size_t figure, std::string_view meaning) {
    fmt::print("{:<12} {:>8}  {}\n", name, figure, meaning);
  };
  fmt::print("{}, {}\n", equations_.what, equations_.style);
  line("inputs", program.inputs(), "units read");
  line("outputs", program.outputs(), "units written");
  line("temporaries", program.temporaries(), "units shared");
  line("xors", cost.xors, fmt::format("of two inputs; direct {}", equations_.direct_xors));
  line("xors3", cost.xors3, "where one instruction adds three");
  line("loads", cost.loads, "operands");
  line("stores", cost.stores, "equations");
  line("live_values", cost.live_values, "at once, not counting the inputs");
  if (equations_.seconds > 0)
    fmt::print("{:<12} {:>8.3f}  for the style\n", "seconds", equations_.seconds);
}

void EquationsReport::print_check(const CheckFindings& findings) const {
  const ir::Program& program = equations_.program;
  fmt::print("{}: {} data and {} parity shards of {} units, {} XORs\n", equations_.what,
             program.input_shards(), program.output_shards(), program.unit_count(),
             ir::cost(program).xors);
  fmt::print("{}\n", findings.mds.text);
  fmt::print("computes:\n{}", findings.direct);
  if (program.unit_count() == 1) return;
  if (!findings.view) {
    fmt::print("the {0} x {0} blocks of bits are not multiplications in GF(2^{0})\n",
               program.unit_count());
    return;
  }
  fmt::print("coefficients over GF(2^{}), polynomial {:#x}:\n", program.unit_count(),
             findings.view->polynomial);
  for (std::size_t r = 0; r < findings.view->coefficients.rows(); ++r)
    fmt::print("p{} = {}\n", r, fmt::join(findings.view->coefficients.row(r), " "));
}

Result<bool> EquationsReport::add_check() {
  if (equations_.is_decoder) {
    return invalid("--check works on encoders; it cannot be combined with --lose");
  }
  CheckFindings findings;
  findings.view = field_view(equations_.program);
  CALPE_TRY(findings.mds, prove_mds(equations_.program, findings.view));
  findings.direct = ir::print(ir::direct_program(equations_.program));
  if (arguments_.json) {
    (*json_)["check"] = to_json(findings);
  } else {
    print_check(findings);
  }
  return findings.mds.is_mds;
}

Result<bool> EquationsReport::add_equals() {
  const ir::Program& program = equations_.program;
  CALPE_TRY(const std::string text, read_text(arguments_.equals));
  const auto other = ir::parse(text, {.inputs = program.inputs(),
                                      .outputs = program.outputs(),
                                      .unit_count = program.unit_count()});
  if (!other) return invalid(arguments_.equals, ": ", other.error().message);
  const Status same = ir::verify_map(*other, ir::bit_map(program));
  if (arguments_.json) {
    (*json_)["equals"] = {{"equal", same.has_value()},
                          {"text", same ? "" : same.error().message},
                          {"xors", ir::cost(*other).xors}};
  } else if (same) {
    fmt::print("{} computes the same as {}, for all data: {} XORs and {}\n", arguments_.equals,
               equations_.what, ir::cost(*other).xors, ir::cost(program).xors);
  } else {
    fmt::print("{} does not compute the same as {}: {}\n", arguments_.equals, equations_.what,
               same.error().message);
  }
  return same.has_value();
}

Result<bool> EquationsReport::add_run() {
  const emit::Options options{
      .unit_bytes = arguments_.unit_bytes, .name = arguments_.name, .title = title_of(equations_)};
  bool is_good = true;
  for (const emit::Target target : targets_to_run(arguments_.emit)) {
    const auto outcome = [&] {
      const Progress progress(fmt::format("compiling and running {}", name_of(target)));
      return compile_and_run(equations_.program, target, options, arguments_.seed);
    }();
    is_good = is_good && outcome.kind != RunOutcome::Kind::wrong;
    if (arguments_.json) {
      (*json_)["runs"].push_back({{"target", name_of(target)},
                                  {"outcome", to_string(outcome.kind)},
                                  {"text", outcome.text}});
    } else {
      fmt::print("{:<8} {:<8} {}\n", name_of(target), to_string(outcome.kind), outcome.text);
    }
  }
  return is_good;
}

void EquationsReport::finish() const {
  if (arguments_.json) fmt::print("{}\n", json_->dump(2));
}

std::string title_of(const Equations& equations) {
  if (!equations.is_decoder) {
    return fmt::format("Parameters: k={}, m={}, w={}", equations.reads.size(),
                       equations.writes.size(), equations.word_bits());
  }
  return fmt::format("Decoder of {}: n holds shards {}, r shards {}", equations.what,
                     fmt::join(equations.reads, ", "), fmt::join(equations.writes, ", "));
}

std::string legend_of(const Equations& equations) {
  std::string legend;
  if (equations.matrix) {
    legend = fmt::format("# matrix ({}): {}\n", equations.matrix->origin,
                         opt::print(equations.matrix->found));
    const gf::Matrix rows = equations.matrix->found.matrix();
    for (std::size_t r = 0; r < rows.rows(); ++r)
      legend += fmt::format("# p{} = {}\n", r, fmt::join(rows.row(r), " "));
  }
  if (!equations.is_decoder) return legend;
  const std::size_t w = equations.word_bits();
  return legend + fmt::format("# decoder of {}\n# read: {}\n# rebuilt: {}\n", equations.what,
                              units_of(equations.reads, 0, w),
                              units_of(equations.writes, equations.program.inputs(), w));
}

}  // namespace calpe::tools
