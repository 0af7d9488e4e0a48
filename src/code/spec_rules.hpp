// SPDX-License-Identifier: Apache-2.0
// What a spec may say: limits of each family, and the defaults that resolve it.
#pragma once
#include <span>

#include <calpe/code_spec.hpp>

namespace calpe::code {

inline constexpr std::uint32_t packet_bytes_default = 512;
inline constexpr std::uint32_t packet_bytes_max = 1U << 30;

// The profile of a family; every family has one but `custom`, which gets a row of its own as well.
const Profile& profile_of(CodeFamily family);

// Every profile with a row in the table, custom included.
std::span<const Profile> all_profiles();

// Fills in polynomial and packet bytes, replaces `default` by the family it stands for; checks
// every limit. matrix_hash is left alone.
Result<CodeSpec> resolve(CodeSpec spec);

// Jerasure's packet codes take whole groups only.
bool copies_jerasure_packets(CodeFamily family);

}  // namespace calpe::code
