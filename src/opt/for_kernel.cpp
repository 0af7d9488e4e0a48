// SPDX-License-Identifier: Apache-2.0
#include "opt/for_kernel.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "ir/linear_map.hpp"
#include "ir/register_plan.hpp"
#include "ir/verify.hpp"
#include "opt/column_chunks.hpp"
#include "opt/cut_program.hpp"
#include "opt/fuse_xors.hpp"
#include "opt/schedule_memory.hpp"
#include "opt/stages.hpp"

namespace calpe::opt {

namespace {

class RegisterSearch {
 public:
  RegisterSearch(const ir::Program& program, const Stages& stages, const KernelOptions& options)
      : program_(program), stages_(stages), options_(options) {}

  ir::Program best() const {
    ir::Program best = cut_program(program_, stages_, first_cut());
    if (options_.rounds == 1) return best;  // nothing to compare with
    double best_cycles = kernel_cycles(best, options_.model);
    for (std::size_t round = 1; round < options_.rounds; ++round) {
      for (const Cut& other : further_cuts(options_.seed + round)) {
        ir::Program candidate = cut_program(program_, stages_, other);
        const double cycles = kernel_cycles(candidate, options_.model);
        if (cycles >= best_cycles) continue;
        best_cycles = cycles;
        best = std::move(candidate);
      }
    }
    return best;
  }

 private:
  // Registers not used for sums: operands and short-lived shared values.
  static constexpr std::size_t registers_for_others = 6;

  std::size_t row_groups() const {
    const std::size_t sums = options_.model.registers - registers_for_others;
    return std::max<std::size_t>((program_.outputs() + sums - 1) / sums, 1);
  }
  // If three inputs cost one instruction, a pair in two rows saves nothing.
  std::uint32_t usual_count() const { return options_.model.three_input_xor ? 3 : 2; }

  Cut cut(std::size_t chunk_shards, std::size_t groups, std::uint32_t min_count,
          std::uint64_t seed) const {
    return {.chunk_inputs = chunk_shards * program_.unit_count(),
            .row_groups = groups,
            .min_count = min_count,
            .seed = seed,
            .three_input_xor = options_.model.three_input_xor};
  }

  // The cut that wins most often: all shards share. In the widest programs only neighbours do,
  // because the number of pairs is quadratic.
  Cut first_cut() const {
    constexpr std::size_t inputs_max = 512;
    const std::size_t shards = std::max<std::size_t>(program_.input_shards(), 1);
    const std::size_t chunk = std::min(shards, inputs_max / program_.unit_count() + 1);
    return cut(chunk, row_groups(), usual_count(), 0);
  }

  std::vector<Cut> further_cuts(std::uint64_t seed) const {
    std::vector<Cut> cuts;
    const std::size_t shards = program_.input_shards();
    std::vector<std::size_t> chunks;
    for (std::size_t chunk = 2; chunk < std::min<std::size_t>(shards, 5); ++chunk)
      chunks.push_back(chunk);
    chunks.push_back(shards);
    for (const std::size_t chunk : chunks) {
      for (const std::uint32_t min_count : {2U, 3U}) {
        cuts.push_back(cut(chunk, 1, min_count, seed));
        if (row_groups() > 1) cuts.push_back(cut(chunk, row_groups(), min_count, seed));
      }
    }
    return cuts;
  }

  const ir::Program& program_;
  const Stages& stages_;
  const KernelOptions& options_;
};

// Columns that look for common pairs together. More find little more, and pairs are quadratic.
constexpr std::size_t memory_chunk_inputs = 64;
// Values in memory at once, without inputs and outputs. More would make each block too short.
constexpr std::size_t memory_values_max = 64;

ir::Program memory_form(const ir::Program& program, const Stages& stages) {
  ir::Program result = with_temporaries(program, stages);
  for (const Stage& stage : stages.in_order) {
    const std::size_t chunks = stage.columns.size() / memory_chunk_inputs + 1;
    const std::size_t values = (memory_values_max - stages.temporaries) / chunks;
    Sums sums = share_in_chunks(stage.rows, {.chunk_inputs = memory_chunk_inputs,
                                             .sharing = {.min_count = 4, .values_max = values}});
    fuse_xors(sums, Price::memory_accesses);
    schedule_memory(sums, stage.columns, stage.targets, result);
  }
  return result;
}

}  // namespace

double kernel_cycles(const ir::Program& program, const ir::CostModel& model) {
  using Kind = ir::Step::Kind;
  const ir::RegisterPlan plan = ir::plan_registers(
      program, {.count = model.registers, .three_input_xor = model.three_input_xor});
  double xors = 0;
  double loads = 0;
  double stores = 0;
  for (const ir::Step& step : plan.steps) {
    const bool reads_memory =
        step.kind == Kind::load || step.kind == Kind::add_place || step.kind == Kind::add_one_each;
    const bool is_xor = step.kind != Kind::load && step.kind != Kind::store;
    xors += is_xor ? 1 : 0;
    loads += reads_memory ? 1 : 0;
    stores += step.kind == Kind::store ? 1 : 0;
  }
  // Per cycle, as on Intel cores since Ice Lake: two XORs of 64 bytes or three shorter ones, two
  // loads, one store, six instructions. The slowest dominates; the others are never fully hidden.
  const double xors_per_cycle = model.vector_bytes >= 64 ? 2 : 3;
  const double slowest = std::max({xors / xors_per_cycle, loads / 2, stores});
  return slowest + static_cast<double>(plan.steps.size()) / 12;
}

Result<ir::Program> for_kernel(const ir::Program& program, const KernelOptions& options) {
  if (program.terms().size() > terms_max) return program;
  if (options.model.values_in_registers && options.model.registers > ir::registers_max)
    return program;
  const gf::BitMatrix bits = ir::bit_map(program);
  const bool is_for_registers = options.model.values_in_registers;
  const Stages stages =
      plan_stages(program.shape(), bits, is_for_registers ? program.outputs() : memory_values_max);
  ir::Program best = is_for_registers ? RegisterSearch(program, stages, options).best()
                                      : memory_form(program, stages);
  CALPE_CHECK(ir::verify_map(best, bits));
  return best;
}

}  // namespace calpe::opt
