// SPDX-License-Identifier: Apache-2.0
// Reads and checks Calpe's keys in a Ceph profile, and writes the resolved ones back.
#pragma once
#include <ostream>
#include <string>

#include <calpe/calpe.h>

#include "ceph/ceph_interface.hpp"

namespace calpe_ceph {

// Without Ceph's headers a plugin can create only Ceph's simple "indep" rule, which maps pools of
// up to 20 shards. A wider pool could be created but would never become active.
inline constexpr unsigned shards_max = 20;

struct Settings {
  calpe_spec spec;  // fields that the profile sets; others are 0
  std::string backend;
};

// Returns 0, or -EINVAL with the reason in `errors`. Writes the defaults of k, m, backend,
// crush-root, crush-failure-domain and crush-device-class into `profile`. An empty value counts as
// not set.
int read_settings(ceph::ErasureCodeProfile& profile, Settings& settings, std::ostream& errors);

// Writes the keys of the resolved spec: profile, layout, packet_bytes (packets), l (lrc).
void write_spec(const calpe_spec& resolved, ceph::ErasureCodeProfile& profile);

}  // namespace calpe_ceph
