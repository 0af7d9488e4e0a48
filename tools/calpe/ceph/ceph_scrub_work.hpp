// SPDX-License-Identifier: Apache-2.0
// One object after the other: read its shards, compare, and do what was asked for.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_findings.hpp"

namespace calpe::tools {

struct ScrubCode {
  Codec codec;
  std::uint64_t chunk_bytes = 0;
};

struct ScrubOrders {
  bool repair = false;
  std::string output;   // folder for corrected shards; empty: where they were
  std::string restore;  // folder for objects; empty: none
  std::string save;     // folder for shards as they are; empty: none
  // Corrected shards of OSDs go here. True: it will be written back.
  std::function<Result<bool>(const ScrubObject&, ShardIndex, std::span<const std::byte>)> put_back;
};

// Adds to the report. Fails where reading or writing of files does, and when the shards are not of
// this code; damage is a finding.
Status scrub_object(const ScrubCode& code, const ScrubOrders& orders, ScrubObject object,
                    ScrubReport& report);

}  // namespace calpe::tools
