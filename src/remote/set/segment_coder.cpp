// SPDX-License-Identifier: Apache-2.0
#include "remote/set/segment_coder.hpp"

#include <algorithm>
#include <cstring>

#include "base/try.hpp"
#include "store/format/root_hash.hpp"

namespace calpe::remote {

namespace {

constexpr std::uint8_t digest_kind = 0x21;  // docs/remote-format.md

// Block `shard` of a stripe: its bytes in the segment, fewer at the end.
std::span<std::byte> used_part(std::span<std::byte> block, std::uint64_t offset,
                               std::uint64_t segment_bytes) {
  if (offset >= segment_bytes) return block.first(0);
  return block.first(std::min<std::uint64_t>(block.size(), segment_bytes - offset));
}

}  // namespace

Result<SegmentCoder> SegmentCoder::make(const store::ShardHeader& set) {
  CALPE_TRY(store::StripeCoder stripes, store::StripeCoder::make(set));
  return SegmentCoder(set, std::move(stripes));
}

Result<Digest> SegmentCoder::digest_of(std::span<const std::byte> content) const {
  store::Sha256 hash;
  return hash.begin(digest_kind).add(set_.uuid).add(content).finish();
}

Status SegmentCoder::encode(std::uint64_t bytes, const FillSegment& fill,
                            EncodedSegment& encoded) const {
  const SegmentShape shape(set_, bytes);
  const std::size_t data = set_.spec.data_shards;
  const std::size_t shards = data + set_.spec.parity_shards;
  encoded.objects.resize(shards);
  for (auto& object : encoded.objects)
    object.resize(shape.object_bytes());
  store::Sha256 hash;
  hash.begin(digest_kind).add(set_.uuid);
  for (std::uint64_t stripe = 0; stripe < shape.stripe_count; ++stripe) {
    for (std::size_t i = 0; i < data; ++i) {
      const auto block =
          std::span(encoded.objects[i])
              .subspan(shape.blocks_offset() + stripe * shape.block_bytes, shape.block_bytes);
      const std::uint64_t offset = (stripe * data + i) * shape.block_bytes;
      const auto used = used_part(block, offset, bytes);
      if (!used.empty()) CALPE_CHECK(fill(used, offset));
      if (used.size() < block.size())
        std::memset(block.data() + used.size(), 0, block.size() - used.size());
      hash.add(used);
    }
  }
  encoded.segment.bytes = bytes;
  CALPE_TRY(encoded.segment.digest, hash.finish());
  std::vector<ConstShard> inputs;
  std::vector<Shard> outputs;
  for (std::size_t i = 0; i < shards; ++i) {
    const auto blocks = std::span(encoded.objects[i]).subspan(shape.blocks_offset());
    if (i < data) {
      inputs.push_back(blocks);
    } else {
      outputs.push_back(blocks);
    }
  }
  CALPE_CHECK(stripes_.codec().encode(std::span<const ConstShard>(inputs),
                                      std::span<const Shard>(outputs)));
  for (std::size_t i = 0; i < shards; ++i)
    seal_object(set_, encoded.segment, static_cast<ShardIndex>(i), encoded.objects[i]);
  return Done{};
}

}  // namespace calpe::remote
