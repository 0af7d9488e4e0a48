// SPDX-License-Identifier: Apache-2.0
// calpe.h: tags of shards.
#include <vector>

#include "base/text.hpp"
#include "capi/capi_stripes.hpp"

using namespace calpe;
using namespace calpe::capi;

static_assert(CALPE_TAG_BYTES == tag_bytes);

calpe_status calpe_tag(const calpe_codec* codec, const void* const* shards, size_t shard_count,
                       size_t shard_bytes, void* tags, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || (shard_count > 0 && (shards == nullptr || tags == nullptr))) {
      return null_among({{"codec", codec}, {"shards", shards}, {"tags", tags}}, error);
    }
    if (shard_count > list_entries_max) {
      return fail(invalid("shard_count is ", shard_count, ", which is more than memory can hold"),
                  error);
    }
    std::vector<ConstShard> spans(shard_count);
    for (std::size_t i = 0; i < shard_count; ++i) {
      if (shards[i] == nullptr && shard_bytes > 0) {
        return fail(invalid("shards[", i, "] is NULL; expected ", shard_bytes, " bytes"), error);
      }
      spans[i] = {static_cast<const std::byte*>(shards[i]), shard_bytes};
    }
    return finish(codec->codec.tag(spans, {static_cast<std::byte*>(tags), shard_count * tag_bytes}),
                  error);
  });
}

calpe_status calpe_encode_tagged(const calpe_codec* codec, const void* const* data,
                                 void* const* parity, size_t shard_bytes, void* tags,
                                 calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || tags == nullptr) {
      return null_among({{"codec", codec}, {"tags", tags}}, error);
    }
    const Plan& plan = codec->codec.plan_encode();
    SpanRoom<const std::byte> inputs(plan.reads().size());
    SpanRoom<std::byte> outputs(plan.writes().size());
    const Lengths lengths(codec->codec, shard_bytes);
    if (!to_spans(data, plan.reads(), lengths, inputs)) {
      return fail(null_shard("data", data, plan.reads(), lengths), error);
    }
    if (!to_spans(parity, plan.writes(), lengths, outputs)) {
      return fail(null_shard("parity", parity, plan.writes(), lengths), error);
    }
    const std::size_t count = plan.reads().size() + plan.writes().size();
    return finish(codec->codec.encode_tagged(inputs.first(plan.reads().size()),
                                             outputs.first(plan.writes().size()),
                                             {static_cast<std::byte*>(tags), count * tag_bytes}),
                  error);
  });
}
