// SPDX-License-Identifier: Apache-2.0
// Encodes and uploads the segments of a generation.
#pragma once
#include <cstdint>
#include <vector>

#include "remote/set/remote_write.hpp"
#include "remote/set/segment_writer.hpp"
#include "remote/set/source_content.hpp"

namespace calpe::remote {

std::uint64_t count_files(const store::Manifest& manifest);
// Sets the numbers of segments from the header. Fails with invalid_argument if there are too many.
Status size_tables(Generation& generation);

class GenerationWriter {
 public:
  // Borrows all but the homes.
  GenerationWriter(Places& places, const Catalogue& catalogue, const SegmentCoder& coder,
                   Homes homes, const WriteOptions& options)
      : places_(places),
        coder_(coder),
        options_(options),
        writer_(places, catalogue, coder, std::move(homes), options.reads_back) {}

  // Writes the data segments for which `is_dirty` is set, and the manifest, where the catalogue
  // lacks their objects. The other segments keep their digests.
  Status write(Generation& generation, SourceContent& source, const store::Manifest& manifest,
               const std::vector<bool>& is_dirty);
  void add_to(WriteReport& report) const;
  // Segments that are completely stored now, in the order of writing.
  const std::vector<Digest>& stored() const noexcept { return stored_; }

 private:
  Status write_one(std::uint64_t bytes, const FillSegment& fill, Digest& digest);

  Places& places_;
  const SegmentCoder& coder_;
  const WriteOptions& options_;
  SegmentWriter writer_;
  EncodedSegment encoded_;
  std::vector<Digest> stored_;
  std::uint64_t segments_written_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t all_ = 0;
};

}  // namespace calpe::remote
