// SPDX-License-Identifier: Apache-2.0
// Kernel techniques of this build; cmake/CalpeTechniques.cmake can leave some out.
#pragma once
#include <span>
#include <string_view>

#include <calpe/techniques.hpp>

namespace calpe::backend {

// Techniques for the processor of this build.
std::span<const TechniqueInfo> techniques() noexcept;

// True if this technique exists but was left out of the build.
bool is_left_out(std::string_view name) noexcept;

// For error messages.
inline constexpr std::string_view left_out_text = "left out of this build (CALPE_WITHOUT)";

}  // namespace calpe::backend
