// SPDX-License-Identifier: Apache-2.0
// Converts the stripes and flags of the C API to spans and options.
#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include "capi/capi_support.hpp"

namespace calpe::capi {

// Data and parity shards differ in length only with packets.
class Lengths {
 public:
  Lengths(const Codec& codec, size_t shard_bytes)
      : data_shards_(codec.spec().data_shards),
        data_(shard_bytes),
        parity_(codec.parity_bytes(shard_bytes)) {}
  size_t of(ShardIndex shard) const { return shard < data_shards_ ? data_ : parity_; }

 private:
  size_t data_shards_;
  size_t data_;
  size_t parity_;
};

// Sets each span's pointer: pointers[i] belongs to shards[i]. Returns false if a pointer is NULL
// and its shard is not empty.
template <class Pointer, class Spans>
bool to_spans(Pointer pointers, std::span<const ShardIndex> shards, const Lengths& lengths,
              Spans&& spans) {
  using Bytes = typename std::remove_cvref_t<decltype(spans[0])>::element_type;
  if (shards.empty()) return true;
  if (pointers == nullptr) return false;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::size_t bytes = lengths.of(shards[i]);
    if (pointers[i] == nullptr && bytes > 0) return false;
    spans[i] = {static_cast<Bytes*>(pointers[i]), bytes};
  }
  return true;
}

// Any number of stripes at once, for a codec that does not run on the caller's thread.
class StripeList {
 public:
  // Returns false if a pointer is NULL and its shard is not empty.
  bool read(const Codec& codec, const Plan& plan, std::span<const calpe_stripe> from) {
    const auto reads = plan.reads();
    const auto writes = plan.writes();
    inputs_.resize(from.size() * reads.size());
    outputs_.resize(from.size() * writes.size());
    for (std::size_t s = 0; s < from.size(); ++s) {
      const auto in = std::span(inputs_).subspan(s * reads.size(), reads.size());
      const auto out = std::span(outputs_).subspan(s * writes.size(), writes.size());
      const Lengths lengths(codec, from[s].shard_bytes);
      if (!to_spans(from[s].inputs, reads, lengths, in) ||
          !to_spans(from[s].outputs, writes, lengths, out)) {
        return false;
      }
      stripes_.push_back({.inputs = in, .outputs = out});
    }
    return true;
  }
  std::span<const Stripe> stripes() const { return stripes_; }

 private:
  std::vector<ConstShard> inputs_;
  std::vector<Shard> outputs_;
  std::vector<Stripe> stripes_;
};

// Limits the list so that shard_count_max spans per entry do not overflow its size in bytes.
inline constexpr std::size_t list_entries_max = PTRDIFF_MAX / (sizeof(Shard) * shard_count_max);

inline calpe_status too_many_stripes(calpe_error* error) {
  return null_argument("stripe_count is larger than memory can hold", error);
}

inline constexpr uint32_t store_flags = CALPE_RUN_CACHED | CALPE_RUN_STREAMING;

inline bool known_flags(uint32_t flags) {
  return (flags & ~(CALPE_RUN_ACCUMULATE | store_flags)) == 0 &&
         (flags & store_flags) != store_flags;
}

inline calpe_status unknown_flags(calpe_error* error) {
  return null_argument(
      "flags has unknown bits, or both CALPE_RUN_CACHED and CALPE_RUN_STREAMING; expected "
      "CALPE_RUN_ACCUMULATE and one of these, or 0",
      error);
}

inline RunOptions to_run_options(uint32_t flags) {
  return {.accumulate = (flags & CALPE_RUN_ACCUMULATE) != 0,
          .stores = (flags & CALPE_RUN_CACHED) != 0      ? Stores::cached
                    : (flags & CALPE_RUN_STREAMING) != 0 ? Stores::streaming
                                                         : Stores::automatic};
}

}  // namespace calpe::capi
