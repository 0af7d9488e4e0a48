// SPDX-License-Identifier: Apache-2.0
// Reads the data of a generation for restore. Reads only the stripes that the wanted ranges need,
// each of them once if the ranges are read in order.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "remote/set/segment_reader.hpp"
#include "store/format/content_ranges.hpp"

namespace calpe::remote {

class ContentReader {
 public:
  // Borrows reader and generation. `wanted`: what will be read.
  ContentReader(SegmentReader& reader, const Generation& generation,
                std::vector<store::ContentRange> wanted);
  Status read(std::span<std::byte> bytes, std::uint64_t offset);
  // Objects that could not be used, one line for each place.
  const std::set<std::string>& problems() const noexcept { return problems_; }

 private:
  Status load(std::uint64_t offset, std::uint64_t bytes);

  SegmentReader& reader_;
  const Generation& generation_;
  std::vector<Segment> segments_;
  std::vector<store::ContentRange> wanted_;  // merged, ascending
  std::vector<std::byte> loaded_;
  std::uint64_t loaded_begin_ = 0;
  std::uint64_t loaded_end_ = 0;
  std::set<std::string> problems_;
};

}  // namespace calpe::remote
