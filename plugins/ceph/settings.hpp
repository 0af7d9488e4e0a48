// SPDX-License-Identifier: Apache-2.0
// The keys of a Ceph profile that are ours, read, checked and written back.
#pragma once
#include <ostream>
#include <string>

#include <calpe/calpe.h>

#include "ceph/ceph_interface.hpp"

namespace calpe_ceph {

// Ceph's simple "indep" rule, the only one a plugin without Ceph's headers can make, maps pools of
// up to 20 shards: a wider pool would be created and never become active.
inline constexpr unsigned shards_max = 20;

struct Settings {
  calpe_spec spec;  // as far as the profile says it
  std::string backend;
};

// 0, or -EINVAL with the reason in `errors`. Writes the defaults of k, m, backend, crush-root,
// crush-failure-domain and crush-device-class into `profile`; an empty value counts as none.
int read_settings(ceph::ErasureCodeProfile& profile, Settings& settings, std::ostream& errors);

// The keys that the resolved spec decides: profile, layout, packet_bytes (packets), l (lrc).
void write_spec(const calpe_spec& resolved, ceph::ErasureCodeProfile& profile);

}  // namespace calpe_ceph
