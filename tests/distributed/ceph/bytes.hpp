// SPDX-License-Identifier: Apache-2.0
// Bytes of Ceph's buffers.
#pragma once
#include <rados/buffer.h>
#include <random>
#include <string>

namespace ceph_host {

// All of it as text, for comparison.
inline std::string bytes_of(const ceph::bufferlist& list) {
  std::string bytes;
  for (const auto& part : list.buffers())
    bytes.append(part.c_str(), part.length());
  return bytes;
}

// `bytes` random bytes, the same for the same seed.
inline std::string random_bytes(std::size_t bytes, unsigned seed) {
  std::mt19937 generator(seed);
  std::string text(bytes, '\0');
  for (char& letter : text)
    letter = static_cast<char>(generator());
  return text;
}

inline ceph::bufferlist list_of(const std::string& bytes) {
  ceph::bufferlist list;
  ceph::bufferptr buffer(ceph::buffer::create_aligned(static_cast<unsigned>(bytes.size()), 64));
  bytes.copy(buffer.c_str(), bytes.size());
  list.push_back(std::move(buffer));
  return list;
}

inline ceph::bufferptr buffer_of(const std::string& bytes) {
  return list_of(bytes).front();
}

inline std::string bytes_in(const ceph::bufferptr& buffer) {
  return {buffer.c_str(), buffer.length()};
}

}  // namespace ceph_host
