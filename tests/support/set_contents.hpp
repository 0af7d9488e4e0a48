// SPDX-License-Identifier: Apache-2.0
// All files of a set, as a reader sees them.
#pragma once
#include <map>
#include <span>
#include <string>

#include "store/io/file_system.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::tests {

// By path; an error is stored under "".
using SetContents = std::map<std::string, std::string>;

inline SetContents contents_of(store::FileSystem& files, const Result<store::FoundSet>& set) {
  if (!set) return {{"", set.error().message}};
  auto reader = store::SetReader::open(files, *set);
  if (!reader) return {{"", reader.error().message}};
  const auto manifest = reader->manifest();
  if (!manifest) return {{"", manifest.error().message}};
  SetContents all;
  for (const store::Entry& entry : manifest->entries) {
    if (entry.type != store::EntryType::file) continue;
    std::string bytes(entry.file_bytes, '\0');
    for (const store::Extent& extent : entry.extents) {
      const auto target =
          std::as_writable_bytes(std::span(bytes).subspan(extent.file_offset, extent.bytes));
      const Status done = reader->read(target, extent.content_offset);
      if (!done) return {{"", done.error().message}};
    }
    all[entry.path] = bytes;
  }
  return all;
}

}  // namespace calpe::tests
