// SPDX-License-Identifier: Apache-2.0
// Checks the limits of each family and resolves the defaults of a spec.
#pragma once
#include <span>

#include <calpe/code_spec.hpp>

#include "gf/field.hpp"

namespace calpe::code {

inline constexpr std::uint32_t packet_bytes_default = 512;
inline constexpr std::uint32_t packet_bytes_max = 1U << 30;

// Returns the profile of a family; `custom` has one too.
const Profile& profile_of(CodeFamily family);

// Returns every profile, including custom.
std::span<const Profile> all_profiles();

// Fills in the polynomial and packet bytes, resolves `default`, and checks every limit. Does not
// change matrix_hash.
Result<CodeSpec> resolve(CodeSpec spec);

// The field of a resolved spec.
Result<gf::FieldRef> field_of(const CodeSpec& spec);

// True for Jerasure's packet codes, which need whole groups.
bool copies_jerasure_packets(CodeFamily family);

}  // namespace calpe::code
