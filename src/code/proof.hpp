// SPDX-License-Identifier: Apache-2.0
// Which argument proves a code: certificate, exhaustion, pyramid; or the loss that refutes it.
#pragma once
#include "code/code.hpp"

namespace calpe::code {

// Uses code.parity, code.cauchy and code.spec. Evaluates at most about 50 million minors.
CodeProof prove_rows(const Code& code);

// Can every data shard be rebuilt when exactly `lost` is lost? Rank of the rows that are left.
bool is_recoverable(const Code& code, std::span<const ShardIndex> lost);

// Every pattern of 1..m losses. Fails with invalid_argument beyond 10 million patterns.
Result<std::vector<PatternCount>> count_patterns(const Code& code);

}  // namespace calpe::code
