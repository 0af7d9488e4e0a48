// SPDX-License-Identifier: Apache-2.0
// The functions that Ceph 20 adds: sets and maps of shards, and delta writes.
//
// A delta write changes parity without reading the other data: encode_delta computes the difference
// of old and new data, and apply_delta adds its contribution to each parity. Neither can report an
// error, so both throw, which stops the daemon before it writes parity that does not match.
#pragma once
#include "ceph/erasure_code.hpp"

namespace calpe_ceph {

class ShardErasureCode final : public ErasureCode {
 public:
  using ErasureCode::decode;
  using ErasureCode::decode_chunks;
  using ErasureCode::decode_concat;
  using ErasureCode::encode;
  using ErasureCode::encode_chunks;
  using ErasureCode::minimum_to_decode;
  using ErasureCode::minimum_to_decode_with_cost;

  int minimum_to_decode(const shard_id_set& want, const shard_id_set& available,
                        shard_id_set& minimum, ceph::ShardSubChunks* sub_chunks) override;
  int minimum_to_decode_with_cost(const shard_id_set& want, const shard_id_map<int>& available,
                                  shard_id_set* minimum) override;
  // A part of a chunk of this many bytes can be coded alone.
  std::size_t get_minimum_granularity() override;

  int encode(const shard_id_set& want, const ceph::bufferlist& in,
             ceph::ShardLists* encoded) override;
  int encode_chunks(const ceph::ShardBuffers& in, ceph::ShardBuffers& out) override;
  void encode_delta(const ceph::bufferptr& before, const ceph::bufferptr& after,
                    ceph::bufferptr* delta) override;
  void apply_delta(const ceph::ShardBuffers& in, ceph::ShardBuffers& out) override;

  int decode(const shard_id_set& want, const ceph::ShardLists& chunks, ceph::ShardLists* decoded,
             int chunk_bytes) override;
  int decode_chunks(const shard_id_set& want, ceph::ShardBuffers& in,
                    ceph::ShardBuffers& out) override;
  int decode_concat(const std::set<int>& want, const ceph::Chunks& chunks,
                    ceph::bufferlist* decoded) override;

  // Daemons of optimised pools read any k shards, so only codes for which these suffice support
  // them; and they code parts of chunks, so only codes of bytes do.
  std::uint64_t get_supported_optimizations() const override;
  std::string get_optimizations_flags_string() const override;
};

}  // namespace calpe_ceph
