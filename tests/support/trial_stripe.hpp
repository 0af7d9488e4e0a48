// SPDX-License-Identifier: Apache-2.0
// One random case: a codec, an encoded stripe of random bytes at random addresses, and random
// choices of its shards.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "support/arena.hpp"
#include "support/codec_case.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

using conformance::Random;

inline Arena& shared_arena() {
  static Arena arena(std::size_t{160} << 20);  // pages are touched only as needed
  return arena;
}

// Taken from a pool, because drawing every byte would take most of the time.
inline void fill_random(Random& random, Shard shard) {
  static const std::vector<std::byte> pool = [] {
    std::vector<std::byte> bytes((std::size_t{1} << 20) + 65536 + 64);
    Random(1).fill(bytes);
    return bytes;
  }();
  if (shard.empty()) return;
  std::memcpy(shard.data(), pool.data() + random.below(std::size_t{1} << 20), shard.size());
}

inline std::vector<ConstShard> as_inputs(std::span<const Shard> shards) {
  return {shards.begin(), shards.end()};
}

class Trial {
 public:
  explicit Trial(const CodecCase& c, const CodecOptions& options = {})
      : random(c.seed), codec(must(make_codec(c, options))), arena(shared_arena()) {
    arena.reset();
    const std::size_t multiple = codec.shard_bytes_multiple();
    shard_bytes = c.shard_bytes / multiple * multiple;
    stripe = make_stripe(shard_bytes);
    before = copies(stripe);
  }

  // Makes another encoded stripe.
  std::vector<Shard> make_stripe(std::size_t bytes) {
    std::vector<Shard> shards;
    for (std::size_t i = 0; i < shard_count(); ++i) {
      shards.push_back(take(i < data_shards() ? bytes : codec.parity_bytes(bytes)));
      fill_random(random, shards.back());
    }
    must(codec.encode(as_inputs(data_of(shards)), parity_of(shards), {.stores = any_stores()}));
    return shards;
  }

  Shard take(std::size_t bytes) { return arena.take(bytes, random.below(64)); }
  std::vector<Shard> copies(std::span<const Shard> shards) {
    std::vector<Shard> made;
    for (const Shard& shard : shards)
      made.push_back(arena.copy(shard, random.below(64)));
    return made;
  }
  // Buffers with random bytes, of the lengths of the named shards.
  std::vector<Shard> blanks(std::span<const ShardIndex> indices) {
    std::vector<Shard> made;
    for (const ShardIndex i : indices) {
      made.push_back(take(stripe[i].size()));
      fill_random(random, made.back());
    }
    return made;
  }

  std::size_t data_shards() const { return codec.spec().data_shards; }
  std::size_t shard_count() const { return data_shards() + codec.spec().parity_shards; }
  std::span<const Shard> data_of(std::span<const Shard> all) const {
    return all.first(data_shards());
  }
  std::span<const Shard> parity_of(std::span<const Shard> all) const {
    return all.subspan(data_shards());
  }
  std::vector<ConstShard> pick(std::span<const Shard> all, std::span<const ShardIndex> who) const {
    std::vector<ConstShard> picked;
    for (const ShardIndex i : who)
      picked.push_back(all[i]);
    return picked;
  }

  // `count` distinct shards of [first, end), in any order.
  std::vector<ShardIndex> choose(std::size_t count, std::size_t first, std::size_t end) {
    std::vector<ShardIndex> all(end - first);
    std::iota(all.begin(), all.end(), static_cast<ShardIndex>(first));
    random.shuffle(std::span(all));
    all.resize(count);
    return all;
  }
  std::vector<ShardIndex> all_but(std::span<const ShardIndex> absent) const {
    std::vector<ShardIndex> rest;
    for (std::size_t i = 0; i < shard_count(); ++i) {
      const auto shard = static_cast<ShardIndex>(i);
      if (std::ranges::find(absent, shard) == absent.end()) rest.push_back(shard);
    }
    return rest;
  }
  // A random loss of at least one shard that the code guarantees to rebuild.
  std::vector<ShardIndex> random_loss() {
    return choose(random.between<std::size_t>(1, codec.proof().losses), 0, shard_count());
  }
  // Affects speed only, so compared runs draw different ones.
  Stores any_stores() { return static_cast<Stores>(random.below(3)); }
  // The encode plan, or a plan for a random loss.
  Plan random_plan() {
    if (random.coin()) return codec.plan_encode();
    const auto lost = random_loss();
    return must(codec.plan_decode(all_but(lost), lost));
  }

  void require_unchanged() const {
    for (std::size_t i = 0; i < stripe.size(); ++i)
      require(equal_bytes(stripe[i], before[i]), "shard " + std::to_string(i) + " was changed");
    require(arena.intact(), "bytes outside a shard were written");
  }

  Random random;
  Codec codec;
  Arena& arena;
  std::size_t shard_bytes = 0;
  std::vector<Shard> stripe;  // all k + m, encoded
  std::vector<Shard> before;  // their original bytes
};

// `got[i]` must be shard `who[i]` of the stripe.
inline void require_shards(const Trial& trial, std::span<const Shard> got,
                           std::span<const ShardIndex> who, std::string_view what) {
  for (std::size_t i = 0; i < who.size(); ++i) {
    require(equal_bytes(got[i], trial.before[who[i]]),
            std::string(what) + " of shard " + std::to_string(who[i]) + " is wrong");
  }
}

}  // namespace calpe::tests
