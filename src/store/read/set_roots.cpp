// SPDX-License-Identifier: Apache-2.0
#include "store/read/set_roots.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/allocation_guard.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "base/try.hpp"
#include "store/read/survey.hpp"

namespace calpe::store {

namespace {

// Buffer for all shards together.
constexpr std::uint64_t memory_bytes = 1U << 25U;

Status check_key(const ShardHeader& header, std::span<const std::byte> key) {
  if (header.root_kind == RootKind::none) return invalid("the set has no root");
  const bool has_hmac = header.root_kind == RootKind::hmac;
  if (has_hmac && key.empty()) return invalid("the set has an HMAC, so its key is needed");
  if (!has_hmac && !key.empty()) return invalid("a key was given, but the set has no HMAC");
  return Done{};
}

// Hash state of one shard.
struct HashedShard {
  HashedShard(const ShardHeader& header, ShardIndex index) : hasher(header, index) {}
  ShardHasher hasher;
  std::vector<std::byte> blocks = {};
  std::vector<std::uint8_t> good = {};
  std::optional<Error> error = {};
};

Status hash_run(const OpenSet& files, std::size_t index, const StripeRun& run, HashedShard& shard) {
  const std::size_t block_bytes = files.header().block_bytes;
  shard.blocks.resize(run.stripe_count * block_bytes);
  shard.good.resize(run.stripe_count);
  files.read_any(index, run, {shard.blocks.data(), block_bytes, shard.good});
  const auto bad = std::find(shard.good.begin(), shard.good.end(), std::uint8_t{0});
  if (bad != shard.good.end()) {
    return make_error(ErrorCode::corrupt, "shard ", index, " has no good block in stripe ",
                      run.first_stripe + static_cast<std::uint64_t>(bad - shard.good.begin()),
                      files.read_error_text());
  }
  return shard.hasher.add(shard.blocks);
}

}  // namespace

Result<SetRoots> make_set_roots(const ShardHeader& header, std::vector<Digest> shards) {
  Sha256 hash;
  SetRoots roots;
  roots.shards = std::move(shards);
  roots.paths.resize(roots.shards.size());
  std::vector<Digest> nodes = roots.shards;
  nodes.resize(std::bit_ceil(nodes.size()));
  for (std::size_t level = 0; nodes.size() > 1; ++level) {
    for (std::size_t index = 0; index < roots.paths.size(); ++index) {
      roots.paths[index][level] = nodes[index >> level ^ 1U];
    }
    for (std::size_t i = 0; i < nodes.size() / 2; ++i) {
      CALPE_TRY(nodes[i], node_digest(hash, nodes[2 * i], nodes[2 * i + 1]));
    }
    nodes.resize(nodes.size() / 2);
  }
  CALPE_TRY(roots.set, set_digest(hash, header, nodes.front()));
  return roots;
}

Status add_hmac(SetRoots& roots, const ShardHeader& header, std::span<const std::byte> key) {
  CALPE_CHECK(check_key(header, key));
  if (key.empty()) return Done{};
  CALPE_TRY(roots.hmac, hmac_digest(key, roots.set));
  return Done{};
}

ShardHeader header_with_roots(ShardHeader header, const SetRoots& roots, ShardIndex index) {
  header.shard_index = index;
  header.shard_root = roots.shards[index];
  header.root_path = roots.paths[index];
  header.set_root = roots.set;
  header.hmac = roots.hmac;
  return header;
}

Result<SetRoots> compute_roots(const OpenSet& files, std::span<const std::byte> key, unsigned jobs,
                               const OnProgress& on_progress) {
  return guarded([&]() -> Result<SetRoots> {
    const ShardHeader& header = files.header();
    CALPE_CHECK(check_key(header, key));
    std::vector<HashedShard> shards;
    shards.reserve(files.shard_count());
    for (std::size_t index = 0; index < files.shard_count(); ++index) {
      shards.emplace_back(header, static_cast<ShardIndex>(index));
    }
    ThreadPool helpers(jobs > 1 ? jobs - 1 : 0);
    for (std::uint64_t stripe = 0; stripe < header.stripe_count;) {
      const StripeRun run =
          files.run_from(stripe, header.stripe_count, memory_bytes / shards.size());
      helpers.run(shards.size(), [&](std::size_t index) {
        const Status done = guarded([&] { return hash_run(files, index, run, shards[index]); });
        if (!done) shards[index].error = done.error();
      });
      for (const HashedShard& shard : shards) {
        if (shard.error) return *shard.error;
      }
      stripe = run.end();
      if (on_progress) on_progress(content_before(header, stripe), header.content_bytes);
    }
    std::vector<Digest> digests;
    for (HashedShard& shard : shards) {
      CALPE_TRY(digests.emplace_back(), shard.hasher.finish());
    }
    CALPE_TRY(SetRoots roots, make_set_roots(header, std::move(digests)));
    CALPE_CHECK(add_hmac(roots, header, key));
    return roots;
  });
}

}  // namespace calpe::store
