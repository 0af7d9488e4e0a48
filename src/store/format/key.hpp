// SPDX-License-Identifier: Apache-2.0
// Key bytes that are wiped from memory on destruction.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace calpe::store {

class Key {
 public:
  Key() = default;
  // The caller wipes its own copy.
  explicit Key(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}
  Key(const std::vector<std::byte>& bytes)
      : bytes_(bytes) {}  // NOLINT(google-explicit-constructor)
  Key(const Key&) = default;
  Key(Key&& other) noexcept { bytes_.swap(other.bytes_); }
  Key& operator=(Key other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~Key();

  bool empty() const noexcept { return bytes_.empty(); }
  std::size_t size() const noexcept { return bytes_.size(); }
  operator std::span<const std::byte>() const noexcept {  // NOLINT(google-explicit-constructor)
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

// Wipes memory in a way that the compiler cannot optimise away.
void wipe(std::span<std::byte> bytes) noexcept;

}  // namespace calpe::store
