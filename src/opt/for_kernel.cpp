// SPDX-License-Identifier: Apache-2.0
#include "opt/for_kernel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "ir/linear_map.hpp"
#include "ir/register_plan.hpp"
#include "ir/verify.hpp"
#include "opt/column_chunks.hpp"
#include "opt/fuse_xors.hpp"
#include "opt/random.hpp"
#include "opt/schedule_registers.hpp"
#include "opt/stages.hpp"

namespace calpe::opt {

namespace {

// One way to cut the matrix up.
struct Cut {
  std::size_t chunk_shards = 1;
  std::size_t row_groups = 1;
  std::uint32_t min_count = 2;
  std::uint64_t seed = 0;
};

gf::BitMatrix rows_between(const gf::BitMatrix& all, std::size_t first, std::size_t end) {
  gf::BitMatrix rows(end - first, all.columns());
  for (std::size_t r = first; r < end; ++r)
    std::ranges::copy(all.row(r), rows.row(r - first).begin());
  return rows;
}

class Search {
 public:
  Search(const ir::Program& program, const KernelOptions& options)
      : program_(program),
        options_(options),
        bits_(ir::bit_map(program)),
        stages_(plan_stages(program.shape(), bits_)) {}

  Result<ir::Program> run() {
    for (const Cut& cut : cuts())
      consider(cut);
    CALPE_CHECK(ir::verify_map(*best_, bits_));
    return *std::move(best_);
  }

 private:
  // Registers that are not kept for sums: operands and what is shared for a while.
  static constexpr std::size_t registers_for_others = 8;

  std::vector<Cut> cuts() const {
    const std::size_t shards = program_.input_shards();
    const bool three = options_.model.three_input_xor;
    const std::size_t sums_max =
        std::max<std::size_t>(options_.model.registers - registers_for_others, 1);
    const std::size_t groups = (bits_.rows() + sums_max - 1) / sums_max;
    std::vector<Cut> all;
    for (std::size_t trial = 0; trial < options_.trials; ++trial) {
      const std::uint64_t seed = trial == 0 ? 0 : options_.seed + trial;
      for (const std::size_t chunk : {std::size_t{2}, shards, std::size_t{3}, std::size_t{4}}) {
        for (const std::uint32_t min_count : {three ? 3U : 2U, three ? 2U : 3U}) {
          for (const std::size_t row_groups : {std::size_t{1}, groups}) {
            if (chunk > shards || (row_groups == groups && groups == 1 && row_groups != 1))
              continue;
            all.push_back({chunk, row_groups, min_count, seed});
            if (groups == 1) break;
          }
          if (options_.trials == 1) break;
        }
        if (options_.trials == 1 && chunk == shards) break;
      }
    }
    return all;
  }

  // Shards in another order for every seed, their units together; targets of the stage itself stay
  // behind.
  std::vector<Node> column_order(const Stage& stage, std::uint64_t seed) const {
    const std::uint32_t units = program_.unit_count();
    std::vector<Node> shards(stage.columns.size() / units);
    std::iota(shards.begin(), shards.end(), 0);
    if (seed != 0) {
      const auto is_target = [&](Node shard) {
        return std::ranges::find(stage.targets, stage.columns[shard * units]) !=
               stage.targets.end();
      };
      const auto targets = std::ranges::find_if(shards, is_target);
      Random random(seed);
      for (auto i = static_cast<std::size_t>(targets - shards.begin()); i > 1; --i)
        std::swap(shards[i - 1], shards[random.below(static_cast<std::uint32_t>(i))]);
    }
    std::vector<Node> order;
    for (const Node shard : shards) {
      for (std::uint32_t unit = 0; unit < units; ++unit)
        order.push_back(shard * units + unit);
    }
    return order;
  }

  void append_stage(const Stage& stage, const Cut& cut, ir::Program& candidate) const {
    const bool three = options_.model.three_input_xor;
    const std::vector<Node> order = column_order(stage, cut.seed);
    const std::size_t rows = stage.rows.rows();
    const std::size_t groups = std::min(cut.row_groups, rows);
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t first = rows * group / groups;
      const std::size_t end = rows * (group + 1) / groups;
      Sums sums = share_in_chunks(groups == 1 ? stage.rows : rows_between(stage.rows, first, end),
                                  {.order = order,
                                   .chunk_inputs = cut.chunk_shards * program_.unit_count(),
                                   .sharing = {.min_count = cut.min_count, .seed = cut.seed}});
      fuse_xors(sums, three);
      schedule_registers(sums,
                         {.order = order,
                          .inputs = stage.columns,
                          .targets = std::span(stage.targets).subspan(first, end - first),
                          .three_input_xor = three},
                         candidate);
    }
  }

  void consider(const Cut& cut) {
    ir::Program candidate(program_.field_ref(), program_.shape());
    for (std::uint32_t i = 0; i < stages_.temporaries; ++i)
      candidate.new_temporary();
    for (const Stage& stage : stages_.in_order)
      append_stage(stage, cut, candidate);
    const double cycles = kernel_cycles(candidate, options_.model);
    if (cycles >= best_cycles_) return;
    best_cycles_ = cycles;
    best_ = std::move(candidate);
  }

  const ir::Program& program_;
  const KernelOptions& options_;
  const gf::BitMatrix bits_;
  const Stages stages_;
  std::optional<ir::Program> best_;
  double best_cycles_ = std::numeric_limits<double>::infinity();
};

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
  // Per cycle, as Intel's cores since Ice Lake: two XORs of 64 bytes or three shorter ones, two
  // loads, one store, six instructions. The slowest of them decides; the others are never quite
  // hidden.
  const double xors_per_cycle = model.vector_bytes >= 64 ? 2 : 3;
  const double slowest = std::max({xors / xors_per_cycle, loads / 2, stores});
  return slowest + static_cast<double>(plan.steps.size()) / 12;
}

Result<ir::Program> for_kernel(const ir::Program& program, const KernelOptions& options) {
  return Search(program, options).run();
}

}  // namespace calpe::opt
