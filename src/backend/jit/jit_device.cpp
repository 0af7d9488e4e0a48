// SPDX-License-Identifier: Apache-2.0
#include "backend/jit/jit_device.hpp"

#include "backend/techniques.hpp"
#include "base/text.hpp"

#if defined(__x86_64__) && defined(__linux__) && !defined(CALPE_WITHOUT_JIT)

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "backend/jit/jit_kernel.hpp"
#include "base/cpu_features.hpp"
#include "base/dump.hpp"
#include "base/try.hpp"
#include "ir/text_form.hpp"

namespace calpe::backend::jit {

namespace {

struct Variant {
  std::string_view name;
  std::string_view description;
  InstructionSet set;
  ir::CostModel cost_model;
};

constexpr std::array variants = {
    Variant{"avx2",
            "XOR programs as AVX2 machine code",
            InstructionSet::avx2,
            {.values_in_registers = true,
             .registers = 15,
             .vector_bytes = 32,
             .three_input_xor = false}},
    Variant{"avx512",
            "XOR programs as AVX-512 machine code with three-input XOR",
            InstructionSet::avx512,
            {.values_in_registers = true,
             .registers = 31,
             .vector_bytes = 64,
             .three_input_xor = true}},
};

std::string missing_text(const Variant& variant) {
  const bool is_here =
      variant.set == InstructionSet::avx512 ? cpu_features().avx512 : cpu_features().avx2;
  if (is_here) return {};
  return text("this CPU has no ", variant.set == InstructionSet::avx512 ? "AVX-512" : "AVX2");
}

class CompiledKernel : public Kernel {
 public:
  CompiledKernel(std::optional<JitKernel> code, KernelRef generic)
      : code_(std::move(code)), generic_(std::move(generic)) {}
  const JitKernel* code() const noexcept { return code_ ? &*code_ : nullptr; }
  const Kernel& generic() const noexcept { return *generic_; }

 private:
  std::optional<JitKernel> code_;  // none for gf programs and very wide ones
  KernelRef generic_;              // kernel of the cpu device
};

class JitDevice : public Device {
 public:
  JitDevice(const Variant& variant, std::unique_ptr<Device> cpu)
      : variant_(variant), name_(text("jit:", variant.name)), cpu_(std::move(cpu)) {}

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return variant_.cost_model; }

  Result<KernelRef> compile(const ir::Program& program) override {
    CALPE_TRY(KernelRef generic, cpu_->compile(program));  // also detects unsound programs
    if (program.dialect() != ir::Dialect::xor_) return wrap(std::nullopt, std::move(generic));
    std::string listing;
    Result<JitKernel> code =
        JitKernel::create(program, variant_.set, is_dumping() ? &listing : nullptr);
    if (!code && code.error().code != ErrorCode::compile_failed) return code.error();
    if (is_dumping()) {
      dump("program.txt", ir::print(program));
      dump(code ? "jit.asm" : "jit.error", code ? listing : code.error().message);
    }
    if (!code) return wrap(std::nullopt, std::move(generic));
    return wrap(*std::move(code), std::move(generic));
  }
  Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) override {
    CALPE_TRY(KernelRef generic, cpu_->compile_matrix(field, rows));
    return wrap(std::nullopt, std::move(generic));
  }
  Result<KernelRef> compile_transform(const ir::Transform& transform) override {
    CALPE_TRY(KernelRef generic, cpu_->compile_transform(transform));
    return wrap(std::nullopt, std::move(generic));
  }

  Completion submit(const Kernel& kernel, const Batch& batch) override {
    return run(kernel, batch);
  }
  Status run(const Kernel& kernel, const Batch& batch) override {
    const auto& compiled = static_cast<const CompiledKernel&>(kernel);
    const JitKernel* const code = compiled.code();
    if (code == nullptr) return cpu_->run(compiled.generic(), batch);
    const std::size_t rest = code->run(batch);
    if (rest == 0) return Done{};
    return run_rest(compiled, batch, rest);
  }

 private:
  // The last bytes of every unit. A separate function, so that the fast path saves no registers.
  [[gnu::noinline]] Status run_rest(const CompiledKernel& kernel, const Batch& batch,
                                    std::size_t rest) {
    Batch ends = batch;
    ends.geometry.offset += batch.geometry.unit_bytes - rest;
    ends.geometry.unit_bytes = rest;
    return cpu_->run(kernel.generic(), ends);
  }

  static Result<KernelRef> wrap(std::optional<JitKernel> code, KernelRef generic) {
    return KernelRef(std::make_shared<CompiledKernel>(std::move(code), std::move(generic)));
  }

  const Variant& variant_;
  std::string name_;
  std::unique_ptr<Device> cpu_;
};

// The system may forbid executable pages (SELinux, seccomp); detect this before the first kernel.
Status check_code_memory() {
  constexpr std::array<std::byte, 1> return_instruction = {std::byte{0xC3}};
  const Result<CodeMemory> memory = CodeMemory::create(return_instruction);
  if (!memory) return memory.error();
  return Done{};
}

// The best variant that the cpu device, and therefore CALPE_CPU, allows.
Result<const Variant*> choose_variant(const Device& cpu) {
  const Variant* best = nullptr;
  for (const Variant& variant : variants) {
    if (cpu.cost_model().vector_bytes >= variant.cost_model.vector_bytes) best = &variant;
  }
  if (best != nullptr) return best;
  return make_error(ErrorCode::backend_unavailable, "jit: ", cpu.name(), " has vectors of ",
                    cpu.cost_model().vector_bytes, " bytes; expected at least 32 (AVX2)");
}

Result<const Variant*> find_variant(std::string_view name) {
  for (const Variant& variant : variants) {
    if (variant.name != name) continue;
    const std::string missing = missing_text(variant);
    if (missing.empty()) return &variant;
    return make_error(ErrorCode::backend_unavailable, "jit:", name, ": ", missing);
  }
  return invalid("jit has no variant \"", name, "\"; expected avx2 or avx512");
}

}  // namespace

Result<std::unique_ptr<Device>> open_jit(std::string_view variant) {
  // The cpu path of the same name, or the best one if this build lacks it.
  const bool is_any = variant.empty() || is_left_out(variant);
  CALPE_TRY(std::unique_ptr<Device> cpu,
            open_device(is_any ? std::string("cpu") : text("cpu:", variant)));
  CALPE_TRY(const Variant* const chosen,
            variant.empty() ? choose_variant(*cpu) : find_variant(variant));
  CALPE_CHECK(check_code_memory());
  return std::unique_ptr<Device>(std::make_unique<JitDevice>(*chosen, std::move(cpu)));
}

std::vector<BackendStatus> list_jit() {
  std::vector<BackendStatus> rows;
  const Result<std::unique_ptr<Device>> chosen = open_jit({});
  rows.push_back({.name = "jit",
                  .description = chosen ? text("uses ", (*chosen)->name())
                                        : std::string("XOR programs as machine code"),
                  .available = chosen.has_value(),
                  .reason = chosen ? std::string() : chosen.error().message});
  for (const Variant& variant : variants) {
    const Result<std::unique_ptr<Device>> device = open_jit(variant.name);
    rows.push_back({.name = text("jit:", variant.name),
                    .description = std::string(variant.description),
                    .available = device.has_value(),
                    .reason = device ? std::string() : device.error().message});
  }
  return rows;
}

}  // namespace calpe::backend::jit

#else

namespace calpe::backend::jit {

namespace {
#if defined(CALPE_WITHOUT_JIT)
constexpr std::string_view reason = left_out_text;
#else
constexpr std::string_view reason = "supports only x86-64 Linux";
#endif
}  // namespace

Result<std::unique_ptr<Device>> open_jit(std::string_view) {
  return make_error(ErrorCode::backend_unavailable, "jit: ", reason);
}

std::vector<BackendStatus> list_jit() {
  return {{.name = "jit",
           .description = "XOR programs as machine code",
           .available = false,
           .reason = std::string(reason)}};
}

}  // namespace calpe::backend::jit

#endif
