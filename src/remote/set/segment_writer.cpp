// SPDX-License-Identifier: Apache-2.0
#include "remote/set/segment_writer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::remote {

Status put_object(Place& place, const std::string& name, std::span<const std::byte> bytes,
                  bool reads_back) {
  CALPE_CHECK(place.put(name, bytes));
  if (!reads_back) return Done{};
  std::vector<std::byte> back(bytes.size());
  CALPE_CHECK(place.read(name, back, 0));
  if (std::equal(back.begin(), back.end(), bytes.begin())) return Done{};
  return make_error(ErrorCode::io, place.label(), ": ", name,
                    " has other bytes than were written; the place is not reliable");
}

Status SegmentWriter::put_missing(const EncodedSegment& encoded) {
  std::vector<ShardIndex> missing;
  for (std::size_t i = 0; i < encoded.objects.size(); ++i) {
    const auto shard = static_cast<ShardIndex>(i);
    if (!catalogue_.has(encoded.segment.digest, shard, homes_[i], encoded.objects[i].size()))
      missing.push_back(shard);
  }
  return put(encoded, missing);
}

Status SegmentWriter::put(const EncodedSegment& encoded, std::span<const ShardIndex> shards) {
  if (shards.empty()) return Done{};
  const auto put_on = [&](std::size_t index) -> Status {
    for (const ShardIndex shard : shards) {
      if (homes_[shard] != index) continue;
      const std::string name = segment_path(coder_.set().uuid, encoded.segment.digest, shard);
      CALPE_CHECK(put_object(*places_[index].place, name, encoded.objects[shard], reads_back_));
    }
    return Done{};
  };
  CALPE_CHECK(places_.on_all(put_on));
  for (const ShardIndex shard : shards)
    bytes_written_ += encoded.objects[shard].size();
  objects_written_ += shards.size();
  return Done{};
}

}  // namespace calpe::remote
