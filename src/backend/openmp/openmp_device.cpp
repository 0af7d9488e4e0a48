// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/openmp_device.hpp"

#include <charconv>
#include <utility>

#include "backend/openmp/builds.hpp"
#include "base/env.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/process_fork.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "emit/emit.hpp"

namespace calpe::backend::openmp {

namespace {

constexpr int threads_max = 1024;
// Compile time grows faster than the number of terms: 3 s for 6,400 terms.
constexpr std::size_t terms_max = 20'000;
// The columns after the last vector are copied to the stack: 64 bytes per unit.
constexpr std::size_t units_max = 1024;

class OpenMpKernel : public Kernel {
 public:
  OpenMpKernel(KernelRef generic, std::shared_ptr<Build> build)
      : generic_(std::move(generic)), build_(std::move(build)) {}
  OpenMpKernel(const OpenMpKernel&) = delete;
  OpenMpKernel& operator=(const OpenMpKernel&) = delete;
  // In a forked child, the compiler and directory belong to the parent.
  ~OpenMpKernel() override {
    if (mark_.is_inherited()) keep_for_good(std::move(build_));
  }
  const Kernel& generic() const noexcept { return *generic_; }
  const std::shared_ptr<Build>& build() const noexcept {
    return build_;
  }  // null: never compiled, as for gf programs

 private:
  const ProcessMark mark_;
  KernelRef generic_;
  std::shared_ptr<Build> build_;
};

// OpenMP's threads do not survive fork(); a child that uses them would wait forever.
constinit ProcessClaim openmp_threads;

class OpenMpDevice : public Device {
 public:
  OpenMpDevice(std::shared_ptr<Workplace> workplace, bool waits)
      : workplace_(std::move(workplace)),
        name_(workplace_->threads == 1 ? std::string("openmp")
                                       : text("openmp:", workplace_->threads)),
        cost_model_(workplace_->generic->cost_model()),
        waits_(waits),
        has_threads_(workplace_->threads == 1 || openmp_threads.is_ours()) {
    // Compilers find three-input XORs themselves if the vector extension has them.
    cost_model_.three_input_xor = cost_model_.vector_bytes >= 64;
  }
  OpenMpDevice(const OpenMpDevice&) = delete;
  OpenMpDevice& operator=(const OpenMpDevice&) = delete;
  ~OpenMpDevice() override {
    if (mark_.is_inherited()) keep_for_good(std::move(builds_));
  }

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return cost_model_; }
  bool runs_on_caller() const override { return workplace_->threads == 1 || !may_compile(); }

  Result<KernelRef> compile(const ir::Program& program) override {
    CALPE_TRY(KernelRef generic,
              workplace_->generic->compile(program));  // detects unsound programs
    const bool is_empty = program.inputs() == 0 || program.outputs() == 0;
    if (program.dialect() != ir::Dialect::xor_ || is_empty || !may_compile())
      return wrap(std::move(generic), nullptr);
    CALPE_TRY(std::shared_ptr<Build> build, make_build(program, generic));
    if (waits_) build->finish();
    if (build->advance() || build->phase() == Phase::compiled) builds_->keep(build);
    if (waits_ && build->phase() == Phase::failed) {
      return make_error(ErrorCode::compile_failed, build->reason());
    }
    return wrap(std::move(generic), std::move(build));
  }
  Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) override {
    CALPE_TRY(KernelRef generic, workplace_->generic->compile_matrix(field, rows));
    return wrap(std::move(generic), nullptr);
  }
  Result<KernelRef> compile_transform(const ir::Transform& transform) override {
    CALPE_TRY(KernelRef generic, workplace_->generic->compile_transform(transform));
    return wrap(std::move(generic), nullptr);
  }

  Completion submit(const Kernel& kernel, const Batch& batch) override {
    return run(kernel, batch);
  }
  Status run(const Kernel& kernel, const Batch& batch) override {
    const auto& own = static_cast<const OpenMpKernel&>(kernel);
    const std::shared_ptr<Build>& build = own.build();
    if (build && may_compile() && !build->is_settled() && build->advance()) builds_->keep(build);
    const bool may_run = may_compile() || workplace_->threads == 1;
    Function* const function = build && may_run ? build->function() : nullptr;
    if (function == nullptr) return workplace_->generic->run(own.generic(), batch);
    const emit::ShardsWork work = to_work(batch, workplace_->threads);
    function(&work);
    return Done{};
  }

 private:
  // False in a forked child: only the cpu device's kernels and compiled ones without threads run
  // there.
  bool may_compile() const noexcept { return has_threads_ && !mark_.is_inherited(); }

  static Result<KernelRef> wrap(KernelRef generic, std::shared_ptr<Build> build) {
    return KernelRef(std::make_shared<OpenMpKernel>(std::move(generic), std::move(build)));
  }

  Result<std::shared_ptr<Build>> make_build(const ir::Program& program, const KernelRef& generic) {
    const std::size_t units = program.inputs() + program.outputs();
    if (program.terms().size() > terms_max || units > units_max) {
      return std::make_shared<Build>(text("program has ", program.terms().size(), " terms and ",
                                          units, " units; expected at most ", terms_max, " and ",
                                          units_max));
    }
    const emit::Target target = workplace_->threads == 1 ? emit::Target::c : emit::Target::openmp;
    Result<std::string> source =
        emit::emit(program, target, {.name = Build::function_name, .form = emit::Form::shards});
    if (!source) return std::make_shared<Build>(source.error().message);
    return builds_->share(
        std::make_shared<Build>(workplace_, *std::move(source), generic,
                                SampleShape{.input_shards = program.input_shards(),
                                            .output_shards = program.output_shards(),
                                            .unit_count = program.unit_count()}));
  }

  std::shared_ptr<Workplace> workplace_;
  std::string name_;
  ir::CostModel cost_model_;
  bool waits_;
  const bool has_threads_;
  const ProcessMark mark_;
  std::unique_ptr<Builds> builds_ = std::make_unique<Builds>();
};

Result<int> parse_threads(std::string_view variant) {
  if (variant.empty()) return 1;
  int threads = 0;
  const char* const end = variant.data() + variant.size();
  const auto [parsed_to, error] = std::from_chars(variant.data(), end, threads);
  if (error != std::errc() || parsed_to != end || threads < 1 || threads > threads_max) {
    return invalid("openmp has no variant \"", variant, "\"; expected a number of threads, 1 to ",
                   threads_max);
  }
  return threads;
}

}  // namespace

Result<std::unique_ptr<Device>> make_openmp_device(const OpenMpOptions& options) {
  auto workplace = std::make_shared<Workplace>();
  CALPE_TRY(workplace->compiler, find_compiler(options.compiler));
  CALPE_TRY(workplace->generic, open_device("cpu"));
  workplace->flags =
      compiler_flags(workplace->generic->cost_model().vector_bytes, options.threads > 1);
  workplace->threads = options.threads;
  workplace->time_limit = options.time_limit;
  CALPE_TRY(workplace->disk, kernel::DiskCache::open(options.cache));
  return std::unique_ptr<Device>(
      std::make_unique<OpenMpDevice>(std::move(workplace), options.waits));
}

Result<std::unique_ptr<Device>> open_openmp(std::string_view variant) {
  CALPE_TRY(const int threads, parse_threads(variant));
  return make_openmp_device({.compiler = environment("CALPE_CC").value_or(""),
                             .threads = threads,
                             .cache = kernel::cache_location(),
                             .waits = environment("CALPE_WAIT_COMPILE").has_value()});
}

std::vector<BackendStatus> list_openmp() {
  const Result<std::unique_ptr<Device>> device = open_openmp({});
  return {{.name = "openmp",
           .description = "XOR programs as C, compiled at run time; openmp:N uses N threads",
           .available = device.has_value(),
           .reason = device ? std::string() : device.error().message}};
}

KernelState kernel_state(const Kernel& kernel) {
  const std::shared_ptr<Build>& build = static_cast<const OpenMpKernel&>(kernel).build();
  if (!build) return {};
  return {.phase = build->phase(), .reason = build->reason()};
}

}  // namespace calpe::backend::openmp
