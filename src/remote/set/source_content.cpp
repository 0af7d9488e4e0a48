// SPDX-License-Identifier: Apache-2.0
#include "remote/set/source_content.hpp"

#include <algorithm>
#include <cstring>

#include "base/try.hpp"

namespace calpe::remote {

SourceContent::SourceContent(store::ScannedTree& tree, const store::Manifest& manifest)
    : files_(tree) {
  for (std::size_t entry = 0; entry < manifest.entries.size(); ++entry) {
    for (const store::Extent& extent : manifest.entries[entry].extents) {
      pieces_.push_back(
          {extent.content_offset, extent.content_offset + extent.bytes, entry, extent.file_offset});
    }
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
}

Status SourceContent::read(std::span<std::byte> bytes, std::uint64_t content_offset) {
  const std::uint64_t end = content_offset + bytes.size();
  std::memset(bytes.data(), 0, bytes.size());
  auto piece =
      std::upper_bound(pieces_.begin(), pieces_.end(), content_offset,
                       [](std::uint64_t at, const Piece& candidate) { return at < candidate.end; });
  for (; piece != pieces_.end() && piece->begin < end; ++piece) {
    const std::uint64_t from = std::max(content_offset, piece->begin);
    const std::uint64_t count = std::min(end, piece->end) - from;
    CALPE_CHECK(files_.read(piece->entry, bytes.subspan(from - content_offset, count),
                            piece->file_offset + (from - piece->begin)));
  }
  return Done{};
}

}  // namespace calpe::remote
