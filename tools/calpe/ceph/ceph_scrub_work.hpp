// SPDX-License-Identifier: Apache-2.0
// Scrubs one object: reads its shards, checks them, and repairs, restores or saves on request.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_findings.hpp"

namespace calpe::tools {

struct ScrubCode {
  Codec codec;
  std::uint64_t chunk_bytes = 0;
  std::optional<bool> is_optimised = std::nullopt;  // nullopt: see ScrubObject
};

struct ScrubOrders {
  bool repair = false;
  std::string output;   // directory for corrected shards; empty: in place
  std::string restore;  // directory for objects; empty: none
  std::string save;     // directory for unmodified shards; empty: none
  // Takes corrected shards of OSDs. Returns true if the shard will be written back.
  std::function<Result<bool>(const ScrubObject&, ShardIndex, std::span<const std::byte>)> put_back;
};

// Adds the result to the report. Fails on I/O errors and if the shards do not fit the code; damage
// is a finding, not a failure.
Status scrub_object(const ScrubCode& code, const ScrubOrders& orders, ScrubObject object,
                    ScrubReport& report);

}  // namespace calpe::tools
