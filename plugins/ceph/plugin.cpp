// SPDX-License-Identifier: Apache-2.0
// Entry points of libec_calpe.so.
#include "ceph/erasure_code.hpp"

#ifndef CALPE_CEPH_VERSION
#error "CALPE_CEPH_VERSION is the version of the daemons, as in `ceph-osd --version`: \"16.2.15\""
#endif

namespace {

class Plugin final : public ceph::ErasureCodePlugin {
 public:
  int factory(const std::string& /*folder*/, ceph::ErasureCodeProfile& profile,
              ceph::ErasureCodeInterfaceRef* code, std::ostream* errors) override {
    auto made = std::make_shared<calpe_ceph::ErasureCode>();
    const int status = made->init(profile, errors);
    if (status == 0) *code = std::move(made);
    return status;
  }
};

}  // namespace

const char* __erasure_code_version() {
  return CALPE_CEPH_VERSION;
}

int __erasure_code_init(char* name, char* /*folder*/) {
  // The registry owns the plugin until the daemon ends.
  return ceph::ErasureCodePluginRegistry::singleton.add(name, new Plugin);
}
