// SPDX-License-Identifier: Apache-2.0
// The one table of backends: a new one is a folder, a row here and a green conformance suite.
#include <array>
#include <string>

#include "backend/backend.hpp"
#include "backend/cpu/cpu_device.hpp"
#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "backend/jit/jit_device.hpp"
#include "backend/opencl/opencl_device.hpp"
#include "backend/openmp/openmp_device.hpp"
#include "backend/reference/reference_device.hpp"
#include "backend/reram/reram_device.hpp"
#include "base/text.hpp"

namespace calpe::backend {

namespace {

constexpr std::array backends = {
    Backend{.name = "cpu",
            .auto_choice = {.gf = 1, .xor_ = 2},
            .open = cpu::open_cpu,
            .list = cpu::list_cpu},
    Backend{.name = "jit",
            .auto_choice = {.gf = 0, .xor_ = 1},
            .open = jit::open_jit,
            .list = jit::list_jit},
    Backend{.name = "openmp",
            .auto_choice = {},
            .open = openmp::open_openmp,
            .list = openmp::list_openmp},
    // Never by "auto": what lies behind a driver is asked for by name.
    Backend{.name = "opencl",
            .auto_choice = {},
            .open = opencl::open_opencl,
            .list = opencl::list_opencl},
    Backend{.name = "cuda", .auto_choice = {}, .open = cuda::open_cuda, .list = cuda::list_cuda},
    Backend{
        .name = "reram", .auto_choice = {}, .open = reram::open_reram, .list = reram::list_reram},
    Backend{.name = "reference",
            .auto_choice = {},
            .open = reference::open_reference,
            .list = reference::list_reference},
};

Result<std::unique_ptr<Device>> open_best(ir::Dialect dialect) {
  std::string reasons;
  for (unsigned choice = 1; choice <= backends.size(); ++choice) {
    for (const Backend& backend : backends) {
      if (backend.auto_choice.of(dialect) != choice) continue;
      Result<std::unique_ptr<Device>> device = backend.open({});
      if (device) return device;
      reasons += text(reasons.empty() ? "" : "; ", backend.name, ": ", device.error().message);
    }
  }
  return make_error(ErrorCode::backend_unavailable, "no backend of \"auto\" opens: ", reasons);
}

}  // namespace

std::span<const Backend> registered_backends() {
  return backends;
}

Result<std::unique_ptr<Device>> open_device(std::string_view name, ir::Dialect dialect) {
  if (name == "auto") return open_best(dialect);
  const std::size_t colon = name.find(':');
  const std::string_view backend_name = name.substr(0, colon);
  const std::string_view variant =
      colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  std::string known = "auto";
  for (const Backend& backend : backends) {
    if (backend.name == backend_name) return backend.open(variant);
    known += text(", ", backend.name);
  }
  return invalid("backend is \"", name, "\", expected one of ", known);
}

}  // namespace calpe::backend
