// SPDX-License-Identifier: Apache-2.0
// Memory that the caller overwrites. std::make_unique_for_overwrite needs g++ 11.
#pragma once
#include <cstddef>
#include <memory>

namespace calpe {

inline std::unique_ptr<std::byte[]> uninitialised_bytes(std::size_t count) {
  return std::unique_ptr<std::byte[]>(new std::byte[count]);
}

template <class T>
std::unique_ptr<T> make_uninitialised() {
  return std::unique_ptr<T>(new T);
}

}  // namespace calpe
