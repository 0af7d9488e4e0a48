// SPDX-License-Identifier: Apache-2.0
// Codecs and plans of the C ABI with their model, and the rules of every call: status and error
// agree, and a handle is returned exactly on success.
#pragma once
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include <calpe/calpe.h>

#include "fuzz/code_model.hpp"
#include "fuzz/property.hpp"

namespace calpe::fuzz {

struct Destroy {
  void operator()(calpe_codec* codec) const { calpe_codec_destroy(codec); }
  void operator()(calpe_plan* plan) const { calpe_plan_destroy(plan); }
};
using CodecHandle = std::unique_ptr<calpe_codec, Destroy>;
using PlanHandle = std::unique_ptr<calpe_plan, Destroy>;
using Indices = std::vector<std::uint16_t>;

// Calls call(&error), which must succeed or fail with one of `allowed`.
template <class Call>
calpe_status checked(std::initializer_list<calpe_status> allowed, const Call& call) {
  calpe_error error;
  std::memset(&error, 0x5A, sizeof error);
  const calpe_status status = call(&error);
  require(error.status == status, "the error has the returned status");
  const auto* end = static_cast<const char*>(std::memchr(error.message, 0, sizeof error.message));
  require(end != nullptr, "a message ends");
  require((end == error.message) == (status == CALPE_OK), "exactly failures have a message");
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), status) != allowed.end();
  if (status != CALPE_OK && !is_allowed) std::fprintf(stderr, "fuzz: %s\n", error.message);
  require(status == CALPE_OK || is_allowed, "the status is allowed");
  return status;
}

template <class Handle, class Call>
Handle checked_handle(std::initializer_list<calpe_status> allowed, const Call& call) {
  typename Handle::pointer made = nullptr;
  const calpe_status status =
      checked(allowed, [&](calpe_error* error) { return call(&made, error); });
  require((status == CALPE_OK) == (made != nullptr), "a handle exactly on success");
  return Handle(made);
}

struct HeldCodec {
  std::shared_ptr<calpe_codec> codec;
  calpe_spec spec = {};  // resolved
  CodeModel model = {};
  std::size_t shard_bytes = 0;
  std::vector<Bytes> shards = {};  // empty: not encoded yet
};

struct HeldPlan {
  PlanHandle plan;
  calpe_spec spec = {};
  Indices reads = {};
  Indices writes = {};
  Indices cells = {};
  bool is_decode = false;  // writes shards of the stripe
};

inline HeldPlan hold_plan(PlanHandle plan, const calpe_spec& spec, bool is_decode) {
  HeldPlan held{.plan = std::move(plan), .spec = spec, .is_decode = is_decode};
  const auto list = [&](auto get) {
    Indices all(get(held.plan.get(), nullptr, 0));
    require(get(held.plan.get(), all.data(), all.size()) == all.size(), "a list stays as long");
    return all;
  };
  held.reads = list(calpe_plan_reads);
  held.writes = list(calpe_plan_writes);
  held.cells = list(calpe_plan_coefficients);
  require(held.cells.size() == held.reads.size() * held.writes.size(), "a coefficient each");
  require(std::is_sorted(held.reads.begin(), held.reads.end()), "reads ascend");
  return held;
}

// Compares everything except struct_size, which belongs to the caller.
inline bool same_spec(const calpe_spec& a, const calpe_spec& b) {
  return a.family == b.family && a.layout == b.layout && a.data_shards == b.data_shards &&
         a.parity_shards == b.parity_shards && a.word_bits == b.word_bits &&
         a.polynomial == b.polynomial && a.packet_bytes == b.packet_bytes &&
         a.local_groups == b.local_groups && a.matrix_hash == b.matrix_hash;
}

inline std::optional<HeldCodec> hold_codec(CodecHandle codec, std::vector<std::uint16_t> rows) {
  if (codec == nullptr) return std::nullopt;
  HeldCodec held{.codec = std::move(codec)};
  held.spec.struct_size = sizeof held.spec;
  calpe_codec_spec(held.codec.get(), &held.spec);
  calpe_proof proof = {};
  proof.struct_size = sizeof proof;
  calpe_codec_proof(held.codec.get(), &proof);
  if (rows.empty()) {
    rows.resize(std::size_t{held.spec.data_shards} * held.spec.parity_shards);
    const calpe_status status = checked({}, [&](calpe_error* error) {
      return calpe_parity_rows(&held.spec, rows.data(), rows.size(), error);
    });
    require(status == CALPE_OK, "a codec's spec has rows");
  }
  const bool has_packets = held.spec.layout == CALPE_LAYOUT_PACKETS;
  held.model = {.data = held.spec.data_shards,
                .parity = held.spec.parity_shards,
                .word_bits = held.spec.word_bits,
                .polynomial = held.spec.polynomial,
                .packet_bytes = has_packets ? held.spec.packet_bytes : 0,
                .rows = std::move(rows),
                .losses = proof.losses};
  require(held.model.data >= 1 && held.model.parity >= 1 && held.model.shards() <= 256,
          "k and m are in range");
  require(held.spec.matrix_hash != 0, "a resolved spec has the hash of its rows");
  require(calpe_codec_backend(held.codec.get())[0] != '\0', "a codec's backend has a name");
  return held;
}

}  // namespace calpe::fuzz
