// SPDX-License-Identifier: Apache-2.0
#include "store/change/content_changes.hpp"

#include <algorithm>
#include <cstring>

#include "base/try.hpp"

namespace calpe::store {

ChangedContent::ChangedContent(const Placement& placement, std::span<const std::byte> manifest,
                               TreeFiles& files, const ContentShape& shape)
    : files_(files), manifest_(manifest) {
  for (const PlacedPiece& piece : placement.pieces) {
    parts_.push_back({piece.content_offset, piece.content_offset + piece.bytes, Part::Source::file,
                      piece.entry, piece.file_offset});
  }
  const std::uint64_t content_end = placement.data_bytes + manifest.size();
  parts_.push_back(
      {.begin = placement.data_bytes, .end = content_end, .source = Part::Source::manifest});
  // Zeros follow the old content already.
  const std::uint64_t zeros_end =
      std::min(shape.content_bytes_before, shape.stripe_count * shape.stripe_bytes);
  if (content_end < zeros_end) {
    parts_.push_back({.begin = content_end, .end = zeros_end, .source = Part::Source::zeros});
  }
  std::uint64_t done = 0;  // stripes
  const auto add = [&](std::uint64_t first, std::uint64_t end) {
    first = std::max(first, done);
    if (first >= end) return;
    stripes_.add_run({.first_stripe = first, .stripe_count = end - first});
    done = end;
  };
  for (const Part& part : parts_) {
    add(part.begin / shape.stripe_bytes, (part.end - 1) / shape.stripe_bytes + 1);
  }
}

std::vector<ChangedContent::Part>::const_iterator ChangedContent::first_part_after(
    std::uint64_t offset) const {
  return std::upper_bound(parts_.begin(), parts_.end(), offset,
                          [](std::uint64_t at, const Part& part) { return at < part.end; });
}

void ChangedContent::for_each_part(
    std::uint64_t offset, std::uint64_t bytes,
    const std::function<void(std::uint64_t begin, std::uint64_t end)>& mark) const {
  const std::uint64_t end = offset + bytes;
  for (auto part = first_part_after(offset); part != parts_.end() && part->begin < end; ++part) {
    mark(std::max(offset, part->begin), std::min(end, part->end));
  }
}

Status ChangedContent::write_over(std::span<std::byte> bytes, std::uint64_t offset) {
  const std::uint64_t end = offset + bytes.size();
  for (auto part = first_part_after(offset); part != parts_.end() && part->begin < end; ++part) {
    const std::uint64_t from = std::max(offset, part->begin);
    const std::uint64_t count = std::min(end, part->end) - from;
    CALPE_CHECK(fill(*part, from - part->begin, bytes.subspan(from - offset, count)));
  }
  return Done{};
}

Status ChangedContent::fill(const Part& part, std::uint64_t from, std::span<std::byte> bytes) {
  switch (part.source) {
    case Part::Source::file:
      return files_.read(part.entry, bytes, part.file_offset + from);
    case Part::Source::manifest:
      std::memcpy(bytes.data(), manifest_.data() + from, bytes.size());
      break;
    case Part::Source::zeros:
      std::memset(bytes.data(), 0, bytes.size());
      break;
  }
  return Done{};
}

}  // namespace calpe::store
