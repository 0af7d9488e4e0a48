// SPDX-License-Identifier: Apache-2.0
// What the caller calls the shards of a call: "data[3]", "stripes[2].inputs[3]", "inputs[3][1]".
// Only messages need it, so names are plain constants until an error occurs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace calpe::engine {

inline constexpr std::size_t no_index = SIZE_MAX;

// A list of shards, alone or in stripe number `stripe` of a batch.
struct ListName {
  const char* list = "";  // empty: the stripe itself is the list
  std::size_t stripe = no_index;
};

// A shard of a list, or a piece of it. Without an index, a number that gives a length.
struct ShardName {
  ListName list;
  std::size_t index = no_index;
  std::size_t piece = no_index;
};

// The lists of a call that applies a plan.
struct StripeNames {
  const char* inputs = "inputs";
  const char* outputs = "outputs";
  std::size_t stripe = no_index;
  ListName reads() const noexcept { return {inputs, stripe}; }
  ListName writes() const noexcept { return {outputs, stripe}; }
};

inline void append_text(std::string& out, const ListName& name) {
  if (name.stripe != no_index)
    out += text("stripes[", name.stripe, *name.list == '\0' ? "]" : "].");
  out += name.list;
}

inline void append_text(std::string& out, const ShardName& name) {
  append_text(out, name.list);
  if (name.index != no_index) out += text("[", name.index, "]");
  if (name.piece != no_index) out += text("[", name.piece, "]");
}

}  // namespace calpe::engine
