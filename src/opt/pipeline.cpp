// SPDX-License-Identifier: Apache-2.0
// Lists the passes in order, sets their budgets, and proves the result of each.
#include "opt/pipeline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/cost.hpp"
#include "ir/verify.hpp"
#include "opt/greedy_sharing.hpp"
#include "opt/relation_walk.hpp"
#include "opt/relations.hpp"

namespace calpe::opt {

namespace {

std::size_t square_root(std::size_t n) {
  std::size_t root = 0;
  while ((root + 1) * (root + 1) <= n)
    ++root;
  return root;
}

// Grows with cells^2.5, because larger programs gain more, until a walk takes seconds: 40 thousand
// steps for 40 inputs and 16 outputs, 1.1 million for 80 and 32, 8 million for 160 and 80.
std::size_t walk_steps(const ir::Program& program, Budget budget) {
  const std::size_t factor = budget == Budget::standard ? 1 : 16;
  const std::size_t cells = std::size_t{program.inputs()} * program.outputs();
  // A step costs more with more relations.
  const std::size_t most = std::size_t{12'000'000} * 4096 / (4096 + std::size_t{program.values()});
  if (cells > 1'000'000) return most * factor;
  if (cells <= 320) return 120'000 * factor;  // 0.3 us each; the optimum is within reach
  const std::size_t steps = cells * cells * square_root(cells) / 300;
  return std::clamp<std::size_t>(steps, 40'000, most) * factor;
}

ir::Program run_greedy_sharing(const ir::Program& program, const Job& job) {
  const bool is_fast = job.budget == Budget::fast;
  return greedy_sharing(
      program, job.map,
      {.trials = is_fast ? 1U : 4U, .group_cells = is_fast ? 16384U : 65536U, .seed = job.seed});
}

ir::Program run_relation_walk(const ir::Program& program, const Job& job) {
  if (job.budget == Budget::fast || program.values() > Relations::values_max) return program;
  return walk_relations(program, {.steps = walk_steps(program, job.budget), .seed = job.seed});
}

constexpr std::array all_passes = {
    Pass{"greedy_sharing", run_greedy_sharing},
    Pass{"relation_walk", run_relation_walk},
};

constexpr std::array names = [] {
  std::array<std::string_view, all_passes.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = all_passes[i].name;
  return all;
}();

Status check_names(const std::vector<std::string>& disabled) {
  for (const std::string& name : disabled) {
    if (std::ranges::find(names, name) == names.end()) {
      std::string known;
      for (const std::string_view each : names)
        known += (known.empty() ? "" : ", ") + std::string(each);
      return invalid("disabled pass is \"", name, "\"; expected one of ", known);
    }
  }
  return Done{};
}

}  // namespace

std::span<const std::string_view> pass_names() {
  return names;
}

Result<ir::Program> run_passes(const ir::Program& program, std::span<const Pass> passes,
                               const Options& options) {
  if (program.dialect() != ir::Dialect::xor_) {
    return invalid("program is in the gf dialect; expected xor");
  }
  CALPE_CHECK(ir::verify(program));
  const gf::BitMatrix map = ir::bit_map(program);
  const Job job{.map = map, .budget = options.budget, .seed = options.seed};
  ir::Program best = program;
  std::size_t fewest = ir::cost(best).xors;
  for (const Pass& pass : passes) {
    if (std::ranges::find(options.disabled_passes, pass.name) != options.disabled_passes.end()) {
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    ir::Program next = pass.run(best, job);
    if (const Status same = ir::verify_map(next, map); !same) {
      return make_error(ErrorCode::compile_failed, "pass ", pass.name,
                        " changed what the program computes: ", same.error().message);
    }
    const std::size_t xors = ir::cost(next).xors;
    if (xors <= fewest) {
      best = std::move(next);
      fewest = xors;
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (options.observe) options.observe(pass.name, best, taken.count());
  }
  return best;
}

Result<ir::Program> fewest_xors(const ir::Program& program, const Options& options) {
  CALPE_CHECK(check_names(options.disabled_passes));
  return run_passes(program, all_passes, options);
}

}  // namespace calpe::opt
