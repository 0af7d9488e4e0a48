// SPDX-License-Identifier: Apache-2.0
// Reads and checks Calpe's keys in a Ceph profile, and writes the resolved ones back.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>

#include <calpe/calpe.h>

#include "ceph/ceph_interface.hpp"

namespace calpe_ceph {

// In Ceph 16 a plugin's CRUSH rule maps pools of up to 20 shards; a wider pool could be created but
// would never become active. Ceph 18 and 20 have no such limit. There, 32 is the number of OSDs of
// a placement group that clients in the kernel accept (CEPH_PG_MAX_SIZE in Linux).
inline constexpr unsigned shards_max = CALPE_CEPH_RELEASE < 17 ? 20 : 32;

struct Settings {
  calpe_spec spec;  // fields that the profile sets; others are 0
  std::string backend;
  // Keys of the CRUSH rule. 0: as many failure domains as chunks; 0 or 1: one OSD in each.
  std::uint32_t failure_domains = 0;
  std::uint32_t osds_per_failure_domain = 0;
};

// Returns 0, or -EINVAL with the reason in `errors`. Writes the defaults of k, m, backend,
// crush-root, crush-failure-domain and crush-device-class into `profile`. An empty value counts as
// not set.
int read_settings(ceph::ErasureCodeProfile& profile, Settings& settings, std::ostream& errors);

// Writes the keys of the resolved spec: profile, layout, packet_bytes (packets), l (lrc).
void write_spec(const calpe_spec& resolved, ceph::ErasureCodeProfile& profile);

}  // namespace calpe_ceph
