// SPDX-License-Identifier: Apache-2.0
// Where a content comes from when a set is made: data of files in order, then the manifest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::store {

class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // Bytes of the content, manifest included, if that is known before it is read.
  virtual std::optional<std::uint64_t> bytes_expected() const = 0;
  // Fills `bytes`; fewer only at the end of the content, 0 from then on. Fails with io, and when a
  // file is no longer what it was when the content was begun.
  virtual Result<std::size_t> read(std::span<std::byte> bytes) = 0;
  // Bytes that are the same only as long as the content is: who finds them again may go on in the
  // middle. Then the next two and bytes_expected() are known at once. Empty: it cannot be read
  // again.
  virtual std::vector<std::byte> identity() const { return {}; }
  // As if so many bytes had been read, before any are. Fails as read(), and when there are not so
  // many.
  virtual Status skip(std::uint64_t bytes);
  // Known when the end was read.
  virtual std::uint64_t manifest_offset() const = 0;
  virtual std::uint64_t manifest_bytes() const = 0;
};

}  // namespace calpe::store
