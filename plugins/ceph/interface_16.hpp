// SPDX-License-Identifier: Apache-2.0
// The code that daemons of Ceph 16 to 18 call: 18 slots. Ceph 19 is believed to have the same, but
// was never run. Include ceph_interface.hpp instead.
#pragma once
#include "ceph/interface_types.hpp"

namespace ceph {

using ChunkMapping = std::vector<int>;

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
  virtual const ChunkMapping& get_chunk_mapping() const = 0;
  virtual int decode_concat(const Chunks& chunks, bufferlist* decoded) = 0;
};

}  // namespace ceph
