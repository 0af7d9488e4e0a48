// SPDX-License-Identifier: Apache-2.0
// The interface between a Ceph 16..19 daemon and an erasure-code plugin. No package contains Ceph's
// headers, so this file declares their interface (LGPL-2.1) again. The names, parameters and order
// of the virtual functions are the contract; tests/distributed/ceph/vtable_test.py compares them
// with a plugin that Ceph ships. Buffers come from librados (libradospp-dev).
#pragma once
#include <map>
#include <memory>
#include <ostream>
#include <rados/buffer.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Opaque. Lives in the daemon; the plugin calls one of its functions.
class CrushWrapper {
 public:
  int add_simple_rule(std::string name, std::string root, std::string failure_domain,
                      std::string device_class, std::string mode, int rule_type,
                      std::ostream* error);
};

namespace ceph {

using ErasureCodeProfile = std::map<std::string, std::string>;
// Per shard, (offset, count) of the sub-chunks to read. A code without sub-chunks has one.
using SubChunks = std::map<int, std::vector<std::pair<int, int>>>;
using Chunks = std::map<int, bufferlist>;

class ErasureCodeInterface {
 public:
  virtual ~ErasureCodeInterface() = default;
  virtual int init(ErasureCodeProfile& profile, std::ostream* errors) = 0;
  virtual const ErasureCodeProfile& get_profile() const = 0;
  virtual int create_rule(const std::string& name, CrushWrapper& crush,
                          std::ostream* errors) const = 0;
  virtual unsigned get_chunk_count() const = 0;
  virtual unsigned get_data_chunk_count() const = 0;
  virtual unsigned get_coding_chunk_count() const = 0;
  virtual int get_sub_chunk_count() = 0;
  virtual unsigned get_chunk_size(unsigned object_bytes) const = 0;
  virtual int minimum_to_decode(const std::set<int>& want, const std::set<int>& available,
                                SubChunks* minimum) = 0;
  virtual int minimum_to_decode_with_cost(const std::set<int>& want,
                                          const std::map<int, int>& available,
                                          std::set<int>* minimum) = 0;
  virtual int encode(const std::set<int>& want, const bufferlist& in, Chunks* encoded) = 0;
  virtual int encode_chunks(const std::set<int>& want, Chunks* encoded) = 0;
  virtual int decode(const std::set<int>& want, const Chunks& chunks, Chunks* decoded,
                     int chunk_bytes) = 0;
  virtual int decode_chunks(const std::set<int>& want, const Chunks& chunks, Chunks* decoded) = 0;
  virtual const std::vector<int>& get_chunk_mapping() const = 0;
  virtual int decode_concat(const Chunks& chunks, bufferlist* decoded) = 0;
};

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
