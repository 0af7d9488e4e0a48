// SPDX-License-Identifier: Apache-2.0
// A write of a part of a stripe: what has to be read for it, and what the blocks are afterwards.
#pragma once
#include <cstdint>
#include <vector>

#include <calpe/codec.hpp>

#include "array/format/layout.hpp"
#include "array/state/buffers.hpp"

namespace calpe::array {

struct PartBytes {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  const std::byte* from = nullptr;  // nullptr: zeros
};

struct PartColumn {
  std::uint64_t written = 0;  // data shards that get new bytes here
  std::uint64_t partly = 0;   // of these, of which some bytes stay
  std::uint64_t changed = 0;  // written, and parity
  std::uint64_t read = 0;     // shards that are needed as they are
  bool is_delta = false;      // parity from what it was and the change, not from all data
  bool operator==(const PartColumn&) const = default;
};

struct PartPlan {
  PartBytes bytes;
  std::uint64_t parity = 0;  // shards that somebody has
  std::uint32_t first_column = 0;
  std::uint32_t end_column = 0;
  std::vector<PartColumn> columns;  // of the whole chunk
};

// `having`: shards whose member takes part. Reads whichever is less: the blocks that change (delta)
// or those that do not (all data are then at hand).
PartPlan plan_part(const MemberLayout& layout, const PartBytes& bytes, std::uint64_t having);

void set_needs(const PartPlan& plan, StripeBuffer& old);
// All that is to be read is zeros.
void fill_zeros(const PartPlan& plan, StripeBuffer& old);
// Fills the changed blocks of `now` from what was read and from the new bytes.
Status compute_part(const Codec& codec, const PartPlan& plan, StripeBuffer& old, StripeBuffer& now);

// Parity of some columns of a buffer from its data.
Status encode_columns(const Codec& codec, StripeBuffer& buffer, std::uint32_t first,
                      std::uint32_t count);

}  // namespace calpe::array
