// SPDX-License-Identifier: Apache-2.0
#include "remote/set/remote_check.hpp"

#include <algorithm>
#include <cstring>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/format/segment_object.hpp"
#include "remote/set/segment_reader.hpp"
#include "remote/set/segment_writer.hpp"

namespace calpe::remote {

namespace {

constexpr std::size_t problems_max = 100;

std::vector<Segment> distinct_segments(const std::vector<Generation>& generations) {
  std::vector<Segment> all;
  for (const Generation& generation : generations) {
    const auto more = all_segments(generation);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end(),
            [](const Segment& a, const Segment& b) { return a.digest < b.digest; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Segment& a, const Segment& b) { return a.digest == b.digest; }),
            all.end());
  return all;
}

std::uint64_t content_bytes(const std::vector<Segment>& segments) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments)
    bytes += segment.bytes;
  return bytes;
}

class Check {
 public:
  Check(Places& places, const Catalogue& catalogue, const SegmentCoder& coder,
        const CheckOptions& options)
      : places_(places),
        catalogue_(catalogue),
        coder_(coder),
        options_(options),
        shards_(std::size_t{coder.set().spec.data_shards} + coder.set().spec.parity_shards),
        reader_(places, catalogue, coder),
        writer_(places, catalogue, coder, choose_homes(catalogue, shards_, places.size()),
                options.reads_back) {}

  Status run(const std::vector<Generation>& generations, CheckReport& report) {
    const std::vector<Segment> segments = distinct_segments(generations);
    report.segments = segments.size();
    std::vector<Digest> lost;
    const std::uint64_t all = content_bytes(segments);
    std::uint64_t done = 0;
    for (const Segment& segment : segments) {
      CALPE_TRY(const bool is_lost, check(segment, report));
      if (is_lost) lost.push_back(segment.digest);
      done += segment.bytes;
      if (options_.on_progress) options_.on_progress(done, all);
    }
    for (const Generation& generation : generations) {
      const auto needs_lost = [&](const std::vector<Digest>& digests) {
        return std::any_of(digests.begin(), digests.end(), [&](const Digest& digest) {
          return std::find(lost.begin(), lost.end(), digest) != lost.end();
        });
      };
      if (needs_lost(generation.data) || needs_lost(generation.manifest))
        report.lost_generations.push_back(generation.header.generation);
    }
    report.objects_written = writer_.objects_written();
    report.bytes_written = writer_.bytes_written();
    return Done{};
  }

 private:
  // By shard: whether a good object is on some place.
  std::vector<std::uint8_t> good_shards(const Segment& segment, std::vector<BadObject>& bad) {
    std::vector<std::uint8_t> good(shards_);
    if (!options_.is_quick) {
      for (const auto& object : reader_.check(segment, bad))
        good[object.shard] = 1;
      return good;
    }
    const std::uint64_t bytes = SegmentShape(coder_.set(), segment.bytes).object_bytes();
    for (const Catalogue::Entry& entry : catalogue_.of(segment.digest)) {
      if (entry.shard < shards_ && entry.bytes == bytes) good[entry.shard] = 1;
    }
    for (std::size_t shard = 0; shard < shards_; ++shard) {
      if (good[shard] == 0) {
        bad.push_back({static_cast<ShardIndex>(shard), places_.size(),
                       text("shard ", shard, " is on no place that answers")});
      }
    }
    return good;
  }

  Result<bool> check(const Segment& segment, CheckReport& report) {
    std::vector<BadObject> bad;
    const std::vector<std::uint8_t> good = good_shards(segment, bad);
    for (const BadObject& object : bad) {
      const bool is_known = std::find(report.problems.begin(), report.problems.end(), object.why) !=
                            report.problems.end();
      if (!is_known && report.problems.size() < problems_max) report.problems.push_back(object.why);
    }
    std::vector<ShardIndex> wanted;
    for (std::size_t shard = 0; shard < shards_; ++shard) {
      if (good[shard] == 0) wanted.push_back(static_cast<ShardIndex>(shard));
    }
    if (wanted.empty()) return false;
    ++report.damaged_segments;
    if (!options_.repairs) {
      // Several damaged shards may still have k good blocks in each stripe.
      if (coder_.stripes().can_rebuild(good)) return false;
      if (!options_.is_quick && read(segment)) return false;
      ++report.lost_segments;
      return true;
    }
    if (const Status status = read(segment); !status) {
      if (status.error().code != ErrorCode::unrecoverable) return status.error();
      if (report.problems.size() < problems_max) report.problems.push_back(status.error().message);
      ++report.lost_segments;
      return true;
    }
    const FillSegment fill = [&](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
      std::memcpy(bytes.data(), content_.data() + offset, bytes.size());
      return Done{};
    };
    CALPE_CHECK(coder_.encode(segment.bytes, fill, encoded_));
    if (encoded_.segment.digest != segment.digest)
      return make_error(ErrorCode::corrupt, "a segment changed while it was repaired");
    CALPE_CHECK(writer_.put(encoded_, wanted));
    return false;
  }

  Status read(const Segment& segment) {
    const SegmentShape shape(coder_.set(), segment.bytes);
    content_.resize(shape.stripe_count * shape.stripe_bytes());
    std::vector<BadObject> bad;
    return reader_.read(segment, {0, shape.stripe_count}, content_, bad);
  }

  Places& places_;
  const Catalogue& catalogue_;
  const SegmentCoder& coder_;
  const CheckOptions& options_;
  std::size_t shards_;
  SegmentReader reader_;
  SegmentWriter writer_;
  EncodedSegment encoded_;
  std::vector<std::byte> content_;
};

Result<CheckReport> check_set(Places& places, const RemoteSet& set, const CheckOptions& options) {
  if (options.repairs) CALPE_CHECK(places.check_all_up());
  CALPE_TRY(const std::vector<Generation> generations, load_generations(places, set));
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, set.uuid, options.repairs));
  CheckReport report = {.newest = generations.back()};
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (!places.is_up(place)) report.problems.push_back(places[place].why_down);
  }
  CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(generations.back().header));
  Check check(places, catalogue, coder, options);
  CALPE_CHECK(check.run(generations, report));
  std::uint64_t down = 0;
  for (std::size_t place = 0; place < places.size(); ++place)
    down += places.is_up(place) ? 0 : 1;
  if (down == 0) {
    CALPE_TRY(report.missing_copies, options.repairs
                                         ? write_missing_copies(places, set, generations)
                                         : count_missing_copies(places, set, generations));
  }
  return report;
}

}  // namespace

Result<CheckReport> check_on_places(Places& places, const RemoteSet& set,
                                    const CheckOptions& options) {
  return guarded([&] { return check_set(places, set, options); });
}

}  // namespace calpe::remote
