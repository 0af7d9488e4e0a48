// SPDX-License-Identifier: Apache-2.0
// Entry points of libec_calpe.so.
#if CALPE_CEPH_RELEASE < 20
#include "ceph/erasure_code.hpp"
#else
#include "ceph/shard_erasure_code.hpp"
#endif

#ifndef CALPE_CEPH_VERSION
#error "CALPE_CEPH_VERSION is the version of the daemons, as in `ceph-osd --version`: \"16.2.15\""
#endif

namespace {

#if CALPE_CEPH_RELEASE < 20
using Code = calpe_ceph::ErasureCode;
#else
using Code = calpe_ceph::ShardErasureCode;
#endif

class Plugin final : public ceph::ErasureCodePlugin {
 public:
  int factory(const std::string& /*folder*/, ceph::ErasureCodeProfile& profile,
              ceph::ErasureCodeInterfaceRef* code, std::ostream* errors) override {
    auto made = std::make_shared<Code>();
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
