// SPDX-License-Identifier: Apache-2.0
#include "opt/matrix_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "opt/greedy_sharing.hpp"
#include "opt/random.hpp"

namespace calpe::opt {

namespace {

using gf::Element;

struct Effort {
  std::size_t starts;       // annealings that minimise ones
  std::size_t moves;        // per annealing
  std::size_t sharings;     // moves of each judged by pair sharing; small shapes only
  std::size_t finalists;    // candidates passed to the optimiser
  std::size_t final_seeds;  // optimiser seeds per finalist
};

Effort effort_of(Budget budget) {
  switch (budget) {
    case Budget::fast:
      return {.starts = 2, .moves = 2000, .sharings = 200, .finalists = 2, .final_seeds = 1};
    case Budget::standard:
      return {.starts = 6, .moves = 10'000, .sharings = 2000, .finalists = 2, .final_seeds = 1};
    default:
      return {.starts = 32, .moves = 40'000, .sharings = 10'000, .finalists = 4, .final_seeds = 2};
  }
}

// Bits of the largest matrix for which pair sharing takes microseconds.
constexpr std::size_t small_cells = 800;

class Search {
 public:
  Search(const MatrixSpec& spec, Budget budget, std::uint64_t seed)
      : spec_(spec),
        field_(*spec.field),
        ones_(gf::ones_table(field_)),
        effort_(effort_of(budget)),
        random_(seed) {}

  // Returns the candidates, best first.
  std::vector<CauchyPoints> run() {
    std::vector<std::pair<std::size_t, CauchyPoints>> all;
    for (std::size_t start = 0; start < effort_.starts; ++start) {
      State best = anneal(first_state(), effort_.moves, false);
      if (is_small()) best = anneal(best, effort_.sharings, true);
      all.emplace_back(xors_after_sharing(best), points_of(best));
    }
    std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
    all.resize(std::min(all.size(), effort_.finalists));
    std::vector<CauchyPoints> finalists;
    finalists.reserve(all.size());
    for (auto& each : all)
      finalists.push_back(std::move(each.second));
    return finalists;
  }

 private:
  // A permutation of the field elements: points of the rows (except one at infinity), of the
  // columns, and unused.
  struct State {
    std::vector<Element> elements;
    std::vector<Element> row_scales;
    std::vector<Element> column_scales;
  };

  bool is_small() const {
    const std::size_t w = field_.word_bits();
    return std::size_t{spec_.data} * w * spec_.parity * w <= small_cells;
  }
  std::size_t finite_rows() const { return spec_.parity - (spec_.has_ones_row ? 1U : 0U); }

  CauchyPoints points_of(const State& state) const {
    CauchyPoints points{.row_points = {},
                        .column_points = {},
                        .row_scales = state.row_scales,
                        .column_scales = state.column_scales};
    if (spec_.has_ones_row) points.row_points.push_back(CauchyPoints::infinity);
    const auto columns = state.elements.begin() + static_cast<std::ptrdiff_t>(finite_rows());
    points.row_points.insert(points.row_points.end(), state.elements.begin(), columns);
    points.column_points.assign(columns, columns + spec_.data);
    return points;
  }

  State first_state() {
    State state{.elements = std::vector<Element>(field_.size()),
                .row_scales = std::vector<Element>(spec_.parity, 1),
                .column_scales = std::vector<Element>(spec_.data, 1)};
    std::iota(state.elements.begin(), state.elements.end(), Element{0});
    for (std::uint32_t i = field_.size() - 1; i > 0; --i)
      std::swap(state.elements[i], state.elements[random_.below(i + 1)]);
    return state;
  }

  // Returns the scale that leaves the fewest ones in the cells.
  Element lightest_scale(const std::vector<Element>& cells) const {
    std::size_t fewest = ~std::size_t{0};
    Element best = 1;
    for (std::uint32_t scale = 1; scale < field_.size(); ++scale) {
      std::size_t count = 0;
      for (const Element cell : cells)
        count += ones_[field_.multiply(cell, static_cast<Element>(scale))];
      if (count < fewest) {
        fewest = count;
        best = static_cast<Element>(scale);
      }
    }
    return best;
  }

  void choose_scales(State& state) {
    const gf::Matrix bare =
        matrix_of(field_, points_of({state.elements, std::vector<Element>(spec_.parity, 1),
                                     std::vector<Element>(spec_.data, 1)}));
    std::vector<Element> cells;
    // Scales rows for the columns; without a row of ones, then columns for the rows.
    for (std::size_t i = spec_.has_ones_row ? 1 : 0; i < spec_.parity; ++i) {
      cells.clear();
      for (std::size_t j = 0; j < spec_.data; ++j)
        cells.push_back(field_.multiply(bare(i, j), state.column_scales[j]));
      state.row_scales[i] = lightest_scale(cells);
    }
    if (spec_.has_ones_row) return;
    for (std::size_t j = 0; j < spec_.data; ++j) {
      cells.clear();
      for (std::size_t i = 0; i < spec_.parity; ++i)
        cells.push_back(field_.multiply(bare(i, j), state.row_scales[i]));
      state.column_scales[j] = lightest_scale(cells);
    }
  }

  std::size_t ones_of(const State& state) const {
    const gf::Matrix matrix = matrix_of(field_, points_of(state));
    std::size_t count = 0;
    for (const Element cell : matrix.cells())
      count += ones_[cell];
    return count;
  }

  std::size_t xors_after_sharing(const State& state) const {
    const gf::Matrix matrix = matrix_of(field_, points_of(state));
    const ir::Program direct = ir::lower_to_xor(ir::build(spec_.field, matrix));
    return ir::cost(greedy_sharing(direct, ir::bit_map(direct), {})).xors;
  }

  // Replaces one point by another, used or unused; or, if XORs are counted, changes the scale of a
  // row.
  void change(State& state, bool counts_xors) {
    const std::size_t used = finite_rows() + spec_.data;
    if (counts_xors && random_.below(2) == 0) {
      const std::size_t row = random_.below(static_cast<std::uint32_t>(state.row_scales.size()));
      if (row > 0 || !spec_.has_ones_row) {
        state.row_scales[row] = static_cast<Element>(1 + random_.below(field_.order()));
      }
      return;
    }
    const std::size_t a = random_.below(static_cast<std::uint32_t>(used));
    const std::size_t b = random_.below(static_cast<std::uint32_t>(state.elements.size()));
    std::swap(state.elements[a], state.elements[b]);
    if (!counts_xors || random_.below(2) == 0) choose_scales(state);
  }

  // Threshold accepting (Dueck and Scheuer 1990): accepts changes up to a cost that falls over
  // time.
  State anneal(State state, std::size_t moves, bool counts_xors) {
    const auto score_of = [&](const State& each) {
      return counts_xors ? xors_after_sharing(each) : ones_of(each);
    };
    const std::size_t first_threshold = counts_xors ? 3 : 12;
    if (!counts_xors) choose_scales(state);
    std::size_t score = score_of(state);
    State best = state;
    std::size_t best_score = score;
    for (std::size_t move = 0; move < moves; ++move) {
      State next = state;
      change(next, counts_xors);
      const std::size_t next_score = score_of(next);
      if (next_score > score + first_threshold * (moves - move) / moves) continue;
      state = std::move(next);
      score = next_score;
      if (score < best_score) {
        best = state;
        best_score = score;
      }
    }
    return best;
  }

  const MatrixSpec& spec_;
  const gf::Field& field_;
  const std::vector<std::uint16_t> ones_;
  const Effort effort_;
  Random random_;
};

}  // namespace

Result<FoundProgram> search_matrix(const MatrixSpec& spec, Budget budget, std::uint64_t seed) {
  const std::size_t elements = std::size_t{spec.data} + spec.parity - (spec.has_ones_row ? 1U : 0U);
  if (spec.data == 0 || spec.parity == 0 || elements > spec.field->size()) {
    return invalid("matrix search: size is ", spec.data, "+", spec.parity, " over GF(2^",
                   spec.field->word_bits(), "); expected 1+1 up to ", spec.field->size(),
                   " elements");
  }
  FoundProgram best{.found = {.field = spec.field, .points = {}, .xors = ~std::size_t{0}},
                    .program = ir::Program(spec.field, {})};
  for (const CauchyPoints& points : Search(spec, budget, seed).run()) {
    const ir::Program direct =
        ir::lower_to_xor(ir::build(spec.field, matrix_of(*spec.field, points)));
    for (std::size_t i = 0; i < effort_of(budget).final_seeds; ++i) {
      CALPE_TRY(ir::Program program, fewest_xors(direct, {.budget = budget, .seed = seed + i}));
      const std::size_t xors = ir::cost(program).xors;
      if (xors >= best.found.xors) continue;
      best.found = {
          .field = spec.field, .points = points, .xors = xors, .budget = budget, .seed = seed + i};
      best.program = std::move(program);
    }
  }
  return best;
}

}  // namespace calpe::opt
