// SPDX-License-Identifier: Apache-2.0
// Loads Ceph's erasure-code plugins as a daemon does, shipped ones and ours alike, without a
// daemon: the registry that plugins register with is this program's.
#pragma once
#include <string>

#include "ceph/ceph_interface.hpp"

namespace ceph_host {

using Profile = ceph::ErasureCodeProfile;

struct Made {
  ceph::ErasureCodeInterfaceRef code;  // NULL when refused
  int status = 0;                      // what the daemon would return
  std::string message;
};

// ErasureCodePluginRegistry::factory(): dlopen, version, registration, factory, and the profile
// must be what the code says that it is. profile["plugin"] names the plugin; "calpe" is ours, all
// others are Ceph's. A plugin stays loaded.
Made make_code(Profile& profile);

// The same for a library of that path, which is not kept.
Made load_only(const std::string& name, const std::string& path);

// Text of all of it, to be compared.
std::string bytes_of(const ceph::bufferlist& list);

// `bytes` random bytes, the same for the same seed.
std::string random_bytes(std::size_t bytes, unsigned seed);

ceph::bufferlist list_of(const std::string& bytes);

}  // namespace ceph_host
