// SPDX-License-Identifier: Apache-2.0
// Which of the kernel techniques this build has: cmake/CalpeTechniques.cmake can leave them out.
#pragma once
#include <span>
#include <string_view>

#include <calpe/techniques.hpp>

namespace calpe::backend {

// Those for this build's processor.
std::span<const TechniqueInfo> techniques() noexcept;

// True when there is one of that name, and this build is without it.
bool is_left_out(std::string_view name) noexcept;

// For error messages.
inline constexpr std::string_view left_out_text = "left out of this build (CALPE_WITHOUT)";

}  // namespace calpe::backend
