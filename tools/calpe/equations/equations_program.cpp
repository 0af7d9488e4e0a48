// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/equations_program.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>
#include <utility>

#include <calpe/codec.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/codes/lost_plan.hpp"
#include "calpe/equations/equations_decode.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/plan_program.hpp"
#include "ir/text_form.hpp"
#include "opt/greedy_sharing.hpp"
#include "opt/optimise.hpp"

namespace calpe::tools {

namespace {

std::vector<ShardIndex> range(std::size_t first, std::size_t count) {
  std::vector<ShardIndex> shards(count);
  std::iota(shards.begin(), shards.end(), static_cast<ShardIndex>(first));
  return shards;
}

// Uses the word_bits given, or the smallest the profile allows. Profiles without packets use the
// eight bit planes of bytes: w = 8.
Result<CodeSpec> spec_of(const EquationsArguments& arguments) {
  if (arguments.data == 0 || arguments.parity == 0) {
    return invalid(
        "--data or --parity is missing; write for example --data 5 --parity 2, or --from ",
        "FILE for your own equations");
  }
  CALPE_TRY(CodeSpec spec, find_profile(arguments.profile));
  spec.data_shards = arguments.data;
  spec.parity_shards = arguments.parity;
  spec.local_groups = arguments.groups;
  for (const Profile& profile : list_profiles()) {
    if (profile.name == arguments.profile && profile.packets_layout) spec.layout = Layout::packets;
  }
  spec.word_bits = static_cast<std::uint8_t>(arguments.word_bits == 0 ? 8 : arguments.word_bits);
  if (arguments.word_bits != 0 || spec.layout == Layout::bytes) return spec;
  for (unsigned w = 2; w < 8; ++w) {
    spec.word_bits = static_cast<std::uint8_t>(w);
    if (parity_rows(spec)) return spec;
  }
  spec.word_bits = 8;
  return spec;
}

opt::Budget budget_by_name(const std::string& name) {
  if (name == "fast") return opt::Budget::fast;
  return name == "thorough" ? opt::Budget::thorough : opt::Budget::standard;
}

// Equivalent to the profile cauchy: recovers any m losses, but the parity bytes differ.
Result<ChosenMatrix> choose_matrix(const EquationsArguments& arguments, unsigned word_bits) {
  CALPE_TRY(const gf::FieldRef field, gf::Field::create(word_bits, 0));
  const opt::MatrixSpec spec{.field = field, .data = arguments.data, .parity = arguments.parity};
  if (arguments.matrix == "known") return matrix_of_table(spec);
  return fewest_xors_matrix(spec, budget_by_name(arguments.budget), arguments.seed);
}

Result<Codec> codec_of(const EquationsArguments& arguments, std::optional<ChosenMatrix>& matrix) {
  CALPE_TRY(CodeSpec spec, spec_of(arguments));
  // Nothing is run, so the smallest backend is enough.
  const CodecOptions options{.backend = "reference"};
  if (arguments.matrix == "profile") return Codec::create(spec, options);
  CALPE_TRY(matrix, choose_matrix(arguments, spec.word_bits));
  spec.family = CodeFamily::custom;
  const gf::Matrix rows = matrix->found.matrix();
  return Codec::create_from_matrix(spec, rows.cells(), options);
}

Result<Equations> from_code(const EquationsArguments& arguments) {
  std::optional<ChosenMatrix> matrix;
  CALPE_TRY(const Codec codec, codec_of(arguments, matrix));
  CALPE_TRY(const Plan plan, plan_without(codec, arguments.lose));
  CALPE_TRY(ir::Program program, ir::xor_program(plan, codec.spec()));
  return Equations{
      .program = std::move(program),
      .what = fmt::format("{} {}+{}, w={}", matrix ? matrix->origin + " matrix" : arguments.profile,
                          arguments.data, arguments.parity, codec.spec().word_bits),
      .style = "direct",
      .reads = {plan.reads().begin(), plan.reads().end()},
      .writes = {plan.writes().begin(), plan.writes().end()},
      .is_decoder = !arguments.lose.empty(),
      .matrix = std::move(matrix)};
}

Result<Equations> from_text(const EquationsArguments& arguments) {
  CALPE_TRY(const std::string text, read_text(arguments.from));
  const unsigned w = std::max(1U, arguments.word_bits);
  const std::string what = arguments.from == "-" ? "standard input" : arguments.from;
  auto program = ir::parse(
      text, {.inputs = arguments.data * w, .outputs = arguments.parity * w, .unit_count = w});
  if (!program) return invalid(what, ": ", program.error().message);
  Equations equations{.program = *std::move(program), .what = what, .style = "as given"};
  equations.reads = range(0, equations.program.input_shards());
  equations.writes = range(equations.reads.size(), equations.program.output_shards());
  if (arguments.lose.empty()) return equations;
  CALPE_TRY(BitDecoder decoder, decode_bits(equations.program, arguments.lose));
  return Equations{.program = std::move(decoder.program),
                   .what = what,
                   .style = "direct",
                   .reads = std::move(decoder.reads),
                   .writes = std::move(decoder.writes),
                   .is_decoder = true};
}

Result<ir::Program> optimise(const EquationsArguments& arguments, Equations& equations) {
  Progress progress("optimising " + equations.what);
  opt::Options options{.budget = budget_by_name(arguments.budget),
                       .seed = arguments.seed,
                       .disabled_passes = arguments.disabled_passes};
  // The XOR count of a chosen matrix holds for its own budget and seed.
  if (equations.matrix) {
    options.budget = equations.matrix->found.budget;
    options.seed = equations.matrix->found.seed;
  }
  options.observe = [&](std::string_view pass, const ir::Program& program, double seconds) {
    const std::size_t xors = ir::cost(program).xors;
    equations.passes.push_back({std::string(pass), xors, seconds});
    progress.say(fmt::format("optimising {}: {} XORs after {}", equations.what, xors, pass));
    if (!arguments.trace) return;
    progress.clear();
    fmt::print(stderr, "{:<16} {:>8} XORs {:>10.3f} s\n", pass, xors, seconds);
  };
  return opt::fewest_xors(equations.program, options);
}

Status apply_style(const EquationsArguments& arguments, Equations& equations) {
  const auto map = ir::bit_map(equations.program);
  equations.direct_xors = ir::cost(ir::direct_program(equations.program)).xors;
  if (arguments.style.empty()) return Done{};
  const auto start = std::chrono::steady_clock::now();
  if (arguments.trace) fmt::print(stderr, "{:<16} {:>8} XORs\n", "direct", equations.direct_xors);
  if (arguments.style == "direct") {
    equations.program = ir::direct_program(equations.program);
  } else if (arguments.style == "iterative") {
    equations.program = opt::greedy_sharing(equations.program, map, {});
  } else {
    CALPE_TRY(equations.program, optimise(arguments, equations));
  }
  equations.style = arguments.style;
  equations.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Done{};
}

}  // namespace

std::string name_shards(const std::vector<ShardIndex>& shards, std::size_t data_shards) {
  std::vector<std::size_t> data;
  std::vector<std::size_t> parity;
  for (const ShardIndex shard : shards) {
    if (shard < data_shards) data.push_back(shard);
    if (shard >= data_shards) parity.push_back(shard - data_shards);
  }
  std::string names;
  if (!data.empty()) names = fmt::format("data {}", fmt::join(data, ", "));
  if (!data.empty() && !parity.empty()) names += " with ";
  if (!parity.empty()) names += fmt::format("parity {}", fmt::join(parity, ", "));
  return names;
}

Result<std::string> read_text(const std::string& path) {
  const bool is_input = path == "-";
  std::FILE* const file = is_input ? stdin : std::fopen(path.c_str(), "rb");
  std::string text;
  bool is_read = file != nullptr;
  char part[4096];
  while (is_read) {
    const std::size_t got = std::fread(part, 1, sizeof part, file);
    text.append(part, got);
    if (got != sizeof part) break;
  }
  is_read = is_read && std::ferror(file) == 0;  // a directory opens, but fails when read
  const int error = errno;
  if (file != nullptr && !is_input) std::fclose(file);
  if (is_read) return text;
  return make_error(ErrorCode::io, "cannot read ", path, ": ", std::strerror(error));
}

Result<Equations> make_equations(const EquationsArguments& arguments) {
  CALPE_TRY(Equations equations,
            arguments.from.empty() ? from_code(arguments) : from_text(arguments));
  CALPE_CHECK(apply_style(arguments, equations));
  return equations;
}

}  // namespace calpe::tools
