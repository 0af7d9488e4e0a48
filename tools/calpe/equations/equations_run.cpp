// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/equations_run.hpp"

#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <random>
#include <vector>

#include "base/env.hpp"
#include "base/files.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/equations/opencl_host.hpp"
#include "ir/interpret.hpp"

namespace calpe::tools {

namespace {

using Kind = RunOutcome::Kind;

constexpr std::chrono::minutes compiler_time_max(5);
// Limits the time of the reference, which works byte by byte.
constexpr std::size_t trial_bytes_max = std::size_t{64} << 20U;

// Defines the CUDA built-ins used by emitted kernels for a C++ compiler, and runs the threads one
// by one. Tests what the source code means, not how it runs on a GPU.
constexpr std::string_view cuda_shim = R"(#include <cstddef>
struct ShimIndex { unsigned x; };
static ShimIndex blockIdx, blockDim, threadIdx;
#define __global__
#define __launch_bounds__(threads)
#define __HIPCC_RTC__ // so that HIP does not include its header
template <class... Parameters, class... Arguments>
void shim_launch(void (*kernel)(Parameters...), size_t threads, Arguments... arguments) {
  blockDim.x = 32;
  for (blockIdx.x = 0; blockIdx.x * 32 < threads; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < 32; ++threadIdx.x)
      kernel(static_cast<Parameters>(arguments)...);
}
)";

// An array of inputs, an array of outputs, and the expected outputs. Gaps between units and a
// margin after the last are random and must not change.
class Units {
 public:
  Units(const ir::Program& program, std::size_t unit_bytes, std::size_t stride, std::uint64_t seed)
      : n_(program.inputs() * stride + margin), r_(program.outputs() * stride + margin) {
    std::mt19937_64 random(seed + unit_bytes);
    for (std::byte& byte : n_)
      byte = static_cast<std::byte>(random());
    for (std::byte& byte : r_)
      byte = static_cast<std::byte>(random());
    expected_ = r_;
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (std::size_t u = 0; u < program.inputs(); ++u)
      inputs.push_back(n_.data() + u * stride);
    for (std::size_t u = 0; u < program.outputs(); ++u)
      outputs.push_back(expected_.data() + u * stride);
    ir::interpret(program, inputs, outputs, unit_bytes);
  }

  std::span<const std::byte> n() const { return n_; }
  std::span<std::byte> r() { return r_; }
  bool is_right() const { return r_ == expected_; }

 private:
  static constexpr std::size_t margin = 64;
  std::vector<std::byte> n_;
  std::vector<std::byte> r_;
  std::vector<std::byte> expected_;
};

struct Length {
  std::size_t unit_bytes = 0;
  std::size_t stride = 0;
};

// Lengths below a word, of partial words, and of words with a tail; strides the vector kernels
// accept.
std::vector<Length> lengths_of(const emit::Options& options) {
  if (options.unit_bytes != 0) return {{options.unit_bytes, options.unit_bytes}};
  return {{1, 64}, {7, 64}, {64, 64}, {203, 256}, {4096, 4160}};
}

std::string name_lengths(const std::vector<Length>& lengths) {
  std::vector<std::size_t> bytes;
  bytes.reserve(lengths.size());
  for (const Length& length : lengths)
    bytes.push_back(length.unit_bytes);
  return fmt::format("units of {} bytes", fmt::join(bytes, ", "));
}

RunOutcome wrong_bytes(std::size_t unit_bytes) {
  return {Kind::wrong, fmt::format("units of {} bytes differ from the reference", unit_bytes)};
}

std::optional<std::string> find_one_of(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (auto found = find_program(name)) return found;
  }
  return std::nullopt;
}

// Returns nullopt on success.
std::optional<RunOutcome> run_tool(const std::vector<std::string>& command) {
  auto process = Subprocess::start(command, compiler_time_max);
  if (!process) return RunOutcome{Kind::skipped, process.error().message};
  const ExitStatus status = process->wait();
  if (status.is_success()) return std::nullopt;
  return RunOutcome{Kind::wrong, fmt::format("{} {}: {}", command[0], to_string(status),
                                             status.output.substr(0, 2000))};
}

class Job {
 public:
  Job(const ir::Program& program, const emit::Options& options, std::uint64_t seed,
      TemporaryFolder folder)
      : program_(program), options_(options), seed_(seed), folder_(std::move(folder)) {}

  RunOutcome run(emit::Target target) {
    auto text = emit::emit(program_, target, options_);
    if (!text) return {Kind::wrong, text.error().message};
    text_ = *std::move(text);
    switch (target) {
      case emit::Target::c:
      case emit::Target::openmp:
        return run_c(target == emit::Target::openmp);
      case emit::Target::opencl:
        return run_opencl();
      case emit::Target::cuda:
      case emit::Target::hip:
        return run_cuda(target == emit::Target::hip);
      case emit::Target::ptx:
        return assemble_ptx();
      case emit::Target::spirv:
        return validate_spirv();
    }
    return {Kind::wrong, "unknown target"};
  }

 private:
  using Bytes = unsigned char;

  std::string path(std::string_view name) const { return text(folder_.path(), "/", name); }
  bool is_baked() const { return options_.unit_bytes != 0; }

  std::optional<RunOutcome> write(const std::string& name, std::string_view content) const {
    const Status written = replace_file(path(name), content);
    if (written) return std::nullopt;
    return RunOutcome{Kind::skipped, written.error().message};
  }

  // Never unloads the library: idle OpenMP threads still run code from it.
  void* load(const std::string& function, RunOutcome& failure) const {
    void* const library = dlopen(path("emitted.so").c_str(), RTLD_NOW | RTLD_NODELETE);
    void* const symbol = library == nullptr ? nullptr : dlsym(library, function.c_str());
    if (symbol == nullptr) failure = {Kind::wrong, dlerror()};
    return symbol;
  }

  RunOutcome run_c(bool openmp) {
    const auto asked = environment("CALPE_CC");
    const auto compiler = asked ? find_program(*asked) : find_one_of({"cc", "gcc", "clang"});
    if (!compiler && asked)
      return {Kind::skipped, fmt::format("CALPE_CC={}: no such program", *asked)};
    if (!compiler) return {Kind::skipped, "no C compiler in PATH; apt install gcc"};
    if (auto failure = write("emitted.c", text_)) return *failure;
    std::vector<std::string> command = {*compiler, "-std=c11", "-O1", "-fPIC", "-shared"};
    if (openmp) command.emplace_back("-fopenmp");
    command.insert(command.end(), {path("emitted.c"), "-o", path("emitted.so")});
    if (auto failure = run_tool(command)) return *failure;
    RunOutcome failure;
    void* const function = load(options_.name, failure);
    if (function == nullptr) return failure;
    for (const Length& length : lengths_of(options_)) {
      Units units(program_, length.unit_bytes, length.stride, seed_);
      call_c(function, openmp, length, units);
      if (!units.is_right()) return wrong_bytes(length.unit_bytes);
    }
    return {Kind::equal, fmt::format("{}{}, {}", *compiler, openmp ? " -fopenmp, 2 threads" : "",
                                     name_lengths(lengths_of(options_)))};
  }

  void call_c(void* function, bool openmp, const Length& length, Units& units) const {
    const auto* const n = reinterpret_cast<const Bytes*>(units.n().data());
    auto* const r = reinterpret_cast<Bytes*>(units.r().data());
    constexpr int threads = 2;
    using Size = std::size_t;
    if (is_baked() && openmp) {
      reinterpret_cast<void (*)(const Bytes*, Bytes*, int)>(function)(n, r, threads);
    } else if (is_baked()) {
      reinterpret_cast<void (*)(const Bytes*, Bytes*)>(function)(n, r);
    } else if (openmp) {
      reinterpret_cast<void (*)(const Bytes*, Bytes*, Size, Size, int)>(function)(
          n, r, length.unit_bytes, length.stride, threads);
    } else {
      reinterpret_cast<void (*)(const Bytes*, Bytes*, Size, Size)>(function)(
          n, r, length.unit_bytes, length.stride);
    }
  }

  // Runs the byte kernel alone, then each vector kernel followed by the byte kernel for the tail.
  RunOutcome run_opencl() {
    auto host = OpenClHost::open();
    if (!host) return {Kind::skipped, host.error().message};
    if (auto built = host->build(text_); !built) return {Kind::wrong, built.error().message};
    for (const Length& length : lengths_of(options_)) {
      std::vector<std::uint64_t> numbers;
      if (!is_baked()) numbers = {length.unit_bytes, length.stride};
      for (const std::size_t width : {std::size_t{1}, std::size_t{16}, std::size_t{64}}) {
        if (length.stride % width != 0) continue;
        const std::size_t words = width == 1 ? 0 : length.unit_bytes / width;
        const std::size_t done = words * width;
        const OpenClHost::Launch launches[] = {
            {fmt::format("{}_{}", options_.name, width), 0, words, numbers},
            {options_.name, done, length.unit_bytes - done, numbers}};
        Units units(program_, length.unit_bytes, length.stride, seed_);
        if (auto run = host->run(launches, units.n(), units.r()); !run)
          return {Kind::wrong, run.error().message};
        if (!units.is_right()) return wrong_bytes(length.unit_bytes);
      }
    }
    return {Kind::equal,
            fmt::format("{}, {}", host->device_name(), name_lengths(lengths_of(options_)))};
  }

  RunOutcome run_cuda(bool is_hip) {
    // Prefer clang++: g++ takes twenty times as long for long sums of bytes.
    const auto compiler = find_one_of({"clang++", "c++", "g++"});
    if (!compiler) return {Kind::skipped, "no C++ compiler in PATH; apt install g++"};
    const std::string lengths = is_baked() ? "" : ", bytes, stride";
    const std::string launcher = fmt::format(
        "extern \"C\" void launch(const unsigned char* n, unsigned char* r, size_t bytes,\n"
        "                         size_t stride) {{\n"
        "  const size_t words = stride % 4 == 0 ? bytes / 4 : 0;\n"
        "  if (words != 0) shim_launch({0}_4, words, n, r{1});\n"
        "  shim_launch({0}, bytes - words * 4, n, r, words * 4{1});\n}}\n",
        options_.name, lengths);
    if (auto failure = write("shim.cpp", text(cuda_shim, text_, launcher))) return *failure;
    if (auto failure = run_tool({*compiler, "-std=c++17", "-O0", "-fPIC", "-shared",
                                 path("shim.cpp"), "-o", path("emitted.so")})) {
      return *failure;
    }
    RunOutcome failure;
    void* const function = load("launch", failure);
    if (function == nullptr) return failure;
    for (const Length& length : lengths_of(options_)) {
      Units units(program_, length.unit_bytes, length.stride, seed_);
      reinterpret_cast<void (*)(const Bytes*, Bytes*, std::size_t, std::size_t)>(function)(
          reinterpret_cast<const Bytes*>(units.n().data()),
          reinterpret_cast<Bytes*>(units.r().data()), length.unit_bytes, length.stride);
      if (!units.is_right()) return wrong_bytes(length.unit_bytes);
    }
    const std::string done =
        fmt::format("{} with a shim on the CPU, {}", *compiler, name_lengths(lengths_of(options_)));
    return is_hip ? after_hipcc(done) : after_nvcc(done);
  }

  RunOutcome after_hipcc(const std::string& done) const {
    const auto hipcc = find_one_of({"hipcc", "/opt/rocm/bin/hipcc"});
    if (!hipcc) return {Kind::equal, done + "; hipcc not found"};
    if (auto failure = write("emitted.hip", text_)) return *failure;
    if (auto failure = run_tool({*hipcc, "-x", "hip", "--cuda-device-only", "--offload-arch=gfx90a",
                                 "-O0", "-S", path("emitted.hip"), "-o", path("emitted.s")})) {
      return *failure;
    }
    return {Kind::equal, done + "; hipcc compiles it"};
  }

  RunOutcome after_nvcc(const std::string& done) const {
    const auto nvcc = find_one_of({"nvcc", "/usr/local/cuda/bin/nvcc"});
    if (!nvcc) return {Kind::equal, done + "; nvcc not found"};
    if (auto failure = write("emitted.cu", text_)) return *failure;
    // -G disables optimisation, which would take three times as long.
    if (auto failure = run_tool(
            {*nvcc, "-arch=sm_75", "-G", "-ptx", path("emitted.cu"), "-o", path("emitted.ptx")})) {
      return *failure;
    }
    return {Kind::equal, done + "; nvcc compiles it"};
  }

  RunOutcome assemble_ptx() const {
    const auto ptxas = find_one_of({"ptxas", "/usr/local/cuda/bin/ptxas"});
    if (!ptxas) return {Kind::skipped, "no ptxas; it is part of NVIDIA's CUDA toolkit"};
    if (auto failure = write("emitted.ptx", text_)) return *failure;
    if (auto failure =
            run_tool({*ptxas, "-arch=sm_75", path("emitted.ptx"), "-o", path("emitted.cubin")})) {
      return *failure;
    }
    return {Kind::accepted, fmt::format("{} assembles it; not run", *ptxas)};
  }

  RunOutcome validate_spirv() const {
    const auto validator = find_program("spirv-val");
    if (!validator) return {Kind::skipped, "no spirv-val in PATH; apt install spirv-tools"};
    if (auto failure = write("emitted.spv", text_)) return *failure;
    if (auto failure = run_tool({*validator, "--target-env", "vulkan1.2", path("emitted.spv")})) {
      return *failure;
    }
    return {Kind::accepted, fmt::format("{} validates it; not run", *validator)};
  }

  const ir::Program& program_;
  const emit::Options& options_;
  std::uint64_t seed_;
  TemporaryFolder folder_;
  std::string text_;
};

}  // namespace

std::string_view to_string(RunOutcome::Kind kind) {
  switch (kind) {
    case Kind::equal:
      return "equal";
    case Kind::accepted:
      return "accepted";
    case Kind::skipped:
      return "skipped";
    case Kind::wrong:
      break;
  }
  return "WRONG";
}

RunOutcome compile_and_run(const ir::Program& program, emit::Target target,
                           const emit::Options& options, std::uint64_t seed) {
  const std::size_t units = std::size_t{program.inputs()} + program.outputs();
  if (units != 0 && options.unit_bytes > trial_bytes_max / units) {
    return {Kind::skipped, fmt::format("{} units of {} bytes are too large for a trial; use "
                                       "--unit-bytes of at most {}",
                                       units, options.unit_bytes, trial_bytes_max / units)};
  }
  auto folder = TemporaryFolder::create();
  if (!folder) return {Kind::skipped, folder.error().message};
  return Job(program, options, seed, *std::move(folder)).run(target);
}

}  // namespace calpe::tools
