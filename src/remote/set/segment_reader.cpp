// SPDX-License-Identifier: Apache-2.0
#include "remote/set/segment_reader.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::remote {

// The blocks of one shard in the range, from all copies tried so far.
struct SegmentReader::Fetched {
  std::vector<std::byte> blocks = {};
  std::vector<std::uint8_t> good = {};  // by stripe of the range
};

struct SegmentReader::Job {
  ShardIndex shard = 0;
  std::size_t place = 0;
  Status status = Done{};
  Fetched fetched = {};
  std::uint64_t bytes = 0;
};

std::vector<SegmentReader::Job> SegmentReader::candidates(const Segment& segment,
                                                          std::vector<BadObject>& bad) const {
  const SegmentShape shape(coder_.set(), segment.bytes);
  const std::size_t shards =
      std::size_t{coder_.set().spec.data_shards} + coder_.set().spec.parity_shards;
  std::vector<Job> jobs;
  std::vector<std::uint8_t> is_there(shards);
  for (const Catalogue::Entry& entry : catalogue_.of(segment.digest)) {
    if (entry.shard >= shards) continue;
    is_there[entry.shard] = 1;
    if (!places_.is_up(entry.place)) {
      bad.push_back({entry.shard, entry.place, places_[entry.place].why_down});
    } else if (entry.bytes != shape.object_bytes()) {
      bad.push_back({entry.shard, entry.place,
                     text(places_.label(entry.place), ": shard ", entry.shard, " has ", entry.bytes,
                          " bytes; expected ", shape.object_bytes()),
                     true});
    } else {
      jobs.push_back({.shard = entry.shard, .place = entry.place});
    }
  }
  for (std::size_t shard = 0; shard < shards; ++shard) {
    if (is_there[shard] == 0) {
      bad.push_back({static_cast<ShardIndex>(shard), places_.size(),
                     text("shard ", shard, " is on no place that answers")});
    }
  }
  // Slow places last, then places that failed; data shards first, as they need no decoding.
  const auto rank = [&](const Job& job) {
    const unsigned failed = job.place < failures_.size() ? failures_[job.place] : 0;
    return std::tuple(std::min(failed, 3U), places_[job.place].slowness, job.shard);
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return rank(a) < rank(b); });
  return jobs;
}

Status SegmentReader::fetch_one(const Segment& segment, const StripeRange& range, Job& job) {
  const store::ShardHeader& set = coder_.set();
  const SegmentShape shape(set, segment.bytes);
  Place& place = *places_[job.place].place;
  const std::string name = segment_path(set.uuid, segment.digest, job.shard);
  const std::uint64_t wanted = range.count * shape.block_bytes;
  const std::uint64_t blocks_at = shape.blocks_offset() + range.first * shape.block_bytes;
  std::vector<std::byte> head(shape.blocks_offset());
  job.fetched.good.assign(range.count, 0);
  // One request if it reads at most twice the wanted bytes.
  const bool is_one = blocks_at + wanted <= shape.blocks_offset() + 2 * wanted;
  if (is_one) {
    std::vector<std::byte> all(blocks_at + wanted);
    CALPE_CHECK(place.read(name, all, 0));
    std::memcpy(head.data(), all.data(), head.size());
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(blocks_at));
    job.fetched.blocks = std::move(all);
    job.bytes = blocks_at + wanted;
  } else {
    CALPE_CHECK(place.read(name, head, 0));
    job.fetched.blocks.resize(wanted);
    CALPE_CHECK(place.read(name, job.fetched.blocks, blocks_at));
    job.bytes = head.size() + wanted;
  }
  const auto header = segment_header(set, segment, job.shard);
  if (std::memcmp(head.data(), header.data(), header.size()) != 0) {
    return make_error(ErrorCode::corrupt, place.label(), ": shard ", job.shard, " of segment ",
                      name, " has a wrong header");
  }
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    const std::uint64_t stripe = range.first + i;
    const auto block =
        std::span(job.fetched.blocks).subspan(i * shape.block_bytes, shape.block_bytes);
    const auto expected =
        load_little<std::uint64_t>(head.data() + segment_header_bytes + 8 * stripe);
    const bool is_good =
        segment_checksum(set.uuid, segment.digest, stripe, job.shard, block) == expected;
    job.fetched.good[i] = is_good ? 1 : 0;
    wrong += is_good ? 0 : 1;
  }
  if (wrong == 0) return Done{};
  return make_error(ErrorCode::corrupt, place.label(), ": ", wrong, " of ", range.count,
                    " blocks of shard ", job.shard, " are wrong in ", name);
}

void SegmentReader::fetch(const Segment& segment, const StripeRange& range, std::span<Job> jobs) {
  failures_.resize(places_.size());
  std::set<std::size_t> used;
  for (const Job& job : jobs)
    used.insert(job.place);
  const std::vector<Status> results = places_.on_each([&](std::size_t place) -> Status {
    for (Job& job : jobs) {
      if (job.place == place) job.status = fetch_one(segment, range, job);
    }
    return Done{};
  });
  for (Job& job : jobs) {
    if (!results[job.place] && job.status) job.status = results[job.place];
    bytes_read_ += job.bytes;
    if (!job.status && job.status.error().code != ErrorCode::corrupt) ++failures_[job.place];
  }
}

Error SegmentReader::lost(const Segment& segment, const std::vector<BadObject>& bad) const {
  const store::ShardHeader& set = coder_.set();
  std::string why;
  for (const BadObject& object : bad)
    why += (why.empty() ? "" : "; ") + object.why;
  return make_error(ErrorCode::unrecoverable, "a segment of set ", uuid_text(set.uuid),
                    " cannot be read: fewer than the ", set.spec.data_shards,
                    " good shards needed (", segment_name(segment.digest, 0).substr(0, 16),
                    "): ", why);
}

Status SegmentReader::give(const Segment& segment, const StripeRange& range,
                           std::vector<Fetched>& shards, std::span<std::byte> content) const {
  const SegmentShape shape(coder_.set(), segment.bytes);
  const std::size_t block_bytes = shape.block_bytes;
  const std::size_t data = shape.data_shards;
  for (std::size_t i = 0; i < data; ++i) {
    if (shards[i].blocks.empty()) shards[i].blocks.resize(range.count * block_bytes);
  }
  std::vector<Shard> blocks(shards.size());
  std::vector<std::uint8_t> good(shards.size());
  for (std::uint64_t stripe = 0; stripe < range.count; ++stripe) {
    std::vector<ShardIndex> wanted;  // data blocks to compute
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const bool is_there = !shards[i].blocks.empty();
      blocks[i] = is_there ? std::span(shards[i].blocks).subspan(stripe * block_bytes, block_bytes)
                           : Shard{};
      good[i] = !shards[i].good.empty() && shards[i].good[stripe] != 0 ? 1 : 0;
      if (i < data && good[i] == 0) wanted.push_back(static_cast<ShardIndex>(i));
    }
    if (!wanted.empty()) {
      CALPE_TRY(const store::Rebuilt rebuilt,
                coder_.stripes().rebuild({.blocks = blocks, .good = good}, wanted));
      if (rebuilt != store::Rebuilt::done)
        return make_error(ErrorCode::corrupt, "blocks with good checksums contradict each other");
    }
    for (std::size_t i = 0; i < data; ++i) {
      std::memcpy(content.data() + (stripe * data + i) * block_bytes, blocks[i].data(),
                  block_bytes);
    }
  }
  if (range.count != shape.stripe_count) return Done{};
  CALPE_TRY(const Digest digest, coder_.digest_of(content.first(segment.bytes)));
  if (digest == segment.digest) return Done{};
  return make_error(ErrorCode::corrupt, "the content of segment ",
                    segment_name(segment.digest, 0).substr(0, 16), " does not match its digest");
}

Status SegmentReader::read(const Segment& segment, const StripeRange& range,
                           std::span<std::byte> content, std::vector<BadObject>& bad) {
  const std::size_t shards =
      std::size_t{coder_.set().spec.data_shards} + coder_.set().spec.parity_shards;
  const std::size_t needed = coder_.set().spec.data_shards;
  std::vector<BadObject> found;
  std::vector<Job> waiting = candidates(segment, found);
  std::vector<Fetched> fetched(shards);
  const auto is_enough = [&] {
    std::vector<std::uint8_t> good(shards);
    for (std::uint64_t stripe = 0; stripe < range.count; ++stripe) {
      for (std::size_t i = 0; i < shards; ++i)
        good[i] = fetched[i].good.empty() ? 0 : fetched[i].good[stripe];
      if (!coder_.stripes().can_rebuild(good)) return false;
    }
    return true;
  };
  std::size_t usable = 0;  // shards whose blocks are all good
  while (!is_enough()) {
    // As many as are missing, at least one; one copy of each shard at a time.
    const std::size_t count = usable < needed ? needed - usable : 1;
    std::vector<Job> jobs;
    for (auto job = waiting.begin(); job != waiting.end() && jobs.size() < count;) {
      const bool is_taken = std::any_of(
          jobs.begin(), jobs.end(), [&](const Job& other) { return other.shard == job->shard; });
      const auto& good = fetched[job->shard].good;
      const bool is_whole = !good.empty() && std::find(good.begin(), good.end(), 0) == good.end();
      if (is_taken) {
        ++job;
        continue;
      }
      if (!is_whole) jobs.push_back(std::move(*job));
      job = waiting.erase(job);
    }
    if (jobs.empty()) return lost(segment, found);
    fetch(segment, range, jobs);
    for (Job& job : jobs) {
      if (!job.status) found.push_back({job.shard, job.place, job.status.error().message});
      Fetched& known = fetched[job.shard];
      if (known.good.empty()) {
        known = std::move(job.fetched);
      } else {
        const std::size_t block = known.blocks.size() / range.count;
        for (std::uint64_t i = 0; i < range.count && !job.fetched.blocks.empty(); ++i) {
          if (known.good[i] != 0 || job.fetched.good[i] == 0) continue;
          std::memcpy(known.blocks.data() + i * block, job.fetched.blocks.data() + i * block,
                      block);
          known.good[i] = 1;
        }
      }
      if (known.blocks.empty()) known.good.clear();
      if (std::find(known.good.begin(), known.good.end(), 0) == known.good.end() &&
          !known.good.empty())
        ++usable;
    }
  }
  bad.insert(bad.end(), found.begin(), found.end());
  return give(segment, range, fetched, content);
}

std::vector<SegmentReader::GoodObject> SegmentReader::check(const Segment& segment,
                                                            std::vector<BadObject>& bad) {
  const SegmentShape shape(coder_.set(), segment.bytes);
  std::vector<Job> jobs = candidates(segment, bad);
  fetch(segment, {0, shape.stripe_count}, jobs);
  std::vector<GoodObject> good;
  for (const Job& job : jobs) {
    if (job.status) {
      good.push_back({job.shard, job.place});
    } else {
      bad.push_back({job.shard, job.place, job.status.error().message,
                     job.status.error().code == ErrorCode::corrupt});
    }
  }
  return good;
}

Result<std::vector<std::byte>> SegmentReader::read_object(const Segment& segment,
                                                          const GoodObject& object) {
  const SegmentShape shape(coder_.set(), segment.bytes);
  Job job = {.shard = object.shard, .place = object.place};
  CALPE_CHECK(fetch_one(segment, {0, shape.stripe_count}, job));
  bytes_read_ += job.bytes;
  std::vector<std::byte> bytes(shape.object_bytes());
  std::memcpy(bytes.data() + shape.blocks_offset(), job.fetched.blocks.data(),
              job.fetched.blocks.size());
  seal_object(coder_.set(), segment, object.shard, bytes);
  return bytes;
}

}  // namespace calpe::remote
