// SPDX-License-Identifier: Apache-2.0
#include "ceph/object.hpp"

#include <algorithm>
#include <map>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::ceph {

namespace {

std::size_t shard_count(const Codec& codec) {
  return std::size_t{codec.spec().data_shards} + codec.spec().parity_shards;
}

// Returns the most common length, so that a wrong shard does not decide it.
Result<std::uint64_t> common_bytes(const CephShards& shards) {
  std::map<std::uint64_t, std::size_t> counts;
  for (const auto& shard : shards) {
    if (shard) ++counts[shard->size()];
  }
  std::uint64_t bytes = 0;
  std::size_t most = 0;
  bool is_tie = false;
  for (const auto& [length, count] : counts) {
    is_tie = count == most || (count < most && is_tie);
    if (count <= most) continue;
    bytes = length;
    most = count;
  }
  if (is_tie) {
    return make_error(ErrorCode::corrupt, "the shards have different lengths; ", bytes,
                      " bytes is not more common than another length");
  }
  return bytes;
}

ConstShard part_of(const CephShards& shards, std::size_t shard, ByteRange range) {
  return std::span(*shards[shard]).subspan(range.offset, range.bytes);
}

struct Stripes {
  const Codec& codec;
  const CephShards& shards;
  std::vector<ShardIndex> unusable;  // missing, or with a different length

  bool is_unusable(std::size_t shard) const {
    return std::ranges::find(unusable, shard) != unusable.end();
  }
  Result<std::vector<ShardIndex>> locate(ByteRange range) const {
    std::vector<ConstShard> parts(shards.size());
    for (std::size_t s = 0; s < shards.size(); ++s) {
      if (!is_unusable(s)) parts[s] = part_of(shards, s, range);
    }
    return codec.locate(parts, unusable);
  }
};

void blame(ObjectCheck& check, ShardIndex shard, std::uint64_t stripe) {
  auto found = std::ranges::find(check.wrong, shard, &WrongShard::shard);
  if (found == check.wrong.end()) {
    check.wrong.push_back({.shard = shard, .has_other_length = false, .stripes = {}});
    found = check.wrong.end() - 1;
  }
  found->stripes.push_back(stripe);
}

Status check_stripes(const Stripes& stripes, std::uint64_t chunk_bytes, ObjectCheck& check) {
  // Check the shards as a whole first: nearly all objects are sound. Chunks are whole groups of
  // packets, so a whole shard is checked like one chunk.
  const auto whole = stripes.locate({0, static_cast<std::size_t>(check.shard_bytes)});
  if (whole && whole->empty()) return Done{};
  if (!whole && whole.error().code != ErrorCode::ambiguous) return whole.error();
  for (std::uint64_t stripe = 0; stripe < check.stripe_count; ++stripe) {
    const auto wrong = stripes.locate(
        {static_cast<std::size_t>(stripe * chunk_bytes), static_cast<std::size_t>(chunk_bytes)});
    if (!wrong && wrong.error().code != ErrorCode::ambiguous) return wrong.error();
    if (!wrong) {
      check.unexplained.push_back(stripe);
      continue;
    }
    for (const ShardIndex shard : *wrong)
      blame(check, shard, stripe);
  }
  return Done{};
}

Result<ObjectCheck> check_all(const Codec& codec, std::uint64_t chunk_bytes,
                              const CephShards& shards) {
  if (shards.size() != shard_count(codec))
    return invalid("number of shards is ", shards.size(), "; expected ", shard_count(codec));
  ObjectCheck check;
  CALPE_TRY(check.shard_bytes, common_bytes(shards));
  if (check.shard_bytes % chunk_bytes != 0) {
    return make_error(ErrorCode::corrupt, "the shards have ", check.shard_bytes,
                      " bytes; expected a multiple of the chunk size ", chunk_bytes,
                      "; check the stripe unit");
  }
  check.stripe_count = check.shard_bytes / chunk_bytes;
  Stripes stripes{codec, shards, {}};
  std::size_t usable = 0;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto index = static_cast<ShardIndex>(s);
    const bool is_usable = shards[s] && shards[s]->size() == check.shard_bytes;
    usable += is_usable ? 1 : 0;
    if (!is_usable) stripes.unusable.push_back(index);
    if (!shards[s]) check.missing.push_back(index);
    if (!shards[s] || is_usable) continue;
    WrongShard wrong{.shard = index, .has_other_length = true, .stripes = {}};
    for (std::uint64_t stripe = 0; stripe < check.stripe_count; ++stripe)
      wrong.stripes.push_back(stripe);
    check.wrong.push_back(std::move(wrong));
  }
  if (usable < codec.spec().data_shards) {
    return make_error(ErrorCode::unrecoverable, "only ", usable, " of ", shards.size(),
                      " shards are usable; expected at least ", codec.spec().data_shards);
  }
  check.is_checked = usable > codec.spec().data_shards;
  if (check.is_checked && check.shard_bytes != 0)
    CALPE_CHECK(check_stripes(stripes, chunk_bytes, check));
  std::ranges::sort(check.wrong, {}, &WrongShard::shard);
  return check;
}

// Rebuilds one range of the `wanted` shards from the other available ones.
Status rebuild(const Codec& codec, CephShards& shards, const std::vector<ShardIndex>& wanted,
               ByteRange range) {
  std::vector<ShardIndex> available;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto index = static_cast<ShardIndex>(s);
    if (shards[s] && std::ranges::find(wanted, index) == wanted.end()) available.push_back(index);
  }
  CALPE_TRY(const Plan plan, codec.plan_decode(available, wanted));
  std::vector<ConstShard> inputs;
  for (const ShardIndex shard : plan.reads())
    inputs.push_back(part_of(shards, shard, range));
  std::vector<Shard> outputs;
  for (const ShardIndex shard : plan.writes())
    outputs.push_back(std::span(*shards[shard]).subspan(range.offset, range.bytes));
  return codec.decode(plan, inputs, outputs);
}

Status correct_all(const Codec& codec, std::uint64_t chunk_bytes, const ObjectCheck& check,
                   CephShards& shards) {
  if (!check.unexplained.empty()) {
    return make_error(ErrorCode::ambiguous, "stripe ", check.unexplained.front(),
                      ": too many shards are wrong to tell which ones");
  }
  std::map<std::uint64_t, std::vector<ShardIndex>> wrong_of;
  for (const WrongShard& wrong : check.wrong) {
    shards[wrong.shard]->resize(static_cast<std::size_t>(check.shard_bytes));
    for (const std::uint64_t stripe : wrong.stripes)
      wrong_of[stripe].push_back(wrong.shard);
  }
  for (const auto& [stripe, wrong] : wrong_of) {
    CALPE_CHECK(rebuild(
        codec, shards, wrong,
        {static_cast<std::size_t>(stripe * chunk_bytes), static_cast<std::size_t>(chunk_bytes)}));
  }
  CALPE_TRY(const ObjectCheck after, check_all(codec, chunk_bytes, shards));
  if (after.is_consistent()) return Done{};
  return make_error(ErrorCode::ambiguous, "the shards are still inconsistent after correction");
}

Result<std::vector<std::byte>> content_of(const Codec& codec, std::uint64_t chunk_bytes,
                                          CephShards shards,
                                          std::optional<std::uint64_t> object_bytes) {
  CALPE_TRY(const ObjectCheck check, check_all(codec, chunk_bytes, shards));
  if (!check.is_consistent()) return make_error(ErrorCode::corrupt, "the shards are inconsistent");
  const std::size_t data = codec.spec().data_shards;
  const std::uint64_t all = check.shard_bytes * data;
  if (object_bytes && *object_bytes > all) {
    return make_error(ErrorCode::corrupt, "the shards hold ", all, " bytes; expected ",
                      *object_bytes, " (the object's size)");
  }
  std::vector<ShardIndex> lost;
  for (const ShardIndex shard : check.missing) {
    if (shard < data) lost.push_back(shard);
  }
  const auto shard_bytes = static_cast<std::size_t>(check.shard_bytes);
  for (const ShardIndex shard : lost)
    shards[shard].emplace(shard_bytes);
  if (!lost.empty() && shard_bytes != 0)
    CALPE_CHECK(rebuild(codec, shards, lost, {0, shard_bytes}));
  std::vector<std::byte> content(static_cast<std::size_t>(all));
  const auto chunk = static_cast<std::size_t>(chunk_bytes);
  for (std::size_t at = 0, i = 0; at < content.size(); at += chunk, ++i) {
    const ConstShard part = part_of(shards, i % data, {i / data * chunk, chunk});
    std::ranges::copy(part, content.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (object_bytes) content.resize(static_cast<std::size_t>(*object_bytes));
  return content;
}

}  // namespace

Result<ObjectCheck> check_object(const Codec& codec, std::uint64_t chunk_bytes,
                                 const CephShards& shards) {
  return guarded([&] { return check_all(codec, chunk_bytes, shards); });
}

Status correct_object(const Codec& codec, std::uint64_t chunk_bytes, const ObjectCheck& check,
                      CephShards& shards) {
  return guarded([&] { return correct_all(codec, chunk_bytes, check, shards); });
}

Result<std::vector<std::byte>> object_content(const Codec& codec, std::uint64_t chunk_bytes,
                                              const CephShards& shards,
                                              std::optional<std::uint64_t> object_bytes) {
  return guarded([&] { return content_of(codec, chunk_bytes, shards, object_bytes); });
}

}  // namespace calpe::ceph
