// SPDX-License-Identifier: Apache-2.0
// Types of Ceph's interface that are the same in all releases.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <rados/buffer.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Opaque. Lives in the daemon; the plugin calls its functions. Rules that place several chunks in
// one failure domain came with Ceph 19, and changed the parameters of the simple rule.
class CrushWrapper {
 public:
#if CALPE_CEPH_RELEASE < 19
  int add_simple_rule(std::string name, std::string root, std::string failure_domain,
                      std::string device_class, std::string mode, int rule_type,
                      std::ostream* error);
#else
  int add_simple_rule(std::string name, std::string root, std::string failure_domain,
                      int num_failure_domains, std::string device_class, std::string mode,
                      int rule_type, std::ostream* error);
  int add_indep_multi_osd_per_failure_domain_rule(std::string name, std::string root,
                                                  std::string failure_domain,
                                                  int num_failure_domains,
                                                  int osds_per_failure_domain,
                                                  std::string device_class, std::ostream* error);
#endif
};

namespace ceph {

using ErasureCodeProfile = std::map<std::string, std::string>;
// Per shard, (offset, count) of the sub-chunks to read. A code without sub-chunks has one.
using SubChunks = std::map<int, std::vector<std::pair<int, int>>>;
using Chunks = std::map<int, bufferlist>;

}  // namespace ceph
