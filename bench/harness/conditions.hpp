// SPDX-License-Identifier: Apache-2.0
// Under what conditions a run measures; the same for all its rows.
#pragma once
#include <string>
#include <string_view>

#include <calpe/codec.hpp>
#include <calpe/result.hpp>

#include "bench/harness/stripe.hpp"

namespace calpe::bench {

struct Conditions {
  bool is_cold = false;  // every call finds its stripe in no cache
  ShardLayout layout = ShardLayout::padded;
  Stores stores = Stores::automatic;  // the hint for our codec
  unsigned threads = 1;               // callers at once, each with stripes of its own; all alike
  unsigned pool_threads = 1;          // inside our codec; peers have nothing like it
};

std::string_view name_of(ShardLayout layout) noexcept;
std::string_view name_of(Stores stores) noexcept;

// What differs from the usual: "cold, streaming stores"; empty when nothing does.
std::string to_text(const Conditions& conditions);

// Both fail with invalid_argument and what was expected.
Result<ShardLayout> parse_layout(std::string_view text);
Result<Stores> parse_stores(std::string_view text);

std::string_view name_of(Effort effort) noexcept;  // "fast"
Result<Effort> parse_effort(std::string_view text);

}  // namespace calpe::bench
