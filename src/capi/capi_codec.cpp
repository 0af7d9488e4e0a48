// SPDX-License-Identifier: Apache-2.0
// calpe.h: codecs and plans.
#include "capi/capi_support.hpp"

using namespace calpe;
using namespace calpe::capi;

namespace {

// Converts a list from C. NULL is allowed when the list is empty.
Result<std::span<const uint16_t>> list(const uint16_t* indices, size_t count, const char* name) {
  if (indices == nullptr && count > 0) {
    return Error{ErrorCode::invalid_argument, std::string(name) + " is NULL"};
  }
  return std::span<const uint16_t>(indices, count);
}

}  // namespace

calpe_status calpe_codec_create(const calpe_spec* spec, const calpe_options* options,
                                calpe_codec** out, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    const auto full = to_spec(spec);
    if (!full) return fail(full.error(), error);
    const auto chosen = to_options(options);
    if (!chosen) return fail(chosen.error(), error);
    return give(Codec::create(*full, *chosen), out, error);
  });
}

calpe_status calpe_codec_create_from_matrix(const calpe_spec* spec, const uint16_t* rows,
                                            const calpe_options* options, calpe_codec** out,
                                            calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (rows == nullptr) return null_argument("rows is NULL", error);
    const auto full = to_spec(spec);
    if (!full) return fail(full.error(), error);
    const auto chosen = to_options(options);
    if (!chosen) return fail(chosen.error(), error);
    const std::size_t cells = std::size_t{full->data_shards} * full->parity_shards;
    return give(Codec::create_from_matrix(*full, {rows, cells}, *chosen), out, error);
  });
}

calpe_status calpe_spec_encode(const calpe_spec* spec, void* bytes, size_t capacity,
                               calpe_error* error) {
  return walled(error, [&] {
    if (bytes == nullptr) return null_argument("bytes is NULL", error);
    if (capacity < CALPE_SPEC_BYTES) {
      return null_argument("capacity is too small; expected at least CALPE_SPEC_BYTES (64)", error);
    }
    const auto full = to_spec(spec);
    if (!full) return fail(full.error(), error);
    const auto encoded = encode_spec(*full);
    if (encoded) std::memcpy(bytes, encoded->data(), encoded->size());
    return finish(encoded, error);
  });
}

calpe_status calpe_spec_decode(const void* bytes, size_t byte_count, calpe_spec* spec,
                               calpe_error* error) {
  return walled(error, [&] {
    if (bytes == nullptr || spec == nullptr) return null_argument("bytes or spec is NULL", error);
    // A shorter structure would lose fields, and another code would be made from it.
    if (spec->struct_size < sizeof(calpe_spec)) {
      return null_argument("spec->struct_size is too small; expected sizeof(calpe_spec)", error);
    }
    const auto decoded = decode_spec({static_cast<const std::byte*>(bytes), byte_count});
    if (decoded) write_struct(from_spec(*decoded), spec);
    return finish(decoded, error);
  });
}

void calpe_codec_destroy(calpe_codec* codec) {
  delete codec;
}

void calpe_codec_spec(const calpe_codec* codec, calpe_spec* spec) {
  write_struct(from_spec(codec->codec.spec()), spec);
}

void calpe_codec_proof(const calpe_codec* codec, calpe_proof* proof) {
  fill_proof(codec->codec.proof(), proof);
}

const char* calpe_codec_backend(const calpe_codec* codec) {
  return codec->codec.backend().data();
}
uint32_t calpe_codec_threads(const calpe_codec* codec) {
  return codec->codec.threads();
}
size_t calpe_shard_bytes_multiple(const calpe_codec* codec) {
  return codec->codec.shard_bytes_multiple();
}
size_t calpe_parity_bytes(const calpe_codec* codec, size_t shard_bytes) {
  return codec->codec.parity_bytes(shard_bytes);
}

void calpe_codable_range(const calpe_codec* codec, size_t shard_bytes, size_t* offset,
                         size_t* bytes) {
  const ByteRange range =
      codec->codec.codable_range({.offset = *offset, .bytes = *bytes}, shard_bytes);
  *offset = range.offset;
  *bytes = range.bytes;
}

calpe_status calpe_plan_encode(const calpe_codec* codec, calpe_plan** out, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || out == nullptr) return null_argument("codec or out is NULL", error);
    return give<Plan>(codec->codec.plan_encode(), out, error);
  });
}

calpe_status calpe_plan_decode(const calpe_codec* codec, const uint16_t* available,
                               size_t available_count, const uint16_t* wanted, size_t wanted_count,
                               const uint32_t* costs, calpe_plan** out, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || out == nullptr) return null_argument("codec or out is NULL", error);
    *out = nullptr;
    const auto from = list(available, available_count, "available");
    const auto to = list(wanted, wanted_count, "wanted");
    if (!from) return fail(from.error(), error);
    if (!to) return fail(to.error(), error);
    const std::span<const uint32_t> prices(costs, costs == nullptr ? 0 : available_count);
    return give(codec->codec.plan_decode(*from, *to, prices), out, error);
  });
}

calpe_status calpe_plan_update(const calpe_codec* codec, uint16_t data_index,
                               const uint16_t* parity, size_t parity_count, calpe_plan** out,
                               calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || out == nullptr) return null_argument("codec or out is NULL", error);
    *out = nullptr;
    const auto to = list(parity, parity_count, "parity");
    if (!to) return fail(to.error(), error);
    return give(codec->codec.plan_update(data_index, *to), out, error);
  });
}

calpe_status calpe_plan_partial(const calpe_codec* codec, const calpe_plan* plan,
                                const uint16_t* held, size_t held_count, calpe_plan** out,
                                calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || plan == nullptr || out == nullptr) {
      return null_argument("codec, plan or out is NULL", error);
    }
    *out = nullptr;
    const auto from = list(held, held_count, "held");
    if (!from) return fail(from.error(), error);
    return give(codec->codec.plan_partial(plan->plan, *from), out, error);
  });
}

size_t calpe_plan_reads(const calpe_plan* plan, uint16_t* indices, size_t capacity) {
  return copy_list(plan->plan.reads(), indices, capacity);
}
size_t calpe_plan_writes(const calpe_plan* plan, uint16_t* indices, size_t capacity) {
  return copy_list(plan->plan.writes(), indices, capacity);
}
size_t calpe_plan_coefficients(const calpe_plan* plan, uint16_t* cells, size_t capacity) {
  return copy_list(plan->plan.coefficients(), cells, capacity);
}
void calpe_plan_destroy(calpe_plan* plan) {
  delete plan;
}
