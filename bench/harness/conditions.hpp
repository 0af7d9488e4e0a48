// SPDX-License-Identifier: Apache-2.0
// The conditions of a run, the same for all its rows.
#pragma once
#include <string>
#include <string_view>

#include <calpe/codec.hpp>
#include <calpe/result.hpp>

#include "bench/harness/stripe.hpp"

namespace calpe::bench {

struct Conditions {
  bool is_cold = false;  // no call finds its stripe in a cache
  ShardLayout layout = ShardLayout::padded;
  Stores stores = Stores::automatic;  // hint for our codec
  unsigned threads = 1;               // concurrent callers, each with its own stripes
  unsigned pool_threads = 1;          // inside our codec; peers have no pool
};

std::string_view name_of(ShardLayout layout) noexcept;
std::string_view name_of(Stores stores) noexcept;

// Lists non-default conditions: "cold, streaming stores"; empty if there are none.
std::string to_text(const Conditions& conditions);

// Both fail with invalid_argument, naming the expected values.
Result<ShardLayout> parse_layout(std::string_view text);
Result<Stores> parse_stores(std::string_view text);

std::string_view name_of(Effort effort) noexcept;  // "fast"
Result<Effort> parse_effort(std::string_view text);

}  // namespace calpe::bench
