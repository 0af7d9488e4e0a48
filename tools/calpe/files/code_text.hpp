// SPDX-License-Identifier: Apache-2.0
// A code in words: its profile, and what may be lost.
#pragma once
#include <cstddef>
#include <string>

#include <calpe/code_spec.hpp>

namespace calpe::tools {

std::string profile_name(const CodeSpec& spec);
// Number of arbitrary shards that may be lost: m for MDS codes, else fewer.
std::size_t losses_of(const CodeSpec& spec);
// "Any 2 shards may be lost or damaged."; adds a clause if the code is not MDS.
std::string losses_text(const CodeSpec& spec);

}  // namespace calpe::tools
