// SPDX-License-Identifier: Apache-2.0
// Loads Ceph's erasure-code plugins and ours like a daemon; this program provides the registry.
#pragma once
#include <string>

#include "ceph/ceph_interface.hpp"
#include "distributed/ceph/bytes.hpp"

namespace ceph_host {

using Profile = ceph::ErasureCodeProfile;

struct Made {
  ceph::ErasureCodeInterfaceRef code;  // null if refused
  int status = 0;                      // return value in a daemon
  std::string message;
};

// Like ErasureCodePluginRegistry::factory(): dlopen, version, registration, factory, and a check
// that the code reports the same profile. profile["plugin"] names the plugin; "calpe" is ours, all
// others are Ceph's. Plugins stay loaded.
Made make_code(Profile& profile);

// The same for a library at a path, which is not kept.
Made load_only(const std::string& name, const std::string& path);

}  // namespace ceph_host
