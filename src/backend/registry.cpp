// SPDX-License-Identifier: Apache-2.0
// The table of backends. To add one: a directory, a row here, and passing conformance tests.
#include <algorithm>
#include <array>
#include <string>

#include "backend/backend.hpp"
#include "backend/cpu/cpu_device.hpp"
#include "backend/jit/jit_device.hpp"
#include "backend/reference/reference_device.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"

#if !defined(CALPE_CORE_ONLY)
#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "backend/opencl/opencl_device.hpp"
#include "backend/openmp/openmp_device.hpp"
#include "backend/vulkan/vulkan_device.hpp"
#endif

namespace calpe::backend {

namespace {

#if defined(CALPE_CORE_ONLY)
constexpr std::string_view openmp_name = "openmp";
constexpr std::string_view opencl_name = "opencl";
constexpr std::string_view cuda_name = "cuda";
constexpr std::string_view vulkan_name = "vulkan";
constexpr std::string_view core_only_text = "left out of this build (CALPE_CORE_ONLY)";

template <const std::string_view& name>
Result<std::unique_ptr<Device>> open_left_out(std::string_view) {
  return make_error(ErrorCode::backend_unavailable, name, ": ", core_only_text);
}

template <const std::string_view& name>
std::vector<BackendStatus> list_left_out() {
  return {{.name = std::string(name),
           .description = "not in a core-only library",
           .available = false,
           .reason = std::string(core_only_text)}};
}

// A row that is listed but cannot be opened, as with CALPE_WITHOUT.
template <const std::string_view& name>
constexpr Backend left_out = {
    .name = name, .auto_choice = {}, .open = open_left_out<name>, .list = list_left_out<name>};
#endif

constexpr std::array built_in = {
    Backend{.name = "cpu",
            .auto_choice = {.gf = 1, .xor_ = 2},
            .open = cpu::open_cpu,
            .list = cpu::list_cpu},
    Backend{.name = "jit",
            .auto_choice = {.gf = 0, .xor_ = 1},
            .open = jit::open_jit,
            .list = jit::list_jit},
#if defined(CALPE_CORE_ONLY)
    left_out<openmp_name>,
    left_out<opencl_name>,
    left_out<cuda_name>,
    left_out<vulkan_name>,
#else
    Backend{.name = "openmp",
            .auto_choice = {},
            .open = openmp::open_openmp,
            .list = openmp::list_openmp},
    // Never chosen by "auto": devices behind a driver must be requested by name.
    Backend{.name = "opencl",
            .auto_choice = {},
            .open = opencl::open_opencl,
            .list = opencl::list_opencl},
    Backend{.name = "cuda", .auto_choice = {}, .open = cuda::open_cuda, .list = cuda::list_cuda},
    Backend{.name = "vulkan",
            .auto_choice = {},
            .open = vulkan::open_vulkan,
            .list = vulkan::list_vulkan},
#endif
    Backend{.name = "reference",
            .auto_choice = {},
            .open = reference::open_reference,
            .list = reference::list_reference},
};

// Rows of the library and those added by a program. Does not allocate, as it exists before main().
class Table {
 public:
  constexpr Table() { std::ranges::copy(built_in, rows_.begin()); }
  std::span<const Backend> rows() const noexcept { return std::span(rows_).first(count_); }
  void add(const Backend& backend) {
    CALPE_ASSERT(count_ < rows_.size());
    CALPE_ASSERT(std::ranges::find(rows(), backend.name, &Backend::name) == rows().end());
    rows_[count_] = backend;
    std::swap(rows_[count_ - 1], rows_[count_]);  // "reference" is listed last
    ++count_;
  }

 private:
  static constexpr std::size_t added_max = 2;
  std::array<Backend, built_in.size() + added_max> rows_ = {};
  std::size_t count_ = built_in.size();
};

constinit Table table;  // NOLINT(cert-err58-cpp): initialised at compile time

Result<std::unique_ptr<Device>> open_best(ir::Dialect dialect) {
  std::string reasons;
  for (unsigned choice = 1; choice <= registered_backends().size(); ++choice) {
    for (const Backend& backend : registered_backends()) {
      if (backend.auto_choice.of(dialect) != choice) continue;
      Result<std::unique_ptr<Device>> device = backend.open({});
      if (device) return device;
      reasons += text(reasons.empty() ? "" : "; ", backend.name, ": ", device.error().message);
    }
  }
  return make_error(ErrorCode::backend_unavailable,
                    "no backend for \"auto\" is available: ", reasons);
}

}  // namespace

std::span<const Backend> registered_backends() {
  return table.rows();
}

void add_backend(const Backend& backend) {
  table.add(backend);
}

Result<std::unique_ptr<Device>> open_device(std::string_view name, ir::Dialect dialect) {
  if (name == "auto") return open_best(dialect);
  const std::size_t colon = name.find(':');
  const std::string_view backend_name = name.substr(0, colon);
  const std::string_view variant =
      colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  std::string known = "auto";
  for (const Backend& backend : registered_backends()) {
    if (backend.name == backend_name) return backend.open(variant);
    known += text(", ", backend.name);
  }
  if (backend_name == "reram") {
    return make_error(ErrorCode::backend_unavailable, "backend \"", name,
                      "\" is not part of this library: the simulator is in the calpe command; "
                      "expected one of ",
                      known);
  }
  return invalid("backend is \"", name, "\"; expected one of ", known);
}

}  // namespace calpe::backend
