// SPDX-License-Identifier: Apache-2.0
// Times the preparation for an unseen loss pattern.
#pragma once
#include <span>

#include "bench/harness/calpe_coder.hpp"
#include "bench/harness/peers.hpp"
#include "bench/harness/report.hpp"
#include "bench/harness/rounds.hpp"

namespace calpe::bench {

// Every call takes the next of many random patterns of m (at most k) lost data shards.
Result<Row> measure_plan(const OwnCodecs& codecs, std::string_view profile,
                         std::span<const NamedPeer> peers, const RoundOptions& rounds);

}  // namespace calpe::bench
