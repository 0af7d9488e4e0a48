// SPDX-License-Identifier: Apache-2.0
// Translates erasure-code profiles of Ceph pools, of any supported plugin, to codes of Calpe.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/code_spec.hpp>

namespace calpe::ceph {

using CephKeys = std::map<std::string, std::string>;

struct CephCode {
  CodeSpec spec;
  // Bytes that one stripe has in each shard. A shard is a sequence of chunks.
  std::uint64_t chunk_bytes = 0;
};

// Parses "plugin=isa k=4 m=2". Keys are separated by spaces, commas, semicolons or newlines. Fails
// with invalid_argument.
Result<CephKeys> parse_ceph_keys(std::string_view text);

// Returns the code that Ceph's daemons use for these keys. chunk_bytes = 0 means stripe_unit, or
// the default of 4 KiB rounded up as the plugin does. Fails with invalid_argument if the code is
// not supported.
Result<CephCode> ceph_code(const CephKeys& keys, std::uint64_t chunk_bytes = 0);

// Lists the Ceph settings that write the same bytes as this profile, such as "plugin=jerasure
// technique=cauchy_good w=8 packetsize=512": other plugins first, Calpe last.
std::vector<std::string> ceph_names(std::string_view profile, const CodeSpec& spec);

}  // namespace calpe::ceph
