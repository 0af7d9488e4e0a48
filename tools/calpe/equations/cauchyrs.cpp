// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/cauchyrs.hpp"

#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/equations/equations_arguments.hpp"

namespace calpe::tools {

namespace {

constexpr std::string_view help =
    "Write Cauchy Reed-Solomon coders as OpenCL or OpenMP source code\n\n"
    "Usage: cauchyrs -k=N -m=N [OPTIONS]\n\n"
    "  -k=N -m=N              Data and parity shards\n"
    "  -w=N                   Units per shard (default: smallest w with 2^w >= k+m)\n"
    "  --ocl_encoder          OpenCL encoder: kernels crs, crs_16 and crs_64\n"
    "  --omp_encoder          OpenMP encoder: function calc\n"
    "  --ocl_decoder          OpenCL decoder for the shards in --lost\n"
    "  --omp_decoder          OpenMP decoder for the shards in --lost\n"
    "  --lost=SHARDS          Lost shards, such as 0,3\n"
    "  --ocl_file=FILE, --omp_file=FILE\n"
    "                         Output file (default: standard output)\n"
    "  --ocl_unit_len=N, --omp_unit_len=N\n"
    "                         Bytes per unit (default: a parameter)\n"
    "  --ocl_encstyle=STYLE, --omp_encstyle=STYLE\n"
    "                         direct, iterative or optimised (default: direct)\n"
    "  --encstyle=STYLE       Style of the equations printed when no coder is given\n\n"
    "Exit codes: 0 done, 1 the answer is no, 3 wrong usage, 4 I/O error.\n"
    "Example: cauchyrs -k=5 -m=2 --ocl_encoder --ocl_file=crs5+2.cl --ocl_unit_len=2048 "
    "--ocl_encstyle=iterative\n"
    "See calpe-equations(1).\n";

constexpr std::string_view names[] = {"-k",
                                      "-m",
                                      "-w",
                                      "--lost",
                                      "--encstyle",
                                      "--ocl_encoder",
                                      "--ocl_decoder",
                                      "--ocl_file",
                                      "--ocl_unit_len",
                                      "--ocl_encstyle",
                                      "--omp_encoder",
                                      "--omp_decoder",
                                      "--omp_file",
                                      "--omp_unit_len",
                                      "--omp_encstyle"};

bool is_flag(std::string_view name) {
  return name.ends_with("coder");
}

using Options = std::map<std::string, std::string, std::less<>>;

// Accepts "-k=5" and "-k 5".
Result<Options> read_options(std::span<char* const> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    bool is_known = false;
    for (const std::string_view known : names)
      is_known = is_known || known == name;
    if (!is_known) return invalid("unknown option ", name, "; see cauchyrs --help");
    std::string value;
    if (equals != std::string_view::npos) {
      if (is_flag(name)) return invalid(name, " takes no value");
      value = argument.substr(equals + 1);
    } else if (!is_flag(name)) {
      if (++i == arguments.size())
        return invalid(name, " has no value; write for example ", name, "=5");
      value = arguments[i];
    }
    if (!options.emplace(name, value).second) return invalid(name, " is given twice");
  }
  return options;
}

Result<std::size_t> number_of(std::string_view name, std::string_view value, std::size_t max) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number <= max) return number;
  return invalid(name, " is \"", value, "\"; expected a number of at most ", max);
}

class Reader {
 public:
  explicit Reader(Options options) : options_(std::move(options)) {}

  // Returns the requested coders: "ocl", "omp", both or none.
  std::vector<std::string> coders() const {
    std::vector<std::string> found;
    for (const std::string kind : {"ocl", "omp"}) {
      if (has("--" + kind + "_encoder") || has("--" + kind + "_decoder")) found.push_back(kind);
    }
    return found;
  }

  Result<EquationsArguments> arguments(const std::string& coder) const {
    EquationsArguments result;
    constexpr std::size_t shards_max = 65535;
    CALPE_TRY(const std::size_t k, number("-k", shards_max));
    CALPE_TRY(const std::size_t m, number("-m", shards_max));
    CALPE_TRY(const std::size_t w, number("-w", 64));
    if (k == 0 || m == 0) return invalid("-k or -m is missing; write for example -k=5 -m=2");
    result.data = static_cast<unsigned>(k);
    result.parity = static_cast<unsigned>(m);
    result.word_bits = static_cast<unsigned>(w);
    CALPE_CHECK(read_style(coder.empty() ? "--encstyle" : "--" + coder + "_encstyle", result));
    CALPE_CHECK(read_lost(coder, result));
    if (coder.empty()) return result;
    CALPE_TRY(result.unit_bytes, number("--" + coder + "_unit_len", std::size_t{1} << 40U));
    result.output = value("--" + coder + "_file");
    result.emit = coder == "ocl" ? "opencl" : "openmp";
    result.name = coder == "ocl" ? "crs" : "calc";
    return result;
  }

 private:
  bool has(std::string_view name) const { return options_.find(name) != options_.end(); }
  std::string value(std::string_view name) const {
    const auto found = options_.find(name);
    return found == options_.end() ? std::string() : found->second;
  }
  Result<std::size_t> number(std::string_view name, std::size_t max) const {
    if (!has(name)) return std::size_t{0};
    return number_of(name, value(name), max);
  }

  Status read_style(std::string_view name, EquationsArguments& result) const {
    result.style = has(name) ? value(name) : "direct";
    if (result.style == "direct" || result.style == "iterative" || result.style == "optimised")
      return Done{};
    return invalid(name, " is \"", result.style, "\"; expected direct, iterative or optimised");
  }

  Status read_lost(const std::string& coder, EquationsArguments& result) const {
    const bool is_decoder = has("--" + coder + "_decoder");
    if (is_decoder && has("--" + coder + "_encoder")) {
      return invalid("--", coder, "_encoder and --", coder, "_decoder cannot be combined");
    }
    if (is_decoder && !has("--lost"))
      return invalid("--", coder, "_decoder needs the lost shards; write for example --lost=0,3");
    if (!is_decoder && !coder.empty()) return Done{};
    const std::string list = value("--lost");
    for (std::size_t start = 0; start < list.size();) {
      const std::size_t end = std::min(list.find(',', start), list.size());
      CALPE_TRY(const std::size_t shard,
                number_of("--lost", std::string_view(list).substr(start, end - start), 65535));
      result.lose.push_back(static_cast<ShardIndex>(shard));
      start = end + 1;
    }
    return Done{};
  }

  Options options_;
};

Result<int> run_all(std::span<char* const> arguments) {
  CALPE_TRY(Options options, read_options(arguments));
  const Reader reader(std::move(options));
  std::vector<std::string> coders = reader.coders();
  if (coders.empty()) coders.emplace_back();
  int exit_code = 0;
  for (const std::string& coder : coders) {
    CALPE_TRY(const EquationsArguments request, reader.arguments(coder));
    exit_code = std::max(exit_code, run_equations(request, "cauchyrs"));
  }
  return exit_code;
}

}  // namespace

int run_cauchyrs(std::span<char* const> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument != "--help" && argument != "-h") continue;
    fmt::print("{}", help);
    return 0;
  }
  const auto exit_code = run_all(arguments);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "cauchyrs: {}\n", exit_code.error().message);
  return exit_code_of(exit_code.error().code);
}

}  // namespace calpe::tools
