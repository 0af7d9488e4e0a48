// SPDX-License-Identifier: Apache-2.0
// A file's bytes at once: one by one, as streams' iterators have them, they are most of a test's
// time under sanitizers.
#pragma once
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace calpe::tests {

using Bytes = std::vector<std::byte>;

// None, when there is no such file.
template <class Container = Bytes>
Container read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  Container bytes(static_cast<std::size_t>(file.tellg()), {});
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

}  // namespace calpe::tests
