// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache/entry_file.hpp"

#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace calpe::kernel {

namespace {

constexpr std::string_view magic = "CalpeK01";
constexpr std::size_t number_bytes = 8;
constexpr std::size_t checksum_bytes = sizeof(XXH128_canonical_t);
constexpr std::size_t footer_bytes = 2 * number_bytes + checksum_bytes + magic.size();

std::string number(std::uint64_t value) {
  std::string bytes;
  for (std::size_t i = 0; i < number_bytes; ++i)
    bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::uint64_t read_number(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < number_bytes; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  return value;
}

std::string checksum(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return {reinterpret_cast<const char*>(canonical.digest), checksum_bytes};
}

}  // namespace

std::string pack(const Entry& entry) {
  std::string bytes =
      entry.object + entry.content + number(entry.object.size()) + number(entry.content.size());
  bytes += checksum(bytes);
  return bytes += magic;
}

std::optional<Entry> unpack(std::string_view bytes) {
  if (bytes.size() < footer_bytes || !bytes.ends_with(magic)) return std::nullopt;
  const std::size_t covered = bytes.size() - magic.size() - checksum_bytes;
  if (checksum(bytes.substr(0, covered)) != bytes.substr(covered, checksum_bytes)) {
    return std::nullopt;
  }
  const std::size_t body = covered - 2 * number_bytes;
  const std::uint64_t object_bytes = read_number(bytes.substr(body));
  const std::uint64_t content_bytes = read_number(bytes.substr(body + number_bytes));
  if (object_bytes > body || content_bytes != body - object_bytes) return std::nullopt;
  return Entry{.object = std::string(bytes.substr(0, object_bytes)),
               .content = std::string(bytes.substr(object_bytes, content_bytes))};
}

}  // namespace calpe::kernel
