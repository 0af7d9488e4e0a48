// SPDX-License-Identifier: Apache-2.0
// One compiled object in one file: the object first, so that the file can be loaded as it is, then
// the content of its identity, then a footer that covers both.
//
//   object | content | object bytes (8) | content bytes (8) | XXH3-128 of all before (16) | magic
//   (8)
//
// Numbers are little-endian. The magic is last, so a truncated file has none.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace calpe::kernel {

struct Entry {
  std::string object = {};
  std::string content = {};
};

std::string pack(const Entry& entry);
// Returns nullopt if the bytes are not exactly what pack() made.
std::optional<Entry> unpack(std::string_view bytes);

}  // namespace calpe::kernel
