// SPDX-License-Identifier: Apache-2.0
// Helpers for Ceph's buffers, shared by encode and decode.
#pragma once
#include "ceph/ceph_interface.hpp"

namespace calpe_ceph {

// Aligns to cache lines, not pages, because a larger alignment makes the allocation slower.
inline ceph::bufferptr new_buffer(unsigned bytes) {
  constexpr unsigned alignment = 64;
  return ceph::bufferptr(ceph::buffer::create_aligned(bytes, alignment));
}

// Returns a writable pointer. Buffers are shared, so callers must own what they write.
inline char* first_byte(const ceph::bufferptr& buffer) {
  return const_cast<char*>(buffer.c_str());
}
inline char* first_byte(const ceph::bufferlist& list) {
  return first_byte(list.front());
}

// Callers add shards in ascending order, so the end is the right insertion hint.
inline ceph::bufferlist& empty_chunk(ceph::Chunks& chunks, unsigned shard) {
  ceph::bufferlist& chunk = chunks.try_emplace(chunks.end(), static_cast<int>(shard))->second;
  if (chunk.length() != 0) chunk.clear();
  return chunk;
}

}  // namespace calpe_ceph
