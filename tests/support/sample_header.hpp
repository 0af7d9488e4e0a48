// SPDX-License-Identifier: Apache-2.0
// A header with a value in every field. Digests in tests depend on it.
#pragma once
#include "store/format/shard_header.hpp"

namespace calpe::store {

inline ShardHeader sample_header() {
  ShardHeader header;
  for (std::size_t i = 0; i < header.uuid.size(); ++i) {
    header.uuid[i] = static_cast<std::byte>(0xA0 + i);
  }
  header.generation = 3;
  header.shard_index = 11;
  header.block_bytes = 65536;
  header.stripe_count = 5;
  header.content_bytes = 4 * 10 * 65536 + 1234;
  header.manifest_bytes = 100;
  header.manifest_offset = header.content_bytes - 100;
  header.spec = {.family = CodeFamily::hybrid,
                 .data_shards = 10,
                 .parity_shards = 4,
                 .polynomial = 0x11D,
                 .matrix_hash = 0x1122334455667788};
  header.name = "photos";
  return header;
}

}  // namespace calpe::store
