// SPDX-License-Identifier: Apache-2.0
// Small steps with Ceph's buffers that encode and decode share.
#pragma once
#include "ceph/ceph_interface.hpp"

namespace calpe_ceph {

// Cache lines, not pages: an aligned allocation costs more the larger the alignment is.
inline ceph::bufferptr new_buffer(unsigned bytes) {
  constexpr unsigned alignment = 64;
  return ceph::bufferptr(ceph::buffer::create_aligned(bytes, alignment));
}

// Buffers are shared by many lists and read through const ones; whoever writes says so.
inline char* first_byte(const ceph::bufferptr& buffer) {
  return const_cast<char*>(buffer.c_str());
}
inline char* first_byte(const ceph::bufferlist& list) {
  return first_byte(list.front());
}

// Shards come in ascending order, so that the end is the right place in an empty map.
inline ceph::bufferlist& empty_chunk(ceph::Chunks& chunks, unsigned shard) {
  ceph::bufferlist& chunk = chunks.try_emplace(chunks.end(), static_cast<int>(shard))->second;
  if (chunk.length() != 0) chunk.clear();
  return chunk;
}

}  // namespace calpe_ceph
