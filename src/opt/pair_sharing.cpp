// SPDX-License-Identifier: Apache-2.0
#include "opt/pair_sharing.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "opt/random.hpp"

namespace calpe::opt {

namespace {

// Most intersections have fewer than two bits, which is faster to test than to count.
bool has_two_bits(std::uint64_t word) {
  return (word & (word - 1)) != 0;
}

// std::popcount is a call with table lookups on CPUs that may lack the instruction.
std::uint32_t count_bits(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return static_cast<std::uint32_t>((word * 0x0101010101010101) >> 56);
}

// `Words` words per column; 0: determined at run time.
template <std::size_t Words>
class Sharing {
 public:
  Sharing(RowSets& columns, const SharingRules& rules)
      : columns_(columns), rules_(rules), random_(rules.seed), inputs_(columns.columns()) {
    CALPE_ASSERT(rules.min_count >= 2);
  }

  std::vector<SharedPair> run() {
    columns_.reserve(4 * inputs_);
    by_count_.resize(columns_.rows() + 1);
    // Backwards, so that the first pair is on top.
    for (std::size_t right = inputs_; right-- > 1;)
      add_pairs(static_cast<std::uint32_t>(right));
    for (std::uint32_t count = static_cast<std::uint32_t>(columns_.rows());
         count >= rules_.min_count; --count) {
      share_all(count);
    }
    return std::move(pairs_);
  }

 private:
  std::size_t words() const noexcept { return Words != 0 ? Words : columns_.words(); }

  std::uint32_t count_of(std::uint32_t left, std::uint32_t right) const noexcept {
    const std::uint64_t* a = columns_.column(left).data();
    const std::uint64_t* b = columns_.column(right).data();
    if constexpr (Words == 1) {
      const std::uint64_t both = *a & *b;
      return has_two_bits(both) ? count_bits(both) : 0;
    }
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < words(); ++i) {
      const std::uint64_t both = a[i] & b[i];
      if (both != 0) count += count_bits(both);
    }
    return count;
  }

  // Adds all pairs of `right` with older values.
  void add_pairs(std::uint32_t right) {
    for (std::uint32_t left = right; left-- > 0;) {
      const std::uint32_t count = count_of(left, right);
      if (count >= rules_.min_count) by_count_[count].push_back({left, right});
    }
  }

  SharedPair take(std::vector<SharedPair>& pairs) {
    if (rules_.seed != 0) {
      std::swap(pairs[random_.below(static_cast<std::uint32_t>(pairs.size()))], pairs.back());
    }
    const SharedPair pair = pairs.back();
    pairs.pop_back();
    return pair;
  }

  void share_all(std::uint32_t count) {
    // by_count_ does not grow: new pairs are at most as common as the one just shared.
    std::vector<SharedPair>& pairs = by_count_[count];
    while (!pairs.empty() && pairs_.size() < rules_.values_max) {
      const SharedPair pair = take(pairs);
      const std::uint32_t now = count_of(pair.left, pair.right);
      if (now == count) {
        share(pair);
      } else if (now >= rules_.min_count) {
        by_count_[now].push_back(pair);
      }
    }
  }

  void share(SharedPair pair) {
    const auto value = static_cast<std::uint32_t>(columns_.columns());
    columns_.append_column();
    std::uint64_t* a = columns_.column(pair.left).data();
    std::uint64_t* b = columns_.column(pair.right).data();
    std::uint64_t* both = columns_.column(value).data();
    for (std::size_t i = 0; i < words(); ++i) {
      both[i] = a[i] & b[i];
      a[i] ^= both[i];
      b[i] ^= both[i];
    }
    pairs_.push_back(pair);
    add_pairs(value);
  }

  RowSets& columns_;
  const SharingRules& rules_;
  Random random_;
  const std::size_t inputs_;
  std::vector<std::vector<SharedPair>> by_count_;  // by current or outdated (larger) count
  std::vector<SharedPair> pairs_;
};

}  // namespace

std::vector<SharedPair> share_pairs(RowSets& columns, const SharingRules& rules) {
  if (columns.columns() == 0) return {};
  if (columns.words() == 1) return Sharing<1>(columns, rules).run();
  return Sharing<0>(columns, rules).run();
}

}  // namespace calpe::opt
