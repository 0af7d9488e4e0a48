// SPDX-License-Identifier: Apache-2.0
// The same code with more parity.
#pragma once
#include <optional>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

namespace calpe::store {

// The code with m = parity_shards, resolved, if its first parity rows are those of `spec`: old
// parity shards are then shards of it as they are. Nothing: they are not. Fails with
// invalid_argument when m is not larger or too large, and with unproven.
Result<std::optional<CodeSpec>> extended_spec(const CodeSpec& spec, unsigned parity_shards);

}  // namespace calpe::store
