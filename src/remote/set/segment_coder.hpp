// SPDX-License-Identifier: Apache-2.0
// Turns the content of a segment into its k + m objects.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "remote/format/segment_object.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::remote {

// Fills a part of the segment, at an offset in it.
using FillSegment = std::function<Status(std::span<std::byte> bytes, std::uint64_t offset)>;

struct EncodedSegment {
  Segment segment = {};
  std::vector<std::vector<std::byte>> objects = {};  // by shard
};

class SegmentCoder {
 public:
  // Fails with corrupt if the code of the set is invalid.
  static Result<SegmentCoder> make(const store::ShardHeader& set);

  const store::ShardHeader& set() const noexcept { return set_; }
  const store::StripeCoder& stripes() const noexcept { return stripes_; }
  // Reads, hashes and encodes a segment of this many bytes. The buffers of `encoded` are reused.
  Status encode(std::uint64_t bytes, const FillSegment& fill, EncodedSegment& encoded) const;
  // Digest of a segment: SHA-256 of the set and the content.
  Result<Digest> digest_of(std::span<const std::byte> content) const;

 private:
  SegmentCoder(store::ShardHeader set, store::StripeCoder stripes)
      : set_(std::move(set)), stripes_(std::move(stripes)) {}

  store::ShardHeader set_;
  store::StripeCoder stripes_;
};

}  // namespace calpe::remote
