// SPDX-License-Identifier: Apache-2.0
// The code that daemons of Ceph 20 call: 30 slots. Include ceph_interface.hpp instead.
//
// Ceph 20 has two paths. Pools with `allow_ec_optimizations` use the overloads with shard_id_set
// and shard_id_map, and the delta writes; other pools use the overloads with std::set and std::map.
#pragma once
#include "ceph/interface_types.hpp"
#include "ceph/shard_containers.hpp"

namespace ceph {

using ChunkMapping = std::vector<shard_id_t>;
using ShardSubChunks = shard_id_map<std::vector<std::pair<int, int>>>;
using ShardLists = shard_id_map<bufferlist>;
using ShardBuffers = shard_id_map<bufferptr>;

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
  virtual int minimum_to_decode(const shard_id_set& want, const shard_id_set& available,
                                shard_id_set& minimum, ShardSubChunks* sub_chunks) = 0;
  virtual int minimum_to_decode(const std::set<int>& want, const std::set<int>& available,
                                SubChunks* minimum) = 0;
  virtual int minimum_to_decode_with_cost(const shard_id_set& want,
                                          const shard_id_map<int>& available,
                                          shard_id_set* minimum) = 0;
  virtual int minimum_to_decode_with_cost(const std::set<int>& want,
                                          const std::map<int, int>& available,
                                          std::set<int>* minimum) = 0;
  virtual std::size_t get_minimum_granularity() = 0;
  virtual int encode(const shard_id_set& want, const bufferlist& in, ShardLists* encoded) = 0;
  virtual int encode(const std::set<int>& want, const bufferlist& in, Chunks* encoded) = 0;
  virtual int encode_chunks(const std::set<int>& want, Chunks* encoded) = 0;
  // Data that `in` does not have are zeros. `out` has the parity to write.
  virtual int encode_chunks(const ShardBuffers& in, ShardBuffers& out) = 0;
  // `delta` may be `before`.
  virtual void encode_delta(const bufferptr& before, const bufferptr& after, bufferptr* delta) = 0;
  // `in` has deltas of data, `out` the parity to change. `in` may have that parity too.
  virtual void apply_delta(const ShardBuffers& in, ShardBuffers& out) = 0;
  virtual int decode(const shard_id_set& want, const ShardLists& chunks, ShardLists* decoded,
                     int chunk_bytes) = 0;
  virtual int decode(const std::set<int>& want, const Chunks& chunks, Chunks* decoded,
                     int chunk_bytes) = 0;
  // Shards that `in` does not have are lost. `out` has buffers for those to rebuild.
  virtual int decode_chunks(const shard_id_set& want, ShardBuffers& in, ShardBuffers& out) = 0;
  virtual int decode_chunks(const std::set<int>& want, const Chunks& chunks, Chunks* decoded) = 0;
  virtual const ChunkMapping& get_chunk_mapping() const = 0;
  virtual int decode_concat(const std::set<int>& want, const Chunks& chunks,
                            bufferlist* decoded) = 0;
  virtual int decode_concat(const Chunks& chunks, bufferlist* decoded) = 0;
  virtual std::uint64_t get_supported_optimizations() const = 0;
  virtual std::string get_optimizations_flags_string() const = 0;
};

}  // namespace ceph
