// SPDX-License-Identifier: Apache-2.0
#include "store/read/stripe_loader.hpp"

#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

// Content that a thread processes at a time. Long enough for few calls, short enough for a block to
// stay in the cache until it is copied or coded.
constexpr std::uint64_t piece_bytes = 1U << 20U;

}  // namespace

StripeLoader::StripeLoader(const OpenSet& files, const StripeCoder& coder, unsigned jobs)
    : files_(files),
      coder_(coder),
      stripe_bytes_(std::size_t{files.header().spec.data_shards} * files.header().block_bytes),
      helpers_(jobs > 1 ? std::make_unique<ThreadPool>(jobs - 1) : nullptr) {}

Status StripeLoader::load(const StripeRun& run, std::span<std::byte> bytes,
                          StripeRanges& lost) const {
  // Do not read stripes that no file reaches.
  const std::uint64_t reachable =
      std::clamp(files_.reachable_stripes(), run.first_stripe, run.end());
  std::vector<Piece> pieces;
  for (std::uint64_t stripe = run.first_stripe; stripe < reachable;) {
    const std::uint64_t next = std::min(files_.next_stripe(stripe), reachable);
    if (next > stripe) {
      Piece& hole = pieces.emplace_back();
      hole.lost.add_run({.first_stripe = stripe, .stripe_count = next - stripe});
      stripe = next;
      continue;
    }
    const std::uint64_t each = piece_bytes / files_.header().spec.data_shards;
    const StripeRun part = files_.run_from(stripe, reachable, each);
    pieces.push_back({part, bytes.data() + (stripe - run.first_stripe) * stripe_bytes_});
    stripe = part.end();
  }
  const auto work = [&](std::size_t i) {
    if (pieces[i].bytes == nullptr) return;
    const Status done = guarded([&] { return load_piece(pieces[i]); });
    if (!done) pieces[i].error = done.error();
  };
  if (helpers_) {
    helpers_->run(pieces.size(), work);
  } else {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      work(i);
    }
  }
  for (const Piece& piece : pieces) {
    if (piece.error) return *piece.error;
    for (const StripeRun& part : piece.lost.runs()) {
      lost.add_run(part);
    }
  }
  lost.add_run({.first_stripe = reachable, .stripe_count = run.end() - reachable});
  return Done{};
}

Status StripeLoader::load_piece(Piece& piece) const {
  const std::size_t data_shards = files_.header().spec.data_shards;
  const std::size_t block_bytes = files_.header().block_bytes;
  const std::size_t count = piece.run.stripe_count;
  std::vector<std::uint8_t> good(data_shards * count);
  std::vector<std::uint8_t> stripe_good(count, 1);
  for (std::size_t i = 0; i < data_shards; ++i) {
    const auto verdicts = std::span(good).subspan(i * count, count);
    files_.read_any(i, piece.run, {piece.bytes + i * block_bytes, stripe_bytes_, verdicts});
    for (std::size_t j = 0; j < count; ++j) {
      if (verdicts[j] == 0) stripe_good[j] = 0;
    }
  }
  StripeRanges bad;
  for (std::size_t j = 0; j < count; ++j) {
    if (stripe_good[j] == 0) bad.add(piece.run.first_stripe + j);
  }
  for (const StripeRun& part : bad.runs()) {
    CALPE_CHECK(rebuild(piece, part, good));
  }
  return Done{};
}

Status StripeLoader::rebuild(Piece& piece, const StripeRun& bad,
                             std::span<std::uint8_t> good) const {
  const std::size_t data_shards = files_.header().spec.data_shards;
  const std::size_t block_bytes = files_.header().block_bytes;
  const std::size_t count = bad.stripe_count;
  const std::size_t skipped = bad.first_stripe - piece.run.first_stripe;
  const std::size_t shards = files_.shard_count();
  // One flag per shard for each stripe.
  std::vector<std::uint8_t> verdicts(count * shards);
  std::vector<std::size_t> good_count(count);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < data_shards; ++i) {
      verdicts[j * shards + i] = good[i * piece.run.stripe_count + skipped + j];
      good_count[j] += verdicts[j * shards + i];
    }
  }
  std::vector<std::vector<std::byte>> parity(shards);
  std::vector<std::uint8_t> read(count);
  for (std::size_t i = data_shards; i < shards; ++i) {
    // One more than needed, for comparison.
    const bool is_enough =
        coder_.is_any_k_enough() && std::all_of(good_count.begin(), good_count.end(),
                                                [&](std::size_t n) { return n > data_shards; });
    if (is_enough) break;
    if (files_.copies_of(i).empty()) continue;
    parity[i].resize(count * block_bytes);
    files_.read_any(i, bad, {parity[i].data(), block_bytes, read});
    for (std::size_t j = 0; j < count; ++j) {
      verdicts[j * shards + i] = read[j];
      good_count[j] += read[j];
    }
  }
  std::vector<Shard> blocks(shards);
  for (std::size_t j = 0; j < count; ++j) {
    const auto stripe_verdicts = std::span(verdicts).subspan(j * shards, shards);
    std::vector<ShardIndex> wanted;
    for (std::size_t i = 0; i < shards; ++i) {
      std::byte* const data = piece.bytes + (skipped + j) * stripe_bytes_ + i * block_bytes;
      if (i < data_shards) {
        blocks[i] = {data, block_bytes};
        if (stripe_verdicts[i] == 0) wanted.push_back(static_cast<ShardIndex>(i));
      } else if (!parity[i].empty()) {
        blocks[i] = {parity[i].data() + j * block_bytes, block_bytes};
      }
    }
    CALPE_TRY(const Rebuilt outcome, coder_.rebuild({blocks, stripe_verdicts}, wanted));
    const std::uint64_t stripe = bad.first_stripe + j;
    if (outcome == Rebuilt::lost) piece.lost.add(stripe);
    if (outcome == Rebuilt::done) blocks_rebuilt_ += wanted.size();
    if (outcome == Rebuilt::contradicting) {
      return make_error(ErrorCode::corrupt, "the blocks of stripe ", stripe,
                        " match their checksums but contradict each other");
    }
  }
  return Done{};
}

}  // namespace calpe::store
