// SPDX-License-Identifier: Apache-2.0
#include "calpe/bench/bench_equations.hpp"

#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>
#include <thread>

#include "base/env.hpp"
#include "base/files.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "bench/harness/report_json.hpp"
#include "bench/harness/roof.hpp"
#include "bench/harness/rounds.hpp"
#include "bench/harness/statistics.hpp"
#include "calpe/equations/equations_program.hpp"
#include "emit/emit.hpp"
#include "ir/cost.hpp"
#include "ir/interpret.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

// --- XOR counts ------------------------------------------------------------------------------

struct CountedCode {
  unsigned data;
  unsigned parity;
  unsigned word_bits;
  unsigned published_direct;  // 0: none
  unsigned published_iterative;
  bool is_quick;
};

// 5+2 is the example of both papers by Sobe.
constexpr CountedCode counted_codes[] = {{4, 2, 3, 0, 0, true},   {5, 2, 3, 45, 33, true},
                                         {8, 3, 4, 0, 0, true},   {10, 4, 4, 0, 0, true},
                                         {16, 4, 5, 0, 0, false}, {20, 10, 5, 0, 0, true},
                                         {10, 4, 8, 0, 0, false}};

EquationsArguments arguments_of(const CountedCode& code, std::string_view style) {
  EquationsArguments arguments;
  arguments.data = code.data;
  arguments.parity = code.parity;
  arguments.word_bits = code.word_bits;
  arguments.style = style;
  return arguments;
}

// --- emitted code ----------------------------------------------------------------------------

constexpr CountedCode table_code{4, 2, 3, 0, 0, true};
constexpr std::size_t unit_lengths[] = {32 * 1024, 64 * 1024};
constexpr std::string_view table_styles[] = {"direct", "iterative"};
constexpr std::chrono::minutes compiler_time_max(2);
using Byte = unsigned char;

struct Coder {
  std::string style;
  std::size_t unit_bytes = 0;
  bool is_openmp = false;
  std::string name = {};  // function name
  ir::Program program;
  void* function = nullptr;
};

// One stripe as the emitted functions expect it: n holds all data units, r all parity units.
class Stripe {
 public:
  explicit Stripe(std::size_t unit_bytes)
      : unit_bytes_(unit_bytes),
        n_(table_code.data * table_code.word_bits * unit_bytes),
        r_(table_code.parity * table_code.word_bits * unit_bytes) {
    bench::fill_random(n_, 1);
  }

  std::size_t data_bytes() const { return n_.size(); }
  const Byte* n() const { return reinterpret_cast<const Byte*>(n_.data()); }
  Byte* r() { return reinterpret_cast<Byte*>(r_.data()); }

  bool is_right(const ir::Program& program) const {
    std::vector<std::byte> expected(r_.size());
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (std::size_t at = 0; at < n_.size(); at += unit_bytes_)
      inputs.push_back(n_.data() + at);
    for (std::size_t at = 0; at < r_.size(); at += unit_bytes_)
      outputs.push_back(expected.data() + at);
    ir::interpret(program, inputs, outputs, unit_bytes_);
    return r_ == expected;
  }

  // Memory traffic without arithmetic.
  bench::Call roof_call() {
    const std::size_t shard_bytes = table_code.word_bits * unit_bytes_;
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> outputs;
    for (std::size_t at = 0; at < n_.size(); at += shard_bytes)
      sources.push_back(n_.data() + at);
    for (std::size_t at = 0; at < r_.size(); at += shard_bytes)
      outputs.push_back(r_.data() + at);
    const bench::RoofKernel kernel =
        bench::roof_kernel(bench::RoofStores::plain, sources.size(), shard_bytes);
    return [=] {
      kernel(sources, outputs, shard_bytes);
      return true;
    };
  }

 private:
  std::size_t unit_bytes_;
  std::vector<std::byte> n_;
  std::vector<std::byte> r_;
};

bench::Call call_of(const Coder& coder, Stripe& stripe, int threads) {
  if (coder.is_openmp) {
    const auto function = reinterpret_cast<void (*)(const Byte*, Byte*, int)>(coder.function);
    return [function, &stripe, threads] {
      function(stripe.n(), stripe.r(), threads);
      return true;
    };
  }
  const auto function = reinterpret_cast<void (*)(const Byte*, Byte*)>(coder.function);
  return [function, &stripe] {
    function(stripe.n(), stripe.r());
    return true;
  };
}

// All emitted functions in one library. It stays loaded because idle OpenMP threads run its code.
Status build(std::vector<Coder>& coders) {
  const auto asked = environment("CALPE_CC");
  const auto compiler = find_program(asked.value_or("cc"));
  if (!compiler) return make_error(ErrorCode::backend_unavailable, "no C compiler in PATH");
  CALPE_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  const std::string library = text(folder.path(), "/emitted.so");
  std::vector<std::string> command = {*compiler, "-std=c11", "-O3",     "-march=native",
                                      "-fPIC",   "-shared",  "-fopenmp"};
  for (const Coder& coder : coders) {
    const emit::Options options{.unit_bytes = coder.unit_bytes, .name = coder.name};
    const emit::Target target = coder.is_openmp ? emit::Target::openmp : emit::Target::c;
    CALPE_TRY(const std::string source, emit::emit(coder.program, target, options));
    command.push_back(text(folder.path(), "/", coder.name, ".c"));
    CALPE_CHECK(replace_file(command.back(), source));
  }
  command.insert(command.end(), {"-o", library});
  CALPE_TRY(Subprocess process, Subprocess::start(command, compiler_time_max));
  if (const ExitStatus status = process.wait(); !status.is_success()) {
    return make_error(ErrorCode::backend_unavailable, *compiler, " -fopenmp ", to_string(status),
                      ": ", status.output.substr(0, 200));
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NODELETE);
  for (Coder& coder : coders) {
    coder.function = handle == nullptr ? nullptr : dlsym(handle, coder.name.c_str());
    if (coder.function == nullptr) return make_error(ErrorCode::backend_unavailable, dlerror());
  }
  return Done{};
}

Result<std::vector<Coder>> make_coders() {
  std::vector<Coder> coders;
  for (const std::string_view style : table_styles) {
    CALPE_TRY(const Equations equations, make_equations(arguments_of(table_code, style)));
    for (const std::size_t unit_bytes : unit_lengths) {
      for (const bool is_openmp : {false, true}) {
        coders.push_back({.style = std::string(style),
                          .unit_bytes = unit_bytes,
                          .is_openmp = is_openmp,
                          .name = fmt::format("coder_{}_{}_{}", style, unit_bytes,
                                              is_openmp ? "openmp" : "sequential"),
                          .program = equations.program});
      }
    }
  }
  CALPE_CHECK(build(coders));
  return coders;
}

// The paper's rates in MiB/s: processors 1 and 2, GPUs 1 and 2.
Json published(const Coder& coder) {
  struct Entry {
    std::string_view style;
    std::size_t unit_bytes;
    double sequential[2];
    double openmp[2];
    double opencl[2];
  };
  constexpr Entry entries[] = {
      {"direct", 32 * 1024, {124.3, 44.9}, {189.7, 179.3}, {224.4, 299.9}},
      {"iterative", 32 * 1024, {168.9, 72.0}, {269.8, 256.1}, {222.2, 407.1}},
      {"direct", 64 * 1024, {111.3, 54.6}, {181.2, 181.4}, {273.2, 318.6}},
      {"iterative", 64 * 1024, {252.6, 70.7}, {464.1, 257.3}, {263.6, 410.3}}};
  for (const Entry& entry : entries) {
    if (entry.style != coder.style || entry.unit_bytes != coder.unit_bytes) continue;
    const auto& cpus = coder.is_openmp ? entry.openmp : entry.sequential;
    return {{"core_i5_m520", cpus[0]},
            {"phenom_ii_x4_840", cpus[1]},
            {"opencl_quadro_fx_880m", entry.opencl[0]},
            {"opencl_quadro_600", entry.opencl[1]}};
  }
  return {};
}

void add_rate(Json& row, const std::string& prefix, std::size_t bytes,
              const bench::Samples& samples) {
  const double best = bench::quantile(samples, 0);
  row[prefix + "bytes"] = bytes;
  row[prefix + "seconds"] = bench::rounded(best);
  row[prefix + "gb_per_s"] = bench::rounded(static_cast<double>(bytes) / best / 1e9);
}

// Interleaves the two styles and the roof, all with the same number of threads.
Status measure_group(const std::vector<Coder>& coders, std::size_t unit_bytes, bool is_openmp,
                     const BenchExtent& extent, Json& rows) {
  const unsigned threads = is_openmp ? std::max(1U, std::thread::hardware_concurrency()) : 1;
  std::vector<Stripe> stripes(threads, Stripe(unit_bytes));
  Stripe& stripe = stripes.front();
  std::vector<bench::Contestant> contestants;
  std::vector<const Coder*> timed;
  for (const Coder& coder : coders) {
    if (coder.unit_bytes != unit_bytes || coder.is_openmp != is_openmp) continue;
    contestants.push_back({coder.name, {call_of(coder, stripe, static_cast<int>(threads))}});
    timed.push_back(&coder);
    contestants.back().lanes.front()();
    if (!stripe.is_right(coder.program))
      return make_error(ErrorCode::corrupt, coder.name, " differs from the reference");
  }
  contestants.push_back({"roof", {}});
  for (Stripe& each : stripes)
    contestants.back().lanes.push_back(each.roof_call());
  bench::RoundOptions options;
  options.seconds = extent.seconds(0.5, 5);
  options.rounds = extent.rounds;
  options.clock = is_openmp ? bench::Clock::wall : bench::Clock::thread_cpu;
  CALPE_TRY(const std::vector<bench::Samples> samples, bench::run_rounds(contestants, options));
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const std::size_t bytes = stripe.data_bytes();
    Json row = {{"operation", "encode"},
                {"style", timed[i]->style},
                {"data_shards", table_code.data},
                {"parity_shards", table_code.parity},
                {"word_bits", table_code.word_bits},
                {"unit_bytes", unit_bytes},
                {"processing", is_openmp ? "openmp" : "sequential"},
                {"threads", threads},
                {"xors", ir::cost(timed[i]->program).xors},
                {"rounds", samples[i].size()},
                {"bytes_counted", fmt::format("{} data shards x {} units x {} bytes",
                                              table_code.data, table_code.word_bits, unit_bytes)}};
    add_rate(row, "", bytes, samples[i]);
    row["seconds_median"] = bench::rounded(bench::quantile(samples[i], 0.5));
    row["gb_per_s_median"] =
        bench::rounded(static_cast<double>(bytes) / 1e9 / bench::quantile(samples[i], 0.5));
    add_rate(row, "roof_", bytes * threads, samples.back());
    row["published_mib_per_s"] = published(*timed[i]);
    rows.push_back(std::move(row));
  }
  return Done{};
}

}  // namespace

Result<Json> count_xors(const BenchExtent& extent) {
  Json rows = Json::array();
  for (const CountedCode& code : counted_codes) {
    if (!code.is_quick && !extent.is_full()) continue;
    Json row = {{"code", fmt::format("cauchy {}+{}, w={}", code.data, code.parity, code.word_bits)},
                {"data_shards", code.data},
                {"parity_shards", code.parity},
                {"word_bits", code.word_bits}};
    for (const std::string_view style : {"direct", "iterative", "optimised"}) {
      extent.on_progress(fmt::format("XORs of {}+{}, {}", code.data, code.parity, style));
      EquationsArguments arguments = arguments_of(code, style);
      // The standard search takes seconds for the widest codes.
      if (!extent.is_full() && code.data >= 20) arguments.budget = "fast";
      CALPE_TRY(const Equations equations, make_equations(arguments));
      row[std::string(style)] = ir::cost(equations.program).xors;
    }
    if (code.published_direct != 0) {
      row["published_direct"] = code.published_direct;
      row["published_iterative"] = code.published_iterative;
    }
    rows.push_back(std::move(row));
  }
  return Json{{"title", "XORs of an encoder: direct, iterative, optimised"},
              {"counted", "two-input XORs of one unit"},
              {"rows", rows}};
}

Result<Json> measure_emitted(const BenchExtent& extent) {
  Json section = {{"title", "Emitted C code, sequential and OpenMP"}};
  extent.on_progress("compiling emitted code");
  auto coders = make_coders();
  if (!coders) {
    if (coders.error().code == ErrorCode::corrupt) return std::move(coders).error();
    section["status"] = "not measured";
    section["reason"] = coders.error().message;
    return section;
  }
  section["rows"] = Json::array();
  for (const std::size_t unit_bytes : unit_lengths) {
    for (const bool is_openmp : {false, true}) {
      extent.on_progress(fmt::format("emitted code, units of {} KiB", unit_bytes / 1024));
      CALPE_CHECK(measure_group(*coders, unit_bytes, is_openmp, extent, section["rows"]));
    }
  }
  return section;
}

}  // namespace calpe::tools
