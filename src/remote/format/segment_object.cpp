// SPDX-License-Identifier: Apache-2.0
#include "remote/format/segment_object.hpp"

#include <cstring>
#include <string_view>

#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::remote {

namespace {
constexpr std::string_view magic = "calpe-o1";
constexpr std::uint32_t version = 1;
}  // namespace

SegmentShape::SegmentShape(const store::ShardHeader& set, std::uint64_t segment_bytes) noexcept
    : block_bytes(set.block_bytes),
      data_shards(set.spec.data_shards),
      stripe_count(divide_up(segment_bytes, block_bytes * data_shards)) {}

std::array<std::byte, segment_header_bytes> segment_header(const store::ShardHeader& set,
                                                           const Segment& segment,
                                                           ShardIndex shard) {
  std::array<std::byte, segment_header_bytes> bytes = {};
  std::byte* const at = bytes.data();
  std::memcpy(at, magic.data(), magic.size());
  store_little(at + 8, version);
  store_little(at + 12, set.block_bytes);
  store_little(at + 16, set.uuid);
  store_little(at + 32, segment.digest);
  store_little(at + 64, segment.bytes);
  store_little(at + 72, static_cast<std::uint16_t>(shard));
  store_little(at + 74, static_cast<std::uint16_t>(set.spec.data_shards));
  store_little(at + 76, static_cast<std::uint16_t>(set.spec.parity_shards));
  store_little(at + 120, store::plain_checksum(std::span(bytes).first(120)));
  return bytes;
}

std::uint64_t segment_checksum(const Uuid& uuid, const Digest& segment, std::uint64_t stripe,
                               ShardIndex shard, std::span<const std::byte> block) noexcept {
  const auto content = load_little<std::uint64_t>(segment.data());
  return store::block_checksum(
      {.uuid = uuid, .generation = content, .stripe = stripe, .shard = shard}, block);
}

void seal_object(const store::ShardHeader& set, const Segment& segment, ShardIndex shard,
                 std::span<std::byte> object) {
  const SegmentShape shape(set, segment.bytes);
  const auto header = segment_header(set, segment, shard);
  std::memcpy(object.data(), header.data(), header.size());
  for (std::uint64_t stripe = 0; stripe < shape.stripe_count; ++stripe) {
    const auto block =
        object.subspan(shape.blocks_offset() + stripe * shape.block_bytes, shape.block_bytes);
    store_little(object.data() + segment_header_bytes + 8 * stripe,
                 segment_checksum(set.uuid, segment.digest, stripe, shard, block));
  }
}

}  // namespace calpe::remote
