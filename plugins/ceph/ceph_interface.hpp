// SPDX-License-Identifier: Apache-2.0
// The interface between a Ceph daemon and an erasure-code plugin, for the release that the plugin
// is built for (CALPE_CEPH_RELEASE). No package contains Ceph's headers, so these files declare
// their interface (LGPL-2.1) again. The names, parameters and order of the virtual functions are
// the contract; tests/distributed/ceph/vtable_test.py compares them with a plugin that Ceph ships.
// Buffers come from librados (libradospp-dev).
#pragma once
#ifndef CALPE_CEPH_RELEASE
#error "CALPE_CEPH_RELEASE is the first number of the version of the daemons, for example 20"
#endif
#if CALPE_CEPH_RELEASE < 20
#include "ceph/interface_16.hpp"
#else
#include "ceph/interface_20.hpp"
#endif

namespace ceph {

using ErasureCodeInterfaceRef = std::shared_ptr<ErasureCodeInterface>;

class ErasureCodePlugin {
 public:
  void* library = nullptr;  // the daemon writes its dlopen handle here
  virtual ~ErasureCodePlugin() = default;
  virtual int factory(const std::string& folder, ErasureCodeProfile& profile,
                      ErasureCodeInterfaceRef* code, std::ostream* errors) = 0;
};

// Opaque. The plugin uses only its address and one function.
class ErasureCodePluginRegistry {
 public:
  static ErasureCodePluginRegistry singleton;
  int add(const std::string& name, ErasureCodePlugin* plugin);
};

}  // namespace ceph

extern "C" {
// The daemon requires exactly its own version string. This pins the whole C++ ABI.
__attribute__((visibility("default"))) const char* __erasure_code_version();
__attribute__((visibility("default"))) int __erasure_code_init(char* name, char* folder);
}
