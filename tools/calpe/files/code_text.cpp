// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/code_text.hpp"

#include <fmt/format.h>

#include <calpe/codec.hpp>

#include "calpe/cli/output.hpp"

namespace calpe::tools {

std::string profile_name(const CodeSpec& spec) {
  for (const Profile& profile : list_profiles()) {
    if (profile.family == spec.family) return std::string(profile.name);
  }
  return fmt::format("family {}", static_cast<unsigned>(spec.family));
}

std::size_t losses_of(const CodeSpec& spec) {
  const Result<CodeProof> proof = prove(spec);
  return proof ? proof->losses : 0;
}

std::string losses_text(const CodeSpec& spec) {
  const std::size_t losses = losses_of(spec);
  const std::string any = fmt::format("Any {} may be lost or damaged", count_text(losses, "shard"));
  if (losses == spec.parity_shards) return any + ".";
  return fmt::format("{}, and many sets of up to {}.", any, spec.parity_shards);
}

}  // namespace calpe::tools
