// SPDX-License-Identifier: Apache-2.0
// The erasure code of one placement group, as a daemon sees it.
//
// A daemon aborts (ceph_assert) if encode or decode returns an error. Daemons call
// minimum_to_decode before they read, so that function refuses losses that cannot be rebuilt.
// decode fails only for chunks that minimum_to_decode did not return, or if memory runs out.
#pragma once
#include <array>
#include <memory>

#include "ceph/ceph_interface.hpp"
#include "ceph/shared_code.hpp"

namespace calpe_ceph {

// The functions that daemons of all releases call. For Ceph 20, ShardErasureCode adds others.
class ErasureCode : public ceph::ErasureCodeInterface {
 public:
  int init(ceph::ErasureCodeProfile& profile, std::ostream* errors) override;
  const ceph::ErasureCodeProfile& get_profile() const override { return profile_; }
  int create_rule(const std::string& name, CrushWrapper& crush,
                  std::ostream* errors) const override;

  unsigned get_chunk_count() const override { return data_count_ + parity_count_; }
  unsigned get_data_chunk_count() const override { return data_count_; }
  unsigned get_coding_chunk_count() const override { return parity_count_; }
  int get_sub_chunk_count() override { return 1; }
  unsigned get_chunk_size(unsigned object_bytes) const override;
  const ceph::ChunkMapping& get_chunk_mapping() const override { return mapping_; }

  int minimum_to_decode(const std::set<int>& want, const std::set<int>& available,
                        ceph::SubChunks* minimum) override;
  int minimum_to_decode_with_cost(const std::set<int>& want, const std::map<int, int>& available,
                                  std::set<int>* minimum) override;

  int encode(const std::set<int>& want, const ceph::bufferlist& in, ceph::Chunks* encoded) override;
  int encode_chunks(const std::set<int>& want, ceph::Chunks* encoded) override;
  int decode(const std::set<int>& want, const ceph::Chunks& chunks, ceph::Chunks* decoded,
             int chunk_bytes) override;
  int decode_chunks(const std::set<int>& want, const ceph::Chunks& chunks,
                    ceph::Chunks* decoded) override;
  int decode_concat(const ceph::Chunks& chunks, ceph::bufferlist* decoded) override;

 protected:
  SharedCode& code() const { return *code_; }
  // The shards that a daemon has to read, as a mask in `reads`. Returns 0, or -EIO if the available
  // shards do not suffice.
  int find_reads(ShardMask want, ShardMask available, ShardMask& reads) const;

 private:
  template <class Set>
  ShardMask mask_of(const Set& shards) const;

  ceph::ErasureCodeProfile profile_;
  Settings settings_;
  std::shared_ptr<SharedCode> code_;
  unsigned data_count_ = 0, parity_count_ = 0;
  unsigned chunk_multiple_ = 1;
  ceph::ChunkMapping mapping_;  // empty: data chunks come first
};

}  // namespace calpe_ceph
