// SPDX-License-Identifier: Apache-2.0
#include "remote/set/manifest_reader.hpp"

#include "base/try.hpp"
#include "remote/format/segment_object.hpp"

namespace calpe::remote {

Result<store::Manifest> read_manifest(SegmentReader& reader, const Generation& generation) {
  const store::ShardHeader& header = generation.header;
  std::vector<std::byte> bytes;
  std::vector<BadObject> bad;
  for (const Segment& segment :
       segments_of(generation.manifest, header.manifest_bytes, generation.segment_bytes)) {
    const SegmentShape shape(header, segment.bytes);
    const std::size_t begin = bytes.size();
    bytes.resize(begin + shape.stripe_count * shape.stripe_bytes());
    CALPE_CHECK(
        reader.read(segment, {0, shape.stripe_count}, std::span(bytes).subspan(begin), bad));
    bytes.resize(begin + segment.bytes);
  }
  return store::parse_manifest(bytes, header.manifest_offset);
}

}  // namespace calpe::remote
