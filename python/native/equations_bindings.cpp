// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <calpe/codec.hpp>

#include "base/try.hpp"
#include "emit/emit.hpp"
#include "ir/linear_map.hpp"
#include "ir/plan_program.hpp"
#include "ir/text_form.hpp"
#include "native/bindings.hpp"
#include "native/numbers.hpp"
#include "opt/greedy_sharing.hpp"
#include "opt/optimise.hpp"

namespace calpe::python {

namespace {

struct Request {
  std::string style;
  std::string budget;
  std::uint64_t seed = 1;
  std::string target;
  std::string name;  // of the generated function
};

Result<opt::Budget> budget_by_name(const std::string& name) {
  if (name == "fast") return opt::Budget::fast;
  if (name == "standard") return opt::Budget::standard;
  if (name == "thorough") return opt::Budget::thorough;
  return invalid("budget is \"", name, "\"; expected \"fast\", \"standard\" or \"thorough\"");
}

Result<ir::Program> styled(const ir::Program& program, const Request& request) {
  if (request.style == "direct") return ir::direct_program(program);
  if (request.style == "iterative") return opt::greedy_sharing(program, ir::bit_map(program), {});
  if (request.style != "optimised") {
    return invalid("style is \"", request.style,
                   "\"; expected \"direct\", \"iterative\" or \"optimised\"");
  }
  CALPE_TRY(const opt::Budget budget, budget_by_name(request.budget));
  return opt::fewest_xors(program, {.budget = budget, .seed = request.seed});
}

Result<std::string> text_of(const Codec& codec, const Plan& plan, const Request& request) {
  CALPE_TRY(const ir::Program bits, ir::xor_program(plan, codec.spec()));
  CALPE_TRY(const ir::Program program, styled(bits, request));
  if (request.target == "text") return ir::print(program);
  const auto target = emit::target_by_name(request.target);
  if (!target || *target == emit::Target::spirv) {  // a str cannot hold binary code
    return invalid("target is \"", request.target,
                   "\"; expected \"text\", \"c\", \"openmp\", \"opencl\", \"cuda\", \"ptx\" or "
                   "\"hip\"");
  }
  return emit::emit(program, *target, {.name = request.name});
}

std::string equations(const Codec& codec, const Plan& plan, const py::tuple& options) {
  const Request request{.style = options[0].cast<std::string>(),
                        .budget = options[1].cast<std::string>(),
                        .seed = number_of<std::uint64_t>(options[2], "seed"),
                        .target = options[3].cast<std::string>(),
                        .name = options[4].cast<std::string>()};
  return value_of(without_lock([&] { return text_of(codec, plan, request); }));
}

}  // namespace

// `options`: (style, budget, seed, target, name).
void bind_equations(py::module_& module) {
  module.def("equations", &equations);
}

}  // namespace calpe::python
