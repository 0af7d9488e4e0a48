// SPDX-License-Identifier: Apache-2.0
// An array of a length known at run time: inside the owner, usually on the stack, for as many
// entries as a code over GF(2^8) has shards; on the heap for more.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace calpe {

inline constexpr std::size_t short_array_count = 256;

// Entries are not initialised unless T does so itself. Allocates, and may throw bad_alloc, only for
// more than `Few`.
template <class T, std::size_t Few = short_array_count>
class ShortArray {
 public:
  explicit ShortArray(std::size_t count) : count_(count) {
    if (count > Few) many_ = std::unique_ptr<T[]>(new T[count]);
  }
  ShortArray(const ShortArray&) = delete;
  ShortArray& operator=(const ShortArray&) = delete;

  std::size_t size() const noexcept { return count_; }
  T* data() noexcept { return many_ ? many_.get() : few_.data(); }
  const T* data() const noexcept { return many_ ? many_.get() : few_.data(); }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + count_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + count_; }

 private:
  std::size_t count_;
  std::unique_ptr<T[]> many_;
  std::array<T, Few> few_;
};

}  // namespace calpe
