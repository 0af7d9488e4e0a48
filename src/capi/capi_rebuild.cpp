// SPDX-License-Identifier: Apache-2.0
// calpe.h: rebuilds whole stripes. Flags of present shards become a list of missing ones.
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "capi/capi_stripes.hpp"

using namespace calpe;
using namespace calpe::capi;

namespace {

std::size_t shard_count(const Codec& codec) {
  return std::size_t{codec.spec().data_shards} + codec.spec().parity_shards;
}

struct MissingShards {
  MissingShards(const Codec& codec, const uint8_t* present) : indices(shard_count(codec)) {
    for (std::size_t i = 0; i < shard_count(codec); ++i) {
      if (present[i] == 0) indices[count++] = static_cast<ShardIndex>(i);
    }
  }
  std::span<const ShardIndex> get() const { return {indices.data(), count}; }
  ShortArray<ShardIndex> indices;
  std::size_t count = 0;
};

// Name of the list of shards, alone or in a stripe of a batch.
std::string name_of(std::optional<std::size_t> stripe) {
  return stripe ? text("stripes[", *stripe, "].shards") : "shards";
}

// A missing shard without a buffer becomes an empty span, which Codec::rebuild leaves out.
Status take_shards(const Codec& codec, const calpe_whole_stripe& stripe, const uint8_t* present,
                   std::span<Shard> to, std::optional<std::size_t> number) {
  if (stripe.shards == nullptr) {
    return invalid(name_of(number), " is NULL; expected ", to.size(), " addresses");
  }
  const Lengths lengths(codec, stripe.shard_bytes);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t bytes = lengths.of(static_cast<ShardIndex>(i));
    auto* const shard = static_cast<std::byte*>(stripe.shards[i]);
    if (shard == nullptr && present[i] != 0 && bytes > 0) {
      return invalid(name_of(number), "[", i, "] is NULL but present[", i, "] is ", present[i],
                     "; pass the shard, or 0 in present if it is lost");
    }
    to[i] = shard == nullptr ? Shard() : Shard(shard, bytes);
  }
  return Done{};
}

Result<RebuildOptions> to_rebuild_options(uint32_t flags) {
  if ((flags & ~(CALPE_REBUILD_DATA_ONLY | store_flags)) != 0 ||
      (flags & store_flags) == store_flags) {
    return invalid("flags is ", flags, "; expected CALPE_REBUILD_DATA_ONLY and one of ",
                   "CALPE_RUN_CACHED and CALPE_RUN_STREAMING, or 0");
  }
  return RebuildOptions{.data_only = (flags & CALPE_REBUILD_DATA_ONLY) != 0,
                        .stores = to_run_options(flags & store_flags).stores};
}

Status rebuild(const Codec& codec, const calpe_whole_stripe& stripe, const uint8_t* present,
               uint32_t flags) {
  CALPE_TRY(const RebuildOptions options, to_rebuild_options(flags));
  SpanArray<std::byte> shards(shard_count(codec));
  CALPE_CHECK(take_shards(codec, stripe, present, shards, std::nullopt));
  return codec.rebuild(shards, MissingShards(codec, present).get(), options);
}

Status rebuild_batch(const Codec& codec, std::span<const calpe_whole_stripe> stripes,
                     const uint8_t* present, uint32_t flags) {
  CALPE_TRY(const RebuildOptions options, to_rebuild_options(flags));
  const std::size_t count = shard_count(codec);
  std::vector<Shard> shards(stripes.size() * count);
  std::vector<std::span<const Shard>> list;
  list.reserve(stripes.size());
  for (std::size_t s = 0; s < stripes.size(); ++s) {
    const auto to = std::span(shards).subspan(s * count, count);
    CALPE_CHECK(take_shards(codec, stripes[s], present, to, s));
    list.emplace_back(to);
  }
  Status done = codec.rebuild_batch(list, MissingShards(codec, present).get(), options);
  if (done) return done;
  Error error = std::move(done).error();
  // "stripes[1][4]" of the C++ API is stripes[1].shards[4] here.
  for (std::size_t at; (at = error.message.find("][")) != std::string::npos;)
    error.message.insert(at + 1, ".shards");
  return error;
}

}  // namespace

calpe_status calpe_rebuild(const calpe_codec* codec, void* const* shards, const uint8_t* present,
                           size_t shard_bytes, uint32_t flags, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || shards == nullptr || present == nullptr) {
      return null_among({{"codec", codec}, {"shards", shards}, {"present", present}}, error);
    }
    return finish(rebuild(codec->codec, {shards, shard_bytes}, present, flags), error);
  });
}

calpe_status calpe_rebuild_batch(const calpe_codec* codec, const calpe_whole_stripe* stripes,
                                 size_t stripe_count, const uint8_t* present, uint32_t flags,
                                 calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || present == nullptr || (stripes == nullptr && stripe_count > 0)) {
      return null_among({{"codec", codec}, {"present", present}, {"stripes", stripes}}, error);
    }
    if (stripe_count > list_entries_max) return too_many_stripes(error);
    return finish(rebuild_batch(codec->codec, {stripes, stripe_count}, present, flags), error);
  });
}
