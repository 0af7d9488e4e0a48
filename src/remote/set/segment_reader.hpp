// SPDX-License-Identifier: Apache-2.0
// Reads stripes of a segment from the fastest places, checks every block, and decodes around
// missing and wrong ones.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remote/set/remote_set.hpp"
#include "remote/set/segment_coder.hpp"

namespace calpe::remote {

struct StripeRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// An object that should be used no more.
struct BadObject {
  ShardIndex shard = 0;
  std::size_t place = 0;
  std::string why;
  bool is_wrong = false;  // its bytes or its size: reading it again will not help
};

class SegmentReader {
 public:
  // Borrows all three.
  SegmentReader(Places& places, const Catalogue& catalogue, const SegmentCoder& coder)
      : places_(places), catalogue_(catalogue), coder_(coder) {}

  // Fills `content` (whole stripes) and lists objects that could not be used. If all stripes are
  // read, the digest of the segment is checked as well. Fails with unrecoverable and names the
  // places if too few blocks are good.
  Status read(const Segment& segment, const StripeRange& range, std::span<std::byte> content,
              std::vector<BadObject>& bad);
  // Reads and checks every object of a segment. Returns those that are good, as (shard, place).
  struct GoodObject {
    ShardIndex shard = 0;
    std::size_t place = 0;
  };
  std::vector<GoodObject> check(const Segment& segment, std::vector<BadObject>& bad);

  // Reads a whole object. Fails if any block is wrong.
  Result<std::vector<std::byte>> read_object(const Segment& segment, const GoodObject& object);

  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  struct Fetched;
  struct Job;
  std::vector<Job> candidates(const Segment& segment, std::vector<BadObject>& bad) const;
  void fetch(const Segment& segment, const StripeRange& range, std::span<Job> jobs);
  Status fetch_one(const Segment& segment, const StripeRange& range, Job& job);
  bool is_usable(std::size_t place) const;
  Status give(const Segment& segment, const StripeRange& range, std::vector<Fetched>& shards,
              std::span<std::byte> content) const;
  Error lost(const Segment& segment, const std::vector<BadObject>& bad) const;

  Places& places_;
  const Catalogue& catalogue_;
  const SegmentCoder& coder_;
  std::vector<unsigned> failures_;  // by place; a place that fails often is asked last
  std::uint64_t bytes_read_ = 0;
};

}  // namespace calpe::remote
