// SPDX-License-Identifier: Apache-2.0
// Many different loss patterns, to time work on patterns that were not seen before.
#pragma once
#include <memory>
#include <vector>

#include <calpe/code_spec.hpp>

#include "bench/harness/stripe.hpp"

namespace calpe::bench {

using Patterns = std::vector<std::vector<ShardIndex>>;

// Distinct random losses of lost_count data shards, each ascending; all that the shape has, up to
// 1024.
std::shared_ptr<const Patterns> draw_patterns(Shape shape, std::size_t lost_count);

// Takes the patterns in turn. Cheap to copy.
class PatternTurn {
 public:
  explicit PatternTurn(std::shared_ptr<const Patterns> patterns) : patterns_(std::move(patterns)) {}
  const std::vector<ShardIndex>& next() noexcept {
    const std::vector<ShardIndex>& pattern = (*patterns_)[next_];
    next_ = next_ + 1 == patterns_->size() ? 0 : next_ + 1;
    return pattern;
  }

 private:
  std::shared_ptr<const Patterns> patterns_;
  std::size_t next_ = 0;
};

}  // namespace calpe::bench
