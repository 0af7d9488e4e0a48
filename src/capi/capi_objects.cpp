// SPDX-License-Identifier: Apache-2.0
// calpe.h: objects. Pointers become spans on the stack, without allocation.
#include "base/text.hpp"
#include "capi/capi_support.hpp"

using namespace calpe;
using namespace calpe::capi;

namespace {

calpe_status null_parity(std::size_t index, std::size_t bytes, calpe_error* error) {
  return fail(invalid("parity[", index, "] is NULL; expected ", bytes, " bytes"), error);
}

bool is_object(const void* object, size_t object_bytes) {
  return object != nullptr || object_bytes == 0;
}

}  // namespace

size_t calpe_shard_bytes_for(const calpe_codec* codec, size_t object_bytes) {
  return codec->codec.shard_bytes_for(object_bytes);
}

calpe_status calpe_split(const calpe_codec* codec, const void* object, size_t object_bytes,
                         size_t shard_bytes, const void** data, size_t* data_bytes,
                         calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || data == nullptr || data_bytes == nullptr) {
      return null_among({{"codec", codec}, {"data", data}, {"data_bytes", data_bytes}}, error);
    }
    if (!is_object(object, object_bytes)) return null_argument("object is NULL", error);
    SpanArray<const std::byte> parts(codec->codec.spec().data_shards);
    const Status done = codec->codec.split(
        ConstShard(static_cast<const std::byte*>(object), object_bytes), shard_bytes, parts);
    for (std::size_t i = 0; done && i < parts.size(); ++i) {
      data[i] = parts[i].data();
      data_bytes[i] = parts[i].size();
    }
    return finish(done, error);
  });
}

calpe_status calpe_encode_object(const calpe_codec* codec, const void* object, size_t object_bytes,
                                 void* const* parity, size_t shard_bytes, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || parity == nullptr) {
      return null_among({{"codec", codec}, {"parity", parity}}, error);
    }
    if (!is_object(object, object_bytes)) return null_argument("object is NULL", error);
    SpanArray<std::byte> outputs(codec->codec.spec().parity_shards);
    const std::size_t parity_bytes = codec->codec.parity_bytes(shard_bytes);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (parity[i] == nullptr && parity_bytes > 0) return null_parity(i, parity_bytes, error);
      outputs[i] = {static_cast<std::byte*>(parity[i]), parity_bytes};
    }
    return finish(codec->codec.encode_object({static_cast<const std::byte*>(object), object_bytes},
                                             shard_bytes, outputs),
                  error);
  });
}

calpe_status calpe_decode_object(const calpe_codec* codec, const calpe_plan* plan, void* object,
                                 size_t object_bytes, const void* const* parity, size_t shard_bytes,
                                 calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || plan == nullptr || parity == nullptr) {
      return null_among({{"codec", codec}, {"plan", plan}, {"parity", parity}}, error);
    }
    if (!is_object(object, object_bytes)) return null_argument("object is NULL", error);
    const CodeSpec& spec = codec->codec.spec();
    SpanArray<const std::byte> inputs(spec.parity_shards);
    const std::size_t parity_bytes = codec->codec.parity_bytes(shard_bytes);
    // The lists of a plan of another codec do not fit these; the call refuses it.
    for (const ShardIndex shard : plan->plan.reads()) {
      if (shard < spec.data_shards || shard - spec.data_shards >= inputs.size()) continue;
      const std::size_t i = shard - spec.data_shards;
      if (parity[i] == nullptr && parity_bytes > 0) return null_parity(i, parity_bytes, error);
      inputs[i] = {static_cast<const std::byte*>(parity[i]), parity_bytes};
    }
    return finish(
        codec->codec.decode_object(plan->plan, {static_cast<std::byte*>(object), object_bytes},
                                   shard_bytes, inputs),
        error);
  });
}
