// SPDX-License-Identifier: Apache-2.0
// Converts the stripes and flags of the C API to spans and options.
#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
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

// Names the pointer for which to_spans() returned false. `list` is the name of `pointers`.
template <class Pointer>
Error null_shard(std::string_view list, Pointer pointers, std::span<const ShardIndex> shards,
                 const Lengths& lengths) {
  if (pointers == nullptr) {
    return invalid(list, " is NULL; expected ", shards.size(), " addresses");
  }
  const Pointer found = std::find(pointers, pointers + shards.size(), nullptr);
  const auto index = static_cast<std::size_t>(found - pointers);
  return invalid(list, "[", index, "] is NULL; expected ", lengths.of(shards[index]), " bytes");
}

// Sets the spans of stripe number `number` of a batch.
template <class Inputs, class Outputs>
Status take_stripe(const Codec& codec, const Plan& plan, const calpe_stripe& stripe,
                   std::size_t number, Inputs&& inputs, Outputs&& outputs) {
  const Lengths lengths(codec, stripe.shard_bytes);
  if (!to_spans(stripe.inputs, plan.reads(), lengths, inputs)) {
    return null_shard(text("stripes[", number, "].inputs"), stripe.inputs, plan.reads(), lengths);
  }
  if (!to_spans(stripe.outputs, plan.writes(), lengths, outputs)) {
    return null_shard(text("stripes[", number, "].outputs"), stripe.outputs, plan.writes(),
                      lengths);
  }
  return Done{};
}

// Lists of void* are read as lists of std::byte*, which compilers allow: void* may alias every
// pointer.
inline const std::byte* const* bytes_of(const void* const* list) {
  return reinterpret_cast<const std::byte* const*>(list);
}
inline std::byte* const* bytes_of(void* const* list) {
  return reinterpret_cast<std::byte* const*>(list);
}

// Any number of stripes at once, for a codec that does not run on the caller's thread.
class StripeList {
 public:
  // Fails with invalid_argument if a pointer is NULL and its shard is not empty.
  Status read(const Codec& codec, const Plan& plan, std::span<const calpe_stripe> from) {
    const std::size_t reads = plan.reads().size();
    const std::size_t writes = plan.writes().size();
    inputs_.resize(from.size() * reads);
    outputs_.resize(from.size() * writes);
    for (std::size_t s = 0; s < from.size(); ++s) {
      const auto in = std::span(inputs_).subspan(s * reads, reads);
      const auto out = std::span(outputs_).subspan(s * writes, writes);
      CALPE_CHECK(take_stripe(codec, plan, from[s], s, in, out));
      stripes_.push_back({.inputs = in, .outputs = out});
    }
    return Done{};
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
