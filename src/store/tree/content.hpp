// SPDX-License-Identifier: Apache-2.0
// The source of a new set's content: the data of files in order, then the manifest.
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
  // Size of the content including the manifest, if known before reading.
  virtual std::optional<std::uint64_t> bytes_expected() const = 0;
  // Fills `bytes`. Returns fewer only at the end of the content, then 0. Fails with io, also when a
  // file changed since the content was opened.
  virtual Result<std::size_t> read(std::span<std::byte> bytes) = 0;
  // Bytes that identify the content: if they are unchanged, an interrupted run can resume. The next
  // two functions and bytes_expected() are then available at once. Empty: the content cannot be
  // read again.
  virtual std::vector<std::byte> identity() const { return {}; }
  // False once the content differs from identity(), so that an interrupted run must start over.
  virtual bool is_as_identified() const { return true; }
  // Skips this many bytes before the first read. Fails as read(), and when the content is shorter.
  virtual Status skip(std::uint64_t bytes);
  // Available after the end was read.
  virtual std::uint64_t manifest_offset() const = 0;
  virtual std::uint64_t manifest_bytes() const = 0;
};

}  // namespace calpe::store
