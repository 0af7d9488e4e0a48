// SPDX-License-Identifier: Apache-2.0
// Proves a code by certificate, exhaustion or pyramid, or finds a loss that refutes it.
#pragma once
#include "code/code.hpp"

namespace calpe::code {

// Uses code.parity, code.cauchy and code.spec. Evaluates at most about 50 million minors.
CodeProof prove_rows(const Code& code);

// Returns whether every data shard can be rebuilt if exactly `lost` is lost, by the rank of the
// remaining rows.
bool is_recoverable(const Code& code, std::span<const ShardIndex> lost);

// Counts every pattern of 1..m losses. Fails with invalid_argument beyond 10 million patterns.
Result<std::vector<PatternCount>> count_patterns(const Code& code);

}  // namespace calpe::code
