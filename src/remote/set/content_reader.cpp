// SPDX-License-Identifier: Apache-2.0
#include "remote/set/content_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide_up.hpp"
#include "base/try.hpp"
#include "remote/format/segment_object.hpp"

namespace calpe::remote {

ContentReader::ContentReader(SegmentReader& reader, const Generation& generation,
                             std::vector<store::ContentRange> wanted)
    : reader_(reader),
      generation_(generation),
      segments_(segments_of(generation.data, generation.data_bytes(), generation.segment_bytes)),
      wanted_(store::merged(std::move(wanted))) {}

Status ContentReader::load(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t size = generation_.segment_bytes;
  const std::uint64_t index = offset / size;
  if (index >= segments_.size())
    return Error{ErrorCode::corrupt, "the list of files names bytes after the end of the data"};
  const Segment& segment = segments_[index];
  const SegmentShape shape(generation_.header, segment.bytes);
  const std::uint64_t begin = offset - index * size;
  const std::uint64_t wanted_end =
      std::max(offset + bytes, store::end_of_range_at(wanted_, offset)) - index * size;
  const std::uint64_t end = std::min(segment.bytes, wanted_end);
  const StripeRange range = {begin / shape.stripe_bytes(),
                             divide_up(end, shape.stripe_bytes()) - begin / shape.stripe_bytes()};
  loaded_end_ = loaded_begin_ = 0;
  loaded_.resize(range.count * shape.stripe_bytes());
  std::vector<BadObject> bad;
  CALPE_CHECK(reader_.read(segment, range, loaded_, bad));
  for (const BadObject& object : bad) {
    if (problems_.size() < 100) problems_.insert(object.why);
  }
  loaded_begin_ = index * size + range.first * shape.stripe_bytes();
  loaded_end_ = std::min(loaded_begin_ + loaded_.size(), index * size + segment.bytes);
  return Done{};
}

Status ContentReader::read(std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    if (offset < loaded_begin_ || offset >= loaded_end_) CALPE_CHECK(load(offset, bytes.size()));
    const auto count = std::min<std::uint64_t>(bytes.size(), loaded_end_ - offset);
    std::memcpy(bytes.data(), loaded_.data() + (offset - loaded_begin_), count);
    bytes = bytes.subspan(count);
    offset += count;
  }
  return Done{};
}

}  // namespace calpe::remote
