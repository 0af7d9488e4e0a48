// SPDX-License-Identifier: Apache-2.0
// Daemons encode one stripe per call, by default with chunks of 4 KiB. Buffers and maps then cost
// as much as the code itself. To save copies, data chunks are parts of the object's buffer, and all
// parity of a stripe is one allocation.
#include <cerrno>

#include "ceph/chunk_buffers.hpp"
#include "ceph/erasure_code.hpp"

namespace calpe_ceph {

namespace {

using ceph::bufferlist;
using ceph::bufferptr;

// Returns bytes [offset, offset + bytes) of `in` in one buffer, padded with zeros.
void cut_chunk(const bufferlist& in, unsigned offset, unsigned bytes, bufferlist& chunk) {
  if (std::uint64_t{offset} + bytes <= in.length()) {
    chunk.substr_of(in, offset, bytes);
    if (chunk.get_num_buffers() > 1) chunk.rebuild();
    return;
  }
  bufferptr padded = new_buffer(bytes);
  const unsigned held = offset < in.length() ? in.length() - offset : 0;
  if (held != 0) in.begin(offset).copy(held, padded.c_str());
  padded.zero(held, bytes - held);
  chunk.push_back(std::move(padded));
}

}  // namespace

int ErasureCode::encode(const std::set<int>& want, const bufferlist& in, ceph::Chunks* encoded) {
  const unsigned bytes = get_chunk_size(in.length());
  const unsigned chunk_count = get_chunk_count();
  std::array<void*, shards_max> shards{};
  const bool is_whole = in.get_num_buffers() == 1 && in.length() == bytes * data_count_;
  // The list usually has a single buffer.
  char* const start = is_whole ? first_byte(in) : nullptr;
  for (unsigned i = 0; i < data_count_; ++i) {
    bufferlist& chunk = empty_chunk(*encoded, i);
    if (bytes == 0) continue;
    if (is_whole) {
      chunk.push_back(bufferptr(in.front(), i * bytes, bytes));
      shards[i] = start + i * bytes;
    } else {
      cut_chunk(in, i * bytes, bytes, chunk);
      shards[i] = first_byte(chunk);
    }
  }
  if (bytes != 0) {
    const bufferptr parity = new_buffer(bytes * parity_count_);
    char* const parity_start = first_byte(parity);
    for (unsigned i = 0; i < parity_count_; ++i) {
      empty_chunk(*encoded, data_count_ + i).push_back(bufferptr(parity, i * bytes, bytes));
      shards[data_count_ + i] = parity_start + i * bytes;
    }
    if (calpe_encode(code_->codec(), shards.data(), shards.data() + data_count_, bytes, nullptr) !=
        CALPE_OK) {
      return -EIO;
    }
  } else {
    for (unsigned i = data_count_; i < chunk_count; ++i)
      empty_chunk(*encoded, i);
  }
  for (unsigned i = 0; i < chunk_count && want.size() < chunk_count; ++i) {
    if (want.count(static_cast<int>(i)) == 0) encoded->erase(static_cast<int>(i));
  }
  return 0;
}

// The caller has allocated all buffers, including parity. They may be fragmented.
int ErasureCode::encode_chunks(const std::set<int>& /*want*/, ceph::Chunks* encoded) {
  std::array<void*, shards_max> shards{};
  const unsigned bytes = encoded->empty() ? 0 : encoded->begin()->second.length();
  for (unsigned i = 0; i < get_chunk_count(); ++i) {
    const auto chunk = encoded->find(static_cast<int>(i));
    if (chunk == encoded->end() || chunk->second.length() != bytes) return -EINVAL;
    shards[i] = chunk->second.c_str();  // joins fragments
  }
  if (bytes % chunk_multiple_ != 0) return -EINVAL;
  const calpe_status status =
      calpe_encode(code_->codec(), shards.data(), shards.data() + data_count_, bytes, nullptr);
  return status == CALPE_OK ? 0 : -EIO;
}

}  // namespace calpe_ceph
