// SPDX-License-Identifier: Apache-2.0
#include "backend/techniques.hpp"

#include <algorithm>
#include <array>

#if !defined(CALPE_WITHOUT)
#define CALPE_WITHOUT ""
#endif

namespace calpe::backend {

namespace {

// One entry of the comma-separated list.
constexpr bool is_built(std::string_view name) {
  for (std::string_view rest = CALPE_WITHOUT; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == name) return false;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return true;
}

constexpr TechniqueInfo technique(std::string_view name, std::string_view description) {
  return {.name = name, .description = description, .built = is_built(name)};
}

// The names match cmake/CalpeTechniques.cmake.
constexpr std::array all = {
#if defined(__x86_64__)
    technique("ssse3", "products by shuffles of half-byte tables, 16 bytes"),
    technique("avx2", "products by shuffles of half-byte tables, 32 bytes"),
    technique("avx2-gfni", "products by affine maps of bytes, 32 bytes"),
    technique("avx512", "products by shuffles of half-byte tables, 64 bytes"),
    technique("avx512-gfni", "products by affine maps of bytes, 64 bytes"),
    technique("jit", "machine code for XOR programs, generated at run time"),
#elif defined(__aarch64__)
    technique("neon", "products by shuffles of half-byte tables, 16 bytes"),
#endif
    technique("additive-fft", "lch by additive Fourier transforms, not by its matrix"),
};

}  // namespace

std::span<const TechniqueInfo> techniques() noexcept {
  return all;
}

bool is_left_out(std::string_view name) noexcept {
  return std::ranges::any_of(
      all, [&](const TechniqueInfo& one) { return one.name == name && !one.built; });
}

}  // namespace calpe::backend
