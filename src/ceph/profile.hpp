// SPDX-License-Identifier: Apache-2.0
// The erasure-code profile of a Ceph pool, whichever plugin it names, as a code of ours.
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
  // What a shard holds of one stripe; stripes lie in a shard one behind the other.
  std::uint64_t chunk_bytes = 0;
};

// "plugin=isa k=4 m=2", with spaces, commas or line ends between. Fails with invalid_argument.
Result<CephKeys> parse_ceph_keys(std::string_view text);

// What the daemons make of these keys. chunk_bytes = 0: that of stripe_unit, or of the default,
// 4 KiB, rounded up as the plugin rounds it. Fails with invalid_argument where the keys are of no
// code that we have, and says which.
Result<CephCode> ceph_code(const CephKeys& keys, std::uint64_t chunk_bytes = 0);

// The keys under which Ceph writes the bytes of this profile of ours, "plugin=jerasure
// technique=cauchy_good w=8 packetsize=512": other plugins' first, Calpe's last.
std::vector<std::string> ceph_names(std::string_view profile, const CodeSpec& spec);

}  // namespace calpe::ceph
