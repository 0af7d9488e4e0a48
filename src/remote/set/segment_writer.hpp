// SPDX-License-Identifier: Apache-2.0
// Uploads the objects of segments, those of different places at the same time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "remote/set/remote_set.hpp"
#include "remote/set/segment_coder.hpp"
#include "remote/set/shard_places.hpp"

namespace calpe::remote {

class SegmentWriter {
 public:
  // Borrows all but the homes. With `reads_back`, each object is read and compared after its
  // upload.
  SegmentWriter(Places& places, const Catalogue& catalogue, const SegmentCoder& coder, Homes homes,
                bool reads_back)
      : places_(places),
        catalogue_(catalogue),
        coder_(coder),
        homes_(std::move(homes)),
        reads_back_(reads_back) {}

  // Uploads the shards that the catalogue does not have at their homes.
  Status put_missing(const EncodedSegment& encoded);
  // Uploads these shards, whatever the catalogue has.
  Status put(const EncodedSegment& encoded, std::span<const ShardIndex> shards);

  const Homes& homes() const noexcept { return homes_; }
  std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  std::uint64_t objects_written() const noexcept { return objects_written_; }

 private:
  Places& places_;
  const Catalogue& catalogue_;
  const SegmentCoder& coder_;
  Homes homes_;
  bool reads_back_;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t objects_written_ = 0;
};

// Writes an object and, with `reads_back`, reads it again and compares.
Status put_object(Place& place, const std::string& name, std::span<const std::byte> bytes,
                  bool reads_back);

}  // namespace calpe::remote
