// SPDX-License-Identifier: Apache-2.0
#include "remote/set/generation_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::remote {

std::uint64_t count_files(const store::Manifest& manifest) {
  return static_cast<std::uint64_t>(
      std::count_if(manifest.entries.begin(), manifest.entries.end(),
                    [](const auto& entry) { return entry.type == store::EntryType::file; }));
}

Status size_tables(Generation& generation) {
  const store::ShardHeader& header = generation.header;
  generation.data.resize(divide_up(header.manifest_offset, generation.segment_bytes));
  generation.manifest.resize(divide_up(header.manifest_bytes, generation.segment_bytes));
  if (generation.data.size() + generation.manifest.size() <= segments_max) return Done{};
  return invalid("the set would have more than ", segments_max,
                 " segments; choose larger ones with --segment");
}

Status GenerationWriter::write(Generation& generation, SourceContent& source,
                               const store::Manifest& manifest, const std::vector<bool>& is_dirty) {
  const std::vector<std::byte> manifest_bytes = store::to_bytes(manifest);
  const std::uint64_t size = generation.segment_bytes;
  const std::uint64_t data_bytes = generation.data_bytes();
  all_ = static_cast<std::uint64_t>(std::count(is_dirty.begin(), is_dirty.end(), true)) * size +
         manifest_bytes.size();
  for (std::uint64_t i = 0; i < is_dirty.size(); ++i) {
    if (!is_dirty[i]) continue;
    const std::uint64_t begin = i * size;
    const FillSegment fill = [&](std::span<std::byte> bytes, std::uint64_t offset) {
      return source.read(bytes, begin + offset);
    };
    CALPE_CHECK(write_one(std::min(size, data_bytes - begin), fill, generation.data[i]));
  }
  CALPE_CHECK(source.finish());
  for (std::uint64_t i = 0; i < generation.manifest.size(); ++i) {
    const auto part = std::span(manifest_bytes).subspan(i * size);
    const FillSegment fill = [&](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
      std::memcpy(bytes.data(), part.data() + offset, bytes.size());
      return Done{};
    };
    CALPE_CHECK(
        write_one(std::min<std::uint64_t>(size, part.size()), fill, generation.manifest[i]));
  }
  for (const std::size_t home : writer_.homes())
    generation.labels.push_back(places_.label(home));
  return Done{};
}

Status GenerationWriter::write_one(std::uint64_t bytes, const FillSegment& fill, Digest& digest) {
  CALPE_CHECK(coder_.encode(bytes, fill, encoded_));
  const std::uint64_t before = writer_.objects_written();
  // Equal content has an equal name: nothing is uploaded twice, also after an interruption.
  CALPE_CHECK(writer_.put_missing(encoded_));
  if (writer_.objects_written() != before) ++segments_written_;
  digest = encoded_.segment.digest;
  stored_.push_back(digest);
  done_ += bytes;
  if (options_.on_progress) options_.on_progress(std::min(done_, all_), all_);
  return Done{};
}

void GenerationWriter::add_to(WriteReport& report) const {
  report.segments_written = segments_written_;
  report.objects_written = writer_.objects_written();
  report.bytes_written = writer_.bytes_written();
}

}  // namespace calpe::remote
