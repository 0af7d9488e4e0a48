// SPDX-License-Identifier: Apache-2.0
// The parts of the content that an update writes: pieces of files, the manifest, and zeros after it
// if the old content was longer. All other parts stay the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "store/format/stripe_ranges.hpp"
#include "store/tree/placement.hpp"
#include "store/tree/tree_files.hpp"

namespace calpe::store {

// Sizes of the content after an update.
struct ContentShape {
  std::uint64_t stripe_bytes = 0;  // of the data blocks
  std::uint64_t stripe_count = 0;
  std::uint64_t content_bytes_before = 0;
};

class ChangedContent {
 public:
  // `files`: of the scanned tree that the placement belongs to; borrowed. The manifest follows the
  // data of the placement.
  ChangedContent(const Placement& placement, std::span<const std::byte> manifest, TreeFiles& files,
                 const ContentShape& shape);

  // Stripes that the parts touch, including all new ones: data placed after the old content leaves
  // no gaps.
  const StripeRanges& stripes() const noexcept { return stripes_; }

  // Calls mark(begin, end) for each part of content [offset, + bytes), in ascending order.
  void for_each_part(std::uint64_t offset, std::uint64_t bytes,
                     const std::function<void(std::uint64_t begin, std::uint64_t end)>& mark) const;
  // Overwrites the parts of content [offset, + bytes.size()) with their new bytes. Fails with io,
  // and if a file changed after it was scanned.
  Status write_over(std::span<std::byte> bytes, std::uint64_t offset);
  // Ends reading: checks that the last file did not change.
  Status finish() { return files_.close(); }

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    enum class Source : std::uint8_t { file, manifest, zeros } source = Source::file;
    std::size_t entry = 0;
    std::uint64_t file_offset = 0;
  };
  Status fill(const Part& part, std::uint64_t from, std::span<std::byte> bytes);
  std::vector<Part>::const_iterator first_part_after(std::uint64_t offset) const;

  TreeFiles& files_;
  std::span<const std::byte> manifest_;
  std::vector<Part> parts_;  // ascending, without overlap
  StripeRanges stripes_;
};

}  // namespace calpe::store
