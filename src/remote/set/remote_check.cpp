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

using Object = PlaceMargin::Object;

// Where the shards of a segment are.
struct SegmentState {
  std::vector<Object> good = {};
  std::vector<BadObject> bad = {};

  const Object* find(std::size_t shard) const {
    const auto found = std::find_if(good.begin(), good.end(),
                                    [&](const Object& object) { return object.shard == shard; });
    return found == good.end() ? nullptr : &*found;
  }
  bool has(std::size_t shard, std::size_t place) const {
    return std::find(good.begin(), good.end(), Object{static_cast<ShardIndex>(shard), place}) !=
           good.end();
  }
};

std::vector<Object> good_by_listing(const SegmentCoder& coder, const Catalogue& catalogue,
                                    const Segment& segment) {
  const std::size_t shards =
      std::size_t{coder.set().spec.data_shards} + coder.set().spec.parity_shards;
  const std::uint64_t bytes = SegmentShape(coder.set(), segment.bytes).object_bytes();
  std::vector<Object> good;
  for (const Catalogue::Entry& entry : catalogue.of(segment.digest)) {
    if (entry.shard < shards && entry.bytes == bytes) good.push_back({entry.shard, entry.place});
  }
  return good;
}

bool can_decode(const SegmentCoder& coder, const std::vector<Object>& good) {
  std::vector<std::uint8_t> shards(std::size_t{coder.set().spec.data_shards} +
                                   coder.set().spec.parity_shards);
  for (const Object& object : good)
    shards[object.shard] = 1;
  return coder.stripes().can_rebuild(shards);
}

// The homes of the shards once they are repaired. Moves shards only if more places may be lost
// afterwards.
Homes homes_to_repair(const SegmentCoder& coder, const Catalogue& catalogue, std::size_t shards,
                      std::size_t places) {
  const Homes now = choose_homes(catalogue, shards, places);
  Homes even = spread_evenly(now, catalogue, places);
  const bool is_better = places_may_fail(coder, even, places) > places_may_fail(coder, now, places);
  return is_better ? even : now;
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
        writer_(places, catalogue, coder, homes_to_repair(coder, catalogue, shards_, places.size()),
                options.reads_back),
        wanted_(places_may_fail(coder, writer_.homes(), places.size())),
        margin_(coder, places.size()) {}

  Status run(const std::vector<Generation>& generations, CheckReport& report) {
    const std::vector<Segment> segments = distinct_segments(generations);
    report.segments = segments.size();
    report.losses.promised = promised_losses(coder_, generations.back());
    if (options_.repairs) CALPE_CHECK(check_not_weaker(segments, report.losses.promised));
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
    report.losses.possible = wanted_;
    if (lost.empty()) report.losses.may_fail = margin_.may_fail();
    report.objects_written = writer_.objects_written();
    report.bytes_written = writer_.bytes_written();
    return Done{};
  }

 private:
  // What is missing would go next to other shards. Asked before anything is changed.
  Status check_not_weaker(const std::vector<Segment>& segments, std::size_t promised) const {
    if (wanted_ >= promised || options_.allows_weaker) return Done{};
    for (const Segment& segment : segments) {
      const std::vector<Object> good = good_by_listing(coder_, catalogue_, segment);
      std::set<ShardIndex> found;
      for (const Object& object : good)
        found.insert(object.shard);
      if (found.size() == shards_ || !can_decode(coder_, good)) continue;
      return invalid(
          "missing shards would go to places that hold others, and then ",
          wanted_ == 0 ? std::string("losing one place may lose data")
                       : text("any ", wanted_, " of the ", places_.size(), " places may be lost"),
          ", instead of any ", promised,
          "; nothing was changed; add a new place for each lost one, or give --allow-weaker");
    }
    return Done{};
  }

  SegmentState look(const Segment& segment) {
    SegmentState state;
    if (!options_.is_quick) {
      for (const auto& object : reader_.check(segment, state.bad))
        state.good.push_back({object.shard, object.place});
      return state;
    }
    state.good = good_by_listing(coder_, catalogue_, segment);
    for (std::size_t shard = 0; shard < shards_; ++shard) {
      if (state.find(shard) == nullptr) {
        state.bad.push_back({static_cast<ShardIndex>(shard), places_.size(),
                             text("shard ", shard, " is on no place that answers")});
      }
    }
    return state;
  }

  // Returns true if the segment is lost.
  Result<bool> check(const Segment& segment, CheckReport& report) {
    SegmentState state = look(segment);
    for (const BadObject& object : state.bad)
      add_problem(report, object.why);
    bool is_damaged = false;
    for (std::size_t shard = 0; shard < shards_; ++shard)
      is_damaged = is_damaged || state.find(shard) == nullptr;
    if (is_damaged) ++report.damaged_segments;
    if (options_.repairs) return repair(segment, std::move(state), report);
    // Several damaged shards may still have k good blocks in each stripe.
    const bool is_lost =
        is_damaged && !can_decode(coder_, state.good) && (options_.is_quick || !read(segment));
    if (is_lost) ++report.lost_segments;
    if (!is_lost) margin_.add(std::move(state.good));
    return is_lost;
  }

  Result<bool> repair(const Segment& segment, SegmentState state, CheckReport& report) {
    std::vector<ShardIndex> missing;
    std::vector<Object> after = state.good;
    for (std::size_t shard = 0; shard < shards_; ++shard) {
      if (state.find(shard) != nullptr) continue;
      missing.push_back(static_cast<ShardIndex>(shard));
      after.push_back({static_cast<ShardIndex>(shard), writer_.homes()[shard]});
    }
    std::vector<ShardIndex> moved;
    if (may_fail(after) < wanted_) {
      for (std::size_t shard = 0; shard < shards_; ++shard) {
        const std::size_t home = writer_.homes()[shard];
        if (state.find(shard) == nullptr || state.has(shard, home)) continue;
        moved.push_back(static_cast<ShardIndex>(shard));
      }
    }
    if (!missing.empty()) {
      if (const Status status = read(segment); !status) {
        if (status.error().code != ErrorCode::unrecoverable) return status.error();
        add_problem(report, status.error().message);
        ++report.lost_segments;
        return true;
      }
      CALPE_CHECK(write(segment, missing));
    }
    CALPE_CHECK(move(segment, moved, state));
    report.objects_moved += moved.size();
    CALPE_CHECK(remove_bad(segment, state));
    for (const ShardIndex shard : missing)
      state.good.push_back({shard, writer_.homes()[shard]});
    margin_.add(std::move(state.good));
    return false;
  }

  Status write(const Segment& segment, const std::vector<ShardIndex>& shards) {
    const FillSegment fill = [&](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
      std::memcpy(bytes.data(), content_.data() + offset, bytes.size());
      return Done{};
    };
    CALPE_CHECK(coder_.encode(segment.bytes, fill, encoded_));
    if (encoded_.segment.digest != segment.digest)
      return make_error(ErrorCode::corrupt, "a segment changed while it was repaired");
    return writer_.put(encoded_, shards);
  }

  // Copies first, and removes afterwards.
  Status move(const Segment& segment, const std::vector<ShardIndex>& shards, SegmentState& state) {
    encoded_.segment = segment;
    encoded_.objects.resize(shards_);
    for (const ShardIndex shard : shards) {
      const Object from = *state.find(shard);
      Result<std::vector<std::byte>> bytes = reader_.read_object(segment, {from.shard, from.place});
      if (!bytes) {
        return make_error(bytes.error().code, bytes.error().message,
                          "; repair without --quick reads all objects first");
      }
      encoded_.objects[shard] = *std::move(bytes);
    }
    CALPE_CHECK(writer_.put(encoded_, shards));
    for (const ShardIndex shard : shards) {
      for (const Object& object : state.good) {
        if (object.shard == shard) CALPE_CHECK(remove(segment, object));
      }
      std::erase_if(state.good, [&](const Object& object) { return object.shard == shard; });
      state.good.push_back({shard, writer_.homes()[shard]});
    }
    return Done{};
  }

  // Wrong objects that were not replaced where they are: a good one is on another place.
  Status remove_bad(const Segment& segment, const SegmentState& state) {
    for (const BadObject& object : state.bad) {
      const bool is_replaced =
          object.place == writer_.homes()[object.shard] && state.find(object.shard) == nullptr;
      const bool is_object = object.place < places_.size() && object.is_wrong;
      if (is_object && !is_replaced && !state.has(object.shard, object.place))
        CALPE_CHECK(remove(segment, {object.shard, object.place}));
    }
    return Done{};
  }

  Status remove(const Segment& segment, const Object& object) {
    return places_[object.place].place->remove(
        segment_path(coder_.set().uuid, segment.digest, object.shard));
  }

  std::size_t may_fail(std::vector<Object> good) const {
    PlaceMargin margin(coder_, places_.size());
    margin.add(std::move(good));
    return margin.may_fail();
  }

  static void add_problem(CheckReport& report, const std::string& why) {
    const bool is_known =
        std::find(report.problems.begin(), report.problems.end(), why) != report.problems.end();
    if (!is_known && report.problems.size() < problems_max) report.problems.push_back(why);
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
  std::size_t wanted_;  // places that may be lost once all shards are at home
  PlaceMargin margin_;
  EncodedSegment encoded_;
  std::vector<std::byte> content_;
};

std::size_t count_up(const Places& places) {
  std::size_t up = 0;
  for (std::size_t place = 0; place < places.size(); ++place)
    up += places.is_up(place) ? 1 : 0;
  return up;
}

// A generation is lost with the last copy of its object.
void limit_by_copies(const std::vector<std::uint64_t>& copies, PlaceLosses& losses) {
  for (const std::uint64_t count : copies) {
    const std::size_t others = count == 0 ? 0 : count - 1;
    if (losses.may_fail) losses.may_fail = std::min(*losses.may_fail, others);
  }
}

std::vector<std::uint64_t> listed_copies(const Places& places, const RemoteSet& set) {
  std::vector<std::uint64_t> counts;
  for (const GenerationCopies& copies : set.generations) {
    counts.push_back(static_cast<std::uint64_t>(
        std::count_if(copies.copies.begin(), copies.copies.end(),
                      [&](const auto& copy) { return places.is_up(copy.place); })));
  }
  return counts;
}

bool is_lost_by_listing(const SegmentCoder& coder, const Catalogue& catalogue,
                        const Generation& generation) {
  const std::vector<Segment> segments = all_segments(generation);
  return std::any_of(segments.begin(), segments.end(), [&](const Segment& segment) {
    return !can_decode(coder, good_by_listing(coder, catalogue, segment));
  });
}

// Takes out generations that were forgotten and returned with an old state of a place: an older
// generation whose segments are gone, and which not all places have. Returns one problem for each.
std::vector<std::string> take_out_forgotten(const Places& places, const SegmentCoder& coder,
                                            const Catalogue& catalogue, RemoteSet& set,
                                            std::vector<Generation>& generations) {
  std::vector<std::string> problems;
  for (std::size_t i = generations.size() - 1; i-- > 0;) {
    const std::size_t copies = set.generations[i].copies.size();
    if (copies >= count_up(places) || !is_lost_by_listing(coder, catalogue, generations[i]))
      continue;
    problems.push_back(text("generation ", set.generations[i].number, " is on ", copies, " of ",
                            places.size(),
                            " places only, and its segments are gone: it was forgotten; calpe "
                            "remote forget removes it"));
    generations.erase(generations.begin() + static_cast<std::ptrdiff_t>(i));
    set.generations.erase(set.generations.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return problems;
}

Result<CheckReport> check_listed_set(Places& places, RemoteSet set, const CheckOptions& options,
                                     const ChangeLock* lock) {
  CALPE_TRY(std::vector<Generation> generations, load_generations(places, set));
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, set.uuid, options.repairs));
  CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(generations.back().header));
  CheckReport report = {.newest = generations.back()};
  report.problems = take_out_forgotten(places, coder, catalogue, set, generations);
  const std::size_t forgotten = report.problems.size();
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (!places.is_up(place)) report.problems.push_back(places[place].why_down);
  }
  Check check(places, catalogue, coder, options);
  CALPE_CHECK(check.run(generations, report));
  report.losses.places = count_up(places);
  std::vector<std::uint64_t> copies = listed_copies(places, set);
  if (lock != nullptr) {
    CALPE_TRY([[maybe_unused]] const RemoteSet now, lock->list_set());
    CALPE_TRY(report.missing_copies, write_missing_copies(places, set, generations));
    copies.assign(copies.size(), places.size());
  } else if (report.losses.places == places.size()) {
    CALPE_TRY(const auto missing, count_missing_copies(places, set, generations));
    for (std::size_t i = 0; i < missing.size(); ++i) {
      report.missing_copies += missing[i];
      copies[i] = places.size() - missing[i];
    }
    report.missing_copies += forgotten;  // not good, but nothing is lost
  }
  limit_by_copies(copies, report.losses);
  return report;
}

Result<CheckReport> check_set(Places& places, const RemoteSet& set, const CheckOptions& options) {
  if (!options.repairs) return check_listed_set(places, set, options, nullptr);
  CALPE_TRY(const ChangeLock lock, ChangeLock::acquire(places, set.uuid, options.change));
  CALPE_TRY(const RemoteSet now, lock.list_set());
  if (now.generations.empty())
    return make_error(ErrorCode::io, "another command changed the set; run this one again");
  return check_listed_set(places, now, options, &lock);
}

}  // namespace

Result<CheckReport> check_on_places(Places& places, const RemoteSet& set,
                                    const CheckOptions& options) {
  return guarded([&] { return check_set(places, set, options); });
}

Result<PlaceLosses> losses_by_listing(Places& places, const RemoteSet& set,
                                      const std::vector<Generation>& generations) {
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, set.uuid, false));
  CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(generations.back().header));
  RemoteSet known = set;
  std::vector<Generation> kept = generations;
  (void)take_out_forgotten(places, coder, catalogue, known, kept);
  PlaceLosses losses = {.places = count_up(places),
                        .promised = promised_losses(coder, generations.back())};
  const Homes homes =
      homes_to_repair(coder, catalogue, generations.back().shard_count(), places.size());
  losses.possible = places_may_fail(coder, homes, places.size());
  PlaceMargin margin(coder, places.size());
  bool is_lost = false;
  for (const Segment& segment : distinct_segments(kept)) {
    std::vector<Object> good = good_by_listing(coder, catalogue, segment);
    is_lost = is_lost || !can_decode(coder, good);
    margin.add(std::move(good));
  }
  if (!is_lost) losses.may_fail = margin.may_fail();
  limit_by_copies(listed_copies(places, known), losses);
  return losses;
}

}  // namespace calpe::remote
