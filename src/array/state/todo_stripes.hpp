// SPDX-License-Identifier: Apache-2.0
// The stripes that a member which is being rebuilt still lacks: one bit each.
//
// Locks: none. The caller of set() lets no writer run. The caller of clear() holds the exclusive
// lock of the stripe, so the bit of a stripe does not change under a thread that holds its lock.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/divide_up.hpp"

namespace calpe::array {

class TodoStripes {
 public:
  explicit TodoStripes(std::uint64_t stripes)
      : stripes_(stripes), words_(std::make_unique<std::atomic<std::uint64_t>[]>(word_count())) {}

  bool has(std::uint64_t stripe) const noexcept {
    return (words_[stripe / 64].load(std::memory_order_acquire) >> (stripe % 64) & 1U) != 0;
  }
  // Keeps the stripes with is_todo(stripe).
  template <class IsTodo>
  void set(const IsTodo& is_todo) {
    std::uint64_t count = 0;
    for (std::uint64_t word = 0; word < word_count(); ++word) {
      std::uint64_t bits = 0;
      for (unsigned i = 0; i < 64 && word * 64 + i < stripes_; ++i) {
        if (is_todo(word * 64 + i)) bits |= std::uint64_t{1} << i;
      }
      words_[word] = bits;
      count += static_cast<std::uint64_t>(std::popcount(bits));
    }
    count_ = count;
    lowest_ = 0;
  }
  void clear(std::uint64_t stripe) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << (stripe % 64);
    if ((words_[stripe / 64].fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0) --count_;
  }
  std::uint64_t count() const noexcept { return count_; }
  // All stripes below it are complete. Bits are only cleared, so a search resumes where the last
  // one ended.
  std::uint64_t lowest() const noexcept {
    std::uint64_t word = lowest_;
    while (word < word_count() && words_[word] == 0)
      ++word;
    lowest_ = word;
    if (word == word_count()) return stripes_;
    const std::uint64_t bits = words_[word];
    return bits == 0 ? (word + 1) * 64 : word * 64 + static_cast<unsigned>(std::countr_zero(bits));
  }

 private:
  std::size_t word_count() const noexcept { return divide_up(stripes_, std::uint64_t{64}); }

  std::uint64_t stripes_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
  std::atomic<std::uint64_t> count_ = 0;
  mutable std::atomic<std::uint64_t> lowest_ = 0;  // word; all before it are 0
};

}  // namespace calpe::array
