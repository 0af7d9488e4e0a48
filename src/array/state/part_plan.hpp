// SPDX-License-Identifier: Apache-2.0
// Plans a write of a part of a stripe: which blocks to read, and the new contents.
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
  const std::byte* from = nullptr;  // nullptr = zeros
};

struct PartColumn {
  std::uint64_t written = 0;  // data shards with new bytes
  std::uint64_t partly = 0;   // of these, shards that keep some old bytes
  std::uint64_t changed = 0;  // written, and parity
  std::uint64_t read = 0;     // shards whose old bytes are needed
  bool is_delta = false;      // parity from old parity and change, not from all data
  bool operator==(const PartColumn&) const = default;
};

struct PartPlan {
  PartBytes bytes;
  std::uint64_t parity = 0;  // parity shards on live members
  std::uint32_t first_column = 0;
  std::uint32_t end_column = 0;
  std::vector<PartColumn> columns;  // of the whole chunk
};

// `having`: shards whose member takes part. Reads whichever is less: the blocks that change
// (delta), or those that do not (then all data is known).
PartPlan plan_part(const MemberLayout& layout, const PartBytes& bytes, std::uint64_t having);

void set_needs(const PartPlan& plan, StripeBuffer& old);
// Fills all blocks that are to be read with zeros.
void fill_zeros(const PartPlan& plan, StripeBuffer& old);
// Fills the changed blocks of `now` from the blocks that were read and the new bytes.
Status compute_part(const Codec& codec, const PartPlan& plan, StripeBuffer& old, StripeBuffer& now);

// Computes the parity of some columns of a buffer from its data.
Status encode_columns(const Codec& codec, StripeBuffer& buffer, std::uint32_t first,
                      std::uint32_t count);

}  // namespace calpe::array
