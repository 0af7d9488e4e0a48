// SPDX-License-Identifier: Apache-2.0
#include "store/read/read_back_check.hpp"

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/shard_probe.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t memory_bytes = 1U << 22U;

}  // namespace

Status check_written_shard(FileSystem& files, const ShardHeader& header, ShardIndex index,
                           const std::string& path, const StripeRanges& lost) {
  CALPE_TRY(const std::optional<FoundFile> found, look_at_file(files, path));
  ShardHeader expected = header;
  expected.shard_index = index;
  const bool is_header_good = found && found->header == expected &&
                              found->shard.front_header_good && found->shard.back_header_good &&
                              found->shard.file_bytes == shard_file_bytes(header);
  if (!is_header_good) {
    return make_error(ErrorCode::io, path, " does not have the header that was written");
  }
  FoundSet alone = {.header = header, .shards = {}};
  alone.shards.resize(std::size_t{header.spec.data_shards} + header.spec.parity_shards);
  alone.shards[index].push_back(found->shard);
  CALPE_TRY(const OpenSet shard, OpenSet::open(files, alone));
  if (!shard.is_padding_good(shard.copies().front())) {
    return make_error(ErrorCode::io, path, " has unused bytes that are not 0");
  }
  std::vector<std::byte> blocks;
  std::vector<std::uint8_t> good;
  for (std::uint64_t stripe = 0; stripe < header.stripe_count;) {
    // A hole has no good block.
    const std::uint64_t next = shard.next_stripe(stripe);
    if (next > stripe && lost.contains_run({stripe, next - stripe})) {
      stripe = next;
      continue;
    }
    const StripeRun run = shard.run_from(stripe, header.stripe_count, memory_bytes);
    blocks.resize(run.stripe_count * header.block_bytes);
    good.resize(run.stripe_count);
    shard.read(shard.copies().front(), run, {blocks.data(), header.block_bytes, good});
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      if ((good[j] != 0) != lost.contains(stripe + j)) continue;
      return make_error(ErrorCode::io, path, " does not read back as it was written: stripe ",
                        stripe + j);
    }
    stripe = run.end();
  }
  return Done{};
}

}  // namespace calpe::store
