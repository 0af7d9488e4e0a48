// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/path_choice.hpp"

#include <array>
#include <optional>
#include <string>

#include "backend/cpu/cpu_device.hpp"
#include "backend/techniques.hpp"
#include "base/cpu_features.hpp"
#include "base/env.hpp"
#include "base/text.hpp"

namespace calpe::backend::cpu {

namespace {

constexpr const char* path_variable = "CALPE_CPU";

struct Need {
  bool CpuFeatures::*feature = nullptr;  // none
  const char* name = nullptr;
};

struct Path {
  const CpuKernels* kernels;
  std::array<Need, 2> needs = {};

  // The feature that the path needs but the CPU lacks, or null.
  const char* missing(const CpuFeatures& features) const {
    for (const Need& need : needs) {
      if (need.feature != nullptr && !(features.*need.feature)) return need.name;
    }
    return nullptr;
  }
};

// Best last. A build may lack all but the first (backend/techniques.hpp).
constexpr std::array paths = {
    Path{&kernels_scalar},
#if defined(__x86_64__) && !defined(CALPE_WITHOUT_SSSE3)
    Path{&kernels_ssse3, {{{&CpuFeatures::ssse3, "SSSE3"}}}},
#endif
#if defined(__x86_64__) && !defined(CALPE_WITHOUT_AVX2)
    Path{&kernels_avx2, {{{&CpuFeatures::avx2, "AVX2"}}}},
#endif
#if defined(__x86_64__) && !defined(CALPE_WITHOUT_AVX2_GFNI)
    Path{&kernels_avx2_gfni, {{{&CpuFeatures::avx2, "AVX2"}, {&CpuFeatures::gfni, "GFNI"}}}},
#endif
#if defined(__x86_64__) && !defined(CALPE_WITHOUT_AVX512)
    Path{&kernels_avx512, {{{&CpuFeatures::avx512, "AVX-512"}}}},
#endif
#if defined(__x86_64__) && !defined(CALPE_WITHOUT_AVX512_GFNI)
    Path{&kernels_avx512_gfni, {{{&CpuFeatures::avx512, "AVX-512"}, {&CpuFeatures::gfni, "GFNI"}}}},
#endif
#if defined(__aarch64__) && !defined(CALPE_WITHOUT_NEON)
    Path{&kernels_neon, {{{&CpuFeatures::neon, "NEON"}}}},
#endif
};

std::string missing_text(const Path& path) {
  const char* feature = path.missing(cpu_features());
  return feature == nullptr ? std::string() : text("this CPU has no ", feature);
}

// The path `name`. Errors begin with `asker` ("CALPE_CPU=avx2", "cpu:avx2").
Result<const Path*> find_path(std::string_view name, std::string_view asker, ErrorCode unknown) {
  std::string known;
  for (const Path& path : paths) {
    if (name == path.kernels->name) {
      const std::string missing = missing_text(path);
      if (missing.empty()) return &path;
      return make_error(ErrorCode::backend_unavailable, asker, ": ", missing);
    }
    known += text(known.empty() ? "" : ", ", path.kernels->name);
  }
  if (is_left_out(name)) {
    return make_error(ErrorCode::backend_unavailable, asker, ": ", left_out_text);
  }
  return make_error(unknown, asker, " is not a CPU path; expected one of ", known);
}

Result<const Path*> choose_path() {
  if (const std::optional<std::string> name = environment(path_variable)) {
    return find_path(*name, text(path_variable, "=", *name), ErrorCode::backend_unavailable);
  }
  const Path* best = nullptr;
  for (const Path& path : paths) {
    if (path.missing(cpu_features()) == nullptr) best = &path;
  }
  return best;  // at least scalar
}

Result<const CpuKernels*> kernels_of(const Result<const Path*>& path) {
  if (!path) return path.error();
  return (*path)->kernels;
}

}  // namespace

Result<const CpuKernels*> choose_kernels() {
  return kernels_of(choose_path());
}

Result<const CpuKernels*> find_kernels(std::string_view variant) {
  return kernels_of(find_path(variant, text("cpu:", variant), ErrorCode::invalid_argument));
}

std::vector<BackendStatus> list_cpu() {
  std::vector<BackendStatus> rows;
  const Result<const Path*> chosen = choose_path();
  rows.push_back({.name = "cpu",
                  .description = chosen ? text("uses cpu:", (*chosen)->kernels->name)
                                        : std::string("the best path of this CPU"),
                  .available = chosen.has_value(),
                  .reason = chosen ? std::string() : chosen.error().message});
  for (const Path& path : paths) {
    const std::string reason = missing_text(path);
    rows.push_back({.name = text("cpu:", path.kernels->name),
                    .description = path.kernels->description,
                    .available = reason.empty(),
                    .reason = reason});
  }
  return rows;
}

}  // namespace calpe::backend::cpu
