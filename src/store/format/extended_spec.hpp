// SPDX-License-Identifier: Apache-2.0
// Adds parity to a code.
#pragma once
#include <optional>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

namespace calpe::store {

// Returns the resolved code with m = parity_shards if its first parity rows equal those of `spec`,
// so that existing parity shards stay valid. Returns nullopt if the rows differ. Fails with
// invalid_argument when m is not larger or too large, and with unproven.
Result<std::optional<CodeSpec>> extended_spec(const CodeSpec& spec, unsigned parity_shards);

}  // namespace calpe::store
