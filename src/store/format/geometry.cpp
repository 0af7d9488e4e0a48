// SPDX-License-Identifier: Apache-2.0
#include "store/format/geometry.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/divide_up.hpp"

namespace calpe::store {

namespace {

constexpr std::uint32_t usual_block_bytes = 1U << 16U;
constexpr std::uint64_t checksum_bytes = 8;
// Between both copies of a manifest, so that no sector has bytes of both.
constexpr std::array<std::byte, 4096> list_gap = {};

}  // namespace

std::uint64_t Geometry::stripes_in_group(std::uint64_t group) const noexcept {
  return std::min(group_stripes, stripe_count - group * group_stripes);
}

std::uint64_t Geometry::group_offset(std::uint64_t group) const noexcept {
  return header_bytes + group * (group_stripes * block_bytes + page_count * page_bytes);
}

std::uint64_t Geometry::block_offset(std::uint64_t stripe) const noexcept {
  return group_offset(stripe / group_stripes) + stripe % group_stripes * block_bytes;
}

std::uint64_t Geometry::checksum_offset(std::uint64_t stripe, std::uint64_t page) const noexcept {
  const std::uint64_t group = stripe / group_stripes;
  return group_offset(group) + stripes_in_group(group) * block_bytes + page * page_bytes +
         stripe % group_stripes * checksum_bytes;
}

std::uint64_t Geometry::body_end() const noexcept {
  return header_bytes + stripe_count * block_bytes +
         divide_up(stripe_count, group_stripes) * page_count * page_bytes;
}

Geometry geometry_of(const ShardHeader& header) noexcept {
  const bool is_originals = header.kind == SetKind::originals;
  return {.block_bytes = header.block_bytes,
          .stripe_count = header.stripe_count,
          .page_count = is_originals ? header.spec.data_shards + std::uint64_t{2} : 1};
}

std::uint64_t shard_file_bytes(const ShardHeader& header) noexcept {
  const bool is_originals = header.kind == SetKind::originals;
  std::uint64_t list_bytes = is_originals ? header.manifest_bytes : 0;
  if (has_two_lists(header)) list_bytes += list_gap.size() + header.manifest_bytes;
  return geometry_of(header).body_end() + list_bytes + header_bytes;
}

bool has_two_lists(const ShardHeader& header) noexcept {
  return header.version >= header_version_digests;
}

std::vector<std::uint64_t> list_offsets(const ShardHeader& header) {
  std::vector<std::uint64_t> offsets = {header.manifest_offset};
  if (has_two_lists(header))
    offsets.push_back(header.manifest_offset + header.manifest_bytes + list_gap.size());
  return offsets;
}

std::vector<ListPart> list_parts(const ShardHeader& header, std::span<const std::byte> manifest) {
  CALPE_ASSERT(manifest.size() == header.manifest_bytes);
  std::vector<ListPart> parts;
  for (const std::uint64_t offset : list_offsets(header)) {
    if (!parts.empty()) parts.push_back({offset - list_gap.size(), list_gap});
    parts.push_back({offset, manifest});
  }
  return parts;
}

std::uint32_t choose_block_bytes(std::uint64_t content_bytes, unsigned data_shards) noexcept {
  if (content_bytes == 0) return usual_block_bytes;
  const std::uint64_t share = divide_up(divide_up(content_bytes, data_shards), block_bytes_min);
  // Take the minimum first: 64 times the share of the largest content would overflow.
  const std::uint64_t units = std::min<std::uint64_t>(share, usual_block_bytes / block_bytes_min);
  return static_cast<std::uint32_t>(units * block_bytes_min);
}

}  // namespace calpe::store
