// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/transform_schedule.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "base/divide_up.hpp"

namespace calpe::backend::cpu {

namespace {

using Kind = BlockRef::Kind;
using Refs = std::vector<BlockRef>;

BlockRef ref(Kind kind, std::size_t index) {
  return {.kind = kind, .index = static_cast<std::uint16_t>(index)};
}

bool is_zero(const BlockRef& operand) {
  return operand.kind == Kind::zeros;
}

bool are_zero(const Refs& refs) {
  return std::ranges::all_of(refs, is_zero);
}

// Cells are at equal distances if every group takes them in order.
bool are_spaced(const Refs& refs) {
  return std::ranges::all_of(refs, [](const BlockRef& r) { return r.kind == Kind::cell; });
}

// `count` cells from `first` on.
Refs cell_refs(std::size_t first, std::size_t count) {
  Refs refs;
  refs.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    refs.push_back(ref(Kind::cell, first + i));
  return refs;
}

// Returns where `part` begins in `all`, appending it if it is not there yet. Passes over the same
// cells share their pointers.
std::uint32_t place_of(Refs& all, const Refs& part) {
  auto found = std::search(all.begin(), all.end(), part.begin(), part.end());
  if (found == all.end()) {
    const auto count = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), part.begin(), part.end());
    found = all.begin() + count;
  }
  return static_cast<std::uint32_t>(found - all.begin());
}

}  // namespace

// Cells 0 .. N-1 hold the sums, then the coefficients of the polynomial; the next N are work space.
class ScheduleBuilder {
 public:
  ScheduleBuilder(const ir::Transform& transform, const CpuKernels& kernels,
                  const CoefficientTables& tables)
      : transform_(transform),
        locator_(*transform.locator),
        kernels_(kernels),
        tables_(tables),
        size_(transform.size()),
        input_at_(transform.field->size()) {
    for (std::size_t i = 0; i < transform.places.size(); ++i)
      input_at_[transform.places[i]] = ref(Kind::input, i);
    passes_ = passes_of(size_);
  }

  TransformSchedule run() {
    if (const unsigned tail = tail_layers(transform_); tail != 0) {
      write_through_tail(tail);
    } else if (goes_through()) {
      write_through();
    } else {
      write_outputs(locator_.scales.empty() ? sums_from(0) : scaled(sums_from(transform_.size())));
    }
    return std::move(schedule_);
  }

 private:
  struct Pass {
    unsigned first = 0;  // layer
    unsigned layers = 0;
    std::size_t run() const { return std::size_t{1} << first; }
    std::size_t group_size() const { return std::size_t{1} << layers; }
    std::size_t span() const { return run() << layers; }
  };
  using Step = TransformSchedule::Step;

  // Passes for a transform of `size` values, as equal as possible. The first has at most
  // `first_max` layers.
  std::vector<Pass> passes_of(std::size_t size, unsigned first_max = butterfly_log_max) const {
    const auto end = static_cast<unsigned>(std::countr_zero(size));
    std::vector<Pass> passes;
    for (unsigned first = 0; first < end; first += passes.back().layers) {
      const unsigned left = divide_up(end - first, kernels_.butterfly_log);
      const unsigned layers = divide_up(end - first, left);
      passes.push_back(
          {.first = first, .layers = first == 0 ? std::min(layers, first_max) : layers});
    }
    return passes;
  }

  // One step for all groups of a pass that one kernel runs.
  struct Work {
    ButterflyKernel kernel = nullptr;
    Refs sources = {};
    Refs targets = {};
    Refs addends = {};
    std::vector<std::uint8_t> coefficients = {};
    std::uint32_t groups = 0;
  };

  Refs work_cells() const { return cell_refs(size_, size_); }
  Refs sum_cells() const { return cell_refs(0, size_); }
  Refs inputs_of(std::uint32_t base) const { return part(input_at_, base, size_); }

  // The blocks of the group that begins at `begin`.
  static Refs group_of(const Refs& column, const Pass& pass, std::size_t begin) {
    Refs group;
    group.reserve(pass.group_size());
    for (std::size_t j = 0; j < pass.group_size(); ++j)
      group.push_back(column[begin + j * pass.run()]);
    return group;
  }

  void add_group(Work& work, const Pass& pass, std::uint32_t base, std::size_t begin) const {
    for (unsigned i = 0; i < pass.layers; ++i) {
      const std::size_t step = pass.run() << (i + 1);
      for (std::size_t n = 0; n < pass.span(); n += step) {
        work.coefficients.push_back(
            static_cast<std::uint8_t>(transform_.coefficient(pass.first + i, base + begin + n)));
      }
    }
    ++work.groups;
  }

  static void append(Refs& to, const Refs& more) { to.insert(to.end(), more.begin(), more.end()); }

  void use_cells(const Refs& targets, std::size_t run) {
    for (const BlockRef& target : targets) {
      if (target.kind == Kind::cell)
        schedule_.cells_ = std::max(schedule_.cells_, target.index + run);
    }
    schedule_.run_max_ = std::max(schedule_.run_max_, run);
  }

  // Passes with output kernels write outputs.
  void emit(Work& work, const Pass& pass, const OutputKernels* outputs = nullptr,
            bool has_factors = true) {
    if (work.groups == 0) return;
    use_cells(work.targets, pass.run());
    const std::size_t entry = table_entry_bytes(kernels_.table_kind);
    const std::size_t offset = schedule_.tables_.size();
    schedule_.tables_.resize(offset + work.coefficients.size() * entry);
    tables_.gather(work.coefficients, schedule_.tables_.data() + offset);
    schedule_.steps_.push_back(
        {.kind = outputs != nullptr ? Step::Kind::outputs : Step::Kind::pass,
         .has_factors = has_factors,
         .kernel = work.kernel,
         .outputs = outputs,
         .sources = place_of(schedule_.sources_, work.sources),
         .targets = place_of(schedule_.targets_, work.targets),
         .addends = work.addends.empty() ? 0 : place_of(schedule_.sources_, work.addends),
         .groups = work.groups,
         .run = static_cast<std::uint32_t>(pass.run()),
         .tables = offset,
         .table_step = work.coefficients.size() / work.groups * entry});
  }

  void emit_sum(Step::Kind kind, const Refs& sources, const BlockRef& target) {
    use_cells({target}, 1);
    schedule_.steps_.push_back({.kind = kind,
                                .sources = place_of(schedule_.sources_, sources),
                                .targets = place_of(schedule_.targets_, {target}),
                                .groups = static_cast<std::uint32_t>(sources.size())});
  }

  const ButterflyKernels& kernels_of(const Pass& pass) const {
    return kernels_.butterflies[pass.layers];
  }

  // What the inputs at `base` are multiplied by.
  gf::Element scale_of(std::uint32_t base) const {
    return locator_.coset_scales.empty() ? gf::Element{1} : locator_.coset_scales[base / size_];
  }

  // One pass back in place of, or into, `targets`; groups of zeros stay zeros. Returns the results.
  Refs back_pass(const Pass& pass, std::uint32_t base, const Refs& column, const Refs& targets,
                 gf::Element scale = 1) {
    const ButterflyKernels& kernels = kernels_of(pass);
    Work scaled{.kernel = kernels.in_back_scaled};
    Work scattered{.kernel = kernels.in_back};
    Work scattered_at_zero{.kernel = kernels.in_back_at_zero};
    Work spaced{.kernel = kernels.back};
    Work spaced_at_zero{.kernel = kernels.back_at_zero};
    Refs results(column.size());
    for (std::size_t begin = 0; begin < column.size(); begin += pass.span()) {
      const Refs sources = group_of(column, pass, begin);
      if (are_zero(sources)) continue;
      const bool is_at_zero = base + begin == 0;
      Work& work = scale != 1            ? scaled
                   : are_spaced(sources) ? (is_at_zero ? spaced_at_zero : spaced)
                                         : (is_at_zero ? scattered_at_zero : scattered);
      append(work.sources, sources);
      append(work.targets, group_of(targets, pass, begin));
      add_group(work, pass, base, begin);
      if (scale != 1) {
        work.coefficients.insert(work.coefficients.end(), pass.group_size(),
                                 static_cast<std::uint8_t>(scale));
      }
      std::copy_n(targets.begin() + static_cast<std::ptrdiff_t>(begin), pass.span(),
                  results.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    for (Work* const work : {&scaled, &scattered, &scattered_at_zero, &spaced, &spaced_at_zero})
      emit(*work, pass);
    return results;
  }

  // Transforms the inputs at `base` back, and adds them to `sums` (all zeros: overwrites them).
  void add_coset(std::uint32_t base, Refs& sums) {
    Refs column = inputs_of(base);
    gf::Element scale = scale_of(base);
    if (are_zero(column) || scale == 0) return;
    const bool is_first = are_zero(sums);
    const Refs targets = is_first ? sum_cells() : work_cells();
    for (const Pass& pass : passes_) {
      if (!is_first && &pass == &passes_.back() && scale == 1) {
        const Refs sources = group_of(column, pass, 0);
        Work adding{.kernel = are_spaced(sources) ? kernels_of(pass).back_add
                                                  : kernels_of(pass).in_back_add};
        append(adding.sources, sources);
        append(adding.targets, group_of(sum_cells(), pass, 0));
        add_group(adding, pass, base, 0);
        emit(adding, pass);
      } else {
        column = back_pass(pass, base, column, targets, std::exchange(scale, gf::Element{1}));
        if (is_first || passes_.size() > 1) continue;
        for (std::size_t i = 0; i < size_; ++i)
          emit_sum(Step::Kind::add, {column[i]}, sum_cells()[i]);
      }
    }
    sums = sum_cells();
  }

  Refs sums_from(std::uint32_t base) {
    Refs sums(size_);
    if (base == 0 && locator_.interpolates) {
      const Refs inputs = inputs_of(0);
      const auto absent = static_cast<std::size_t>(std::ranges::count_if(inputs, is_zero));
      if (absent < size_) sums = interpolate(inputs, sum_cells(), 0, size_ - absent);
      base = transform_.size();
      if (std::ranges::max(transform_.places) >= base) fill_zeros(sums, sum_cells());
    }
    for (; base < input_at_.size(); base += static_cast<std::uint32_t>(size_))
      add_coset(base, sums);
    return sums;
  }

  // Clears the cells of all zeros.
  void fill_zeros(Refs& column, const Refs& cells) {
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (!is_zero(column[i])) continue;
      emit_sum(Step::Kind::sum, {}, cells[i]);
      column[i] = cells[i];
    }
  }

  static Refs part(const Refs& of, std::size_t first, std::size_t count) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  // x += c * y, or x += (1 + c) * y if `is_upper`, for cells; as long as y is not zero.
  void combine(const Refs& x, const Refs& y, gf::Element c, bool is_upper) {
    const Pass pass{.first = 0, .layers = 1};
    Work work{.kernel = kernels_of(pass).forth_out.over};
    for (std::size_t i = 0; i < y.size() && !is_zero(y[i]); ++i) {
      append(work.sources, {x[i], y[i]});
      append(work.targets,
             is_upper ? Refs{ref(Kind::dump, 0), x[i]} : Refs{x[i], ref(Kind::dump, 0)});
      work.coefficients.push_back(static_cast<std::uint8_t>(c));
      ++work.groups;
    }
    emit(work, pass);
  }

  // As in ir/transform.cpp. Values of the lower half at the upper one are in work cells, which
  // the next step consumes.
  Refs interpolate(const Refs& values, const Refs& targets, std::uint32_t base, std::size_t count) {
    const std::size_t half = values.size() / 2;
    if (values.size() == 1) {
      emit_sum(Step::Kind::sum, values, targets[0]);
      return targets;
    }
    if (count == values.size()) {
      Refs column = values;
      for (const Pass& pass : passes_of(values.size()))
        column = back_pass(pass, base, column, targets);
      return column;
    }
    if (count <= half) {
      Refs lower = interpolate(part(values, 0, half), part(targets, 0, half), base, count);
      lower.resize(values.size());
      return lower;
    }
    const auto upper_base = static_cast<std::uint32_t>(base + half);
    Refs lower = interpolate(part(values, 0, half), part(targets, 0, half), base, half);
    std::vector<bool> is_wanted(half);
    std::fill_n(is_wanted.begin(), count - half, true);
    Refs there = lower;
    const auto layers = static_cast<unsigned>(std::bit_width(count - half - 1));
    const std::vector<Pass> passes = passes_of(half, std::max(layers, 1U));
    for (std::size_t i = passes.size(); i-- > 0;)
      there = forth_pass(passes[i], upper_base, there, part(work_cells(), 0, half), is_wanted);
    for (std::size_t i = 0; i < count - half; ++i)
      emit_sum(Step::Kind::add, {values[half + i]}, there[i]);
    std::fill(there.begin() + static_cast<std::ptrdiff_t>(count - half), there.end(), BlockRef{});
    const Refs upper = interpolate(there, part(targets, half, half), upper_base, count - half);
    const auto top = static_cast<unsigned>(std::countr_zero(half));
    if (const gf::Element c = transform_.coefficient(top, base); c != 0)
      combine(lower, upper, c, false);
    append(lower, upper);
    return lower;
  }

  // One pass forth, of the groups with a wanted position.
  Refs forth_pass(const Pass& pass, std::uint32_t base, const Refs& column, const Refs& targets,
                  const std::vector<bool>& is_wanted) {
    const ButterflyKernels& kernels = kernels_of(pass);
    Work usual{.kernel = kernels.forth};
    Work at_zero{.kernel = kernels.forth_at_zero};
    for (std::size_t begin = 0; begin < column.size(); begin += pass.span()) {
      if (!wants_any(is_wanted, pass, begin)) continue;
      Work& work = base + begin == 0 ? at_zero : usual;
      append(work.sources, group_of(column, pass, begin));
      append(work.targets, group_of(targets, pass, begin));
      add_group(work, pass, base, begin);
    }
    emit(at_zero, pass);
    emit(usual, pass);
    return targets;
  }

  static bool wants_any(const std::vector<bool>& is_wanted, const Pass& pass, std::size_t begin) {
    const auto first = is_wanted.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::find(first, first + static_cast<std::ptrdiff_t>(pass.span()), true) !=
           first + static_cast<std::ptrdiff_t>(pass.span());
  }

  // From the sums to the coefficients of the polynomial: forth, the inputs of the first coset
  // added, multiplied, back. The first pass goes both ways at once, unless the values are outputs.
  Refs scaled(Refs column) {
    std::vector<bool> is_known(size_);
    for (std::size_t i = 0; i < size_; ++i)
      is_known[i] = locator_.scales[i] != 0;
    std::vector<bool> is_needed = is_known;
    bool shows_values = false;
    for (const auto& output : locator_.outputs) {
      if (output.place >= size_) continue;
      shows_values = true;
      is_needed[output.place] = true;
    }
    Refs addends = inputs_of(0);
    const bool has_sums = !are_zero(column);
    if (has_sums) {
      for (std::size_t i = passes_.size(); i-- > (shows_values ? 0U : 1U);)
        column = forth_pass(passes_[i], 0, column, sum_cells(), is_needed);
    }
    if (shows_values) show_values(column, addends);
    const bool turns = has_sums && !shows_values;
    column = first_pass_back(turns, has_sums ? column : addends, addends, is_known);
    for (std::size_t i = 1; i < passes_.size(); ++i)
      column = back_pass(passes_[i], 0, column, sum_cells());
    return column;
  }

  // Values that are outputs are written there; inputs are added to the values in cells.
  void show_values(const Refs& column, const Refs& addends) {
    for (std::uint32_t r = 0; r < locator_.outputs.size(); ++r) {
      const std::uint16_t place = locator_.outputs[r].place;
      if (place >= size_) continue;
      Refs sum;
      for (const BlockRef& term : {column[place], addends[place]}) {
        if (!is_zero(term)) sum.push_back(term);
      }
      emit_sum(Step::Kind::copy, sum, ref(Kind::output, r));
    }
    if (are_zero(column)) return;
    for (std::size_t i = 0; i < size_; ++i) {
      if (locator_.scales[i] != 0 && !is_zero(addends[i]))
        emit_sum(Step::Kind::add, {addends[i]}, column[i]);
    }
  }

  Refs first_pass_back(bool turns, const Refs& column, const Refs& addends,
                       const std::vector<bool>& is_known) {
    const Pass& pass = passes_.front();
    Work work{.kernel = turns ? kernels_of(pass).turn : kernels_of(pass).in_back_scaled};
    const Refs cells = sum_cells();
    Refs results(size_);
    for (std::size_t begin = 0; begin < size_; begin += pass.span()) {
      if (!wants_any(is_known, pass, begin)) continue;
      append(work.sources, group_of(column, pass, begin));
      append(work.targets, group_of(cells, pass, begin));
      if (turns) append(work.addends, group_of(addends, pass, begin));
      add_group(work, pass, 0, begin);
      for (std::size_t i = begin; i < begin + pass.span(); ++i) {
        work.coefficients.push_back(static_cast<std::uint8_t>(locator_.scales[i]));
        results[i] = cells[i];
      }
    }
    emit(work, pass);
    return results;
  }

  // The outputs in the coset at `base`.
  struct Wanted {
    std::uint32_t base = 0;
    Refs outputs = {};
    std::vector<bool> is_wanted = {};
    std::vector<std::uint8_t> factors = {};
  };

  Wanted wanted_at(std::uint32_t base) const {
    Wanted wanted{.base = base,
                  .outputs = Refs(size_, ref(Kind::dump, 0)),
                  .is_wanted = std::vector<bool>(size_),
                  .factors = std::vector<std::uint8_t>(size_)};
    for (std::uint32_t r = 0; r < locator_.outputs.size(); ++r) {
      const auto& [place, factor] = locator_.outputs[r];
      if (place < base || place >= base + size_ || factor == 0) continue;
      wanted.outputs[place - base] = ref(Kind::output, r);
      wanted.is_wanted[place - base] = true;
      wanted.factors[place - base] = static_cast<std::uint8_t>(factor);
    }
    return wanted;
  }

  std::vector<std::uint32_t> bases_written() const {
    std::vector<std::uint32_t> bases;
    for (const auto& output : locator_.outputs) {
      if (output.factor != 0)
        bases.push_back(output.place & ~static_cast<std::uint32_t>(size_ - 1));
    }
    std::ranges::sort(bases);
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    return bases;
  }

  // From all of the first coset to another one, without cells.
  bool goes_through() const {
    const std::vector<std::uint32_t> bases = bases_written();
    return locator_.scales.empty() && locator_.coset_scales.empty() &&
           transform_.log_size <= kernels_.butterfly_log + 1 && bases.size() == 1 &&
           bases[0] != 0 && std::ranges::max(transform_.places) < size_ &&
           (!locator_.interpolates || transform_.places.size() == size_);
  }

  void write_through() {
    const Pass pass{.first = 0, .layers = transform_.log_size};
    const Wanted wanted = wanted_at(bases_written()[0]);
    Work work{.sources = inputs_of(0), .targets = wanted.outputs};
    add_group(work, pass, 0, 0);
    add_group(work, pass, wanted.base, 0);
    work.groups = 1;
    append_factors(work, wanted, 0, pass);
    const bool fits = pass.layers <= kernels_.butterfly_log;
    emit(work, pass, fits ? &kernels_of(pass).through : &kernels_.through_halves,
         has_factors(wanted));
  }

  // The values of the upper half, from all of the lower one and the tail.
  void write_through_tail(unsigned tail) {
    constexpr std::uint32_t base = 16;
    const Pass pass{.first = 0, .layers = 4};
    Work work{.sources = part(input_at_, 0, transform_.places.size()),
              .targets = part(wanted_at(0).outputs, base, base)};
    add_group(work, pass, 0, 0);
    add_group(work, pass, base, 0);
    add_group(work, {.first = 0, .layers = tail}, base, 0);
    work.groups = 1;
    emit(work, pass, &kernels_.through_tail[tail], false);
  }

  static bool has_factors(const Wanted& wanted) {
    return std::ranges::any_of(wanted.factors, [](std::uint8_t factor) { return factor > 1; });
  }

  static void append_factors(Work& work, const Wanted& wanted, std::size_t begin,
                             const Pass& pass) {
    const auto first = wanted.factors.begin() + static_cast<std::ptrdiff_t>(begin);
    work.coefficients.insert(work.coefficients.end(), first,
                             first + static_cast<std::ptrdiff_t>(pass.span()));
  }

  // The first coset comes last: its steps may change the coefficients.
  void write_outputs(const Refs& located) {
    const std::vector<std::uint32_t> bases = bases_written();
    for (std::size_t i = bases.size(); i-- > 0;)
      write_coset(wanted_at(bases[i]), located, i == 0);
  }

  // Where a coefficient is zero and only one half is wanted, takes that half.
  void halve(Wanted& wanted, Refs& column) {
    while (column.size() > 2) {
      const std::size_t half = column.size() / 2;
      const auto top = static_cast<unsigned>(std::countr_zero(half));
      if (transform_.coefficient(top, wanted.base) != 0) return;
      const Pass whole_half{.first = 0, .layers = top};
      const bool wants_lower = wants_any(wanted.is_wanted, whole_half, 0);
      const bool wants_upper = wants_any(wanted.is_wanted, whole_half, half);
      Refs lower = part(column, 0, half);
      if (wants_lower == wants_upper || !are_spaced(lower)) return;
      if (wants_upper) {
        combine(lower, part(column, half, half), 0, true);
        wanted.base += static_cast<std::uint32_t>(half);
      }
      const std::size_t first = wants_upper ? half : 0;
      const auto begin = static_cast<std::ptrdiff_t>(first);
      const auto end = static_cast<std::ptrdiff_t>(first + half);
      wanted.outputs = part(wanted.outputs, first, half);
      wanted.is_wanted =
          std::vector<bool>(wanted.is_wanted.begin() + begin, wanted.is_wanted.begin() + end);
      wanted.factors =
          std::vector<std::uint8_t>(wanted.factors.begin() + begin, wanted.factors.begin() + end);
      column = lower;
    }
  }

  // Outputs of the first coset are derivatives if there are scales.
  void write_coset(Wanted wanted, Refs column, bool is_last) {
    const bool derives = wanted.base == 0 && !locator_.scales.empty();
    if (derives) column = derivative(column);
    if (is_last && !derives) halve(wanted, column);
    const Refs cells = is_last && !derives ? sum_cells() : work_cells();
    if (!are_zero(column)) fill_zeros(column, sum_cells());
    const std::vector<Pass> passes = passes_of(column.size());
    for (std::size_t i = passes.size(); i-- > 1;) {
      column = forth_pass(passes[i], wanted.base, column, part(cells, 0, column.size()),
                          wanted.is_wanted);
    }
    const Pass& pass = passes.front();
    const OutputKernels& kernels = kernels_of(pass).forth_out;
    Work work{.kernel = kernels.add};
    for (std::size_t begin = 0; begin < column.size(); begin += pass.span()) {
      if (!wants_any(wanted.is_wanted, pass, begin)) continue;
      append(work.sources, group_of(column, pass, begin));
      append(work.targets, group_of(wanted.outputs, pass, begin));
      add_group(work, pass, wanted.base, begin);
      append_factors(work, wanted, begin, pass);
    }
    emit(work, pass, derives ? nullptr : &kernels, has_factors(wanted));
  }

  Refs derivative(const Refs& of) {
    Refs targets = work_cells();
    for (std::size_t i = 0; i < size_; ++i) {
      Refs sum;
      for (std::size_t bit = 1; bit < size_; bit *= 2)
        if ((i & bit) == 0) sum.push_back(of[i + bit]);
      emit_sum(Step::Kind::sum, sum, targets[i]);
    }
    return targets;
  }

  const ir::Transform& transform_;
  const ir::Locator& locator_;
  const CpuKernels& kernels_;
  const CoefficientTables& tables_;
  std::size_t size_;
  Refs input_at_;  // by position; zeros for positions without input
  std::vector<Pass> passes_;
  TransformSchedule schedule_;
};

unsigned tail_layers(const ir::Transform& transform) noexcept {
  const std::size_t count = transform.places.size();
  if (!transform.locator || !transform.locator->interpolates || transform.log_size != 5 ||
      (count != 20 && count != 24) || !transform.locator->coset_scales.empty() ||
      std::ranges::max(transform.places) >= count)
    return 0;
  for (const auto& [place, factor] : transform.locator->outputs) {
    if (place < count || place >= transform.size() || factor != 1) return 0;
  }
  return count == 20 ? 2 : 3;
}

TransformSchedule make_schedule(const ir::Transform& transform, const CpuKernels& kernels,
                                const CoefficientTables& tables) {
  CALPE_ASSERT(transform.locator && transform.log_size >= 1);
  return ScheduleBuilder(transform, kernels, tables).run();
}

}  // namespace calpe::backend::cpu
