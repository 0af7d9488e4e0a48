// SPDX-License-Identifier: Apache-2.0
#include "store/repair/restore_stripes.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/read/stripe_loader.hpp"

namespace calpe::store {

namespace {

// Blocks of all data shards in a run.
constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 24U;

class RestoreStripes {
 public:
  RestoreStripes(const OpenSet& files, const StripeCoder& coder, const Survey& survey,
                 unsigned jobs, OriginalOutput& output)
      : files_(files),
        survey_(survey),
        loader_(files, coder, jobs),
        output_(output),
        data_shards_(files.header().spec.data_shards),
        block_bytes_(files.header().block_bytes) {}

  Result<StripesRestored> run(const std::vector<std::size_t>& entries) {
    const StripeRanges wanted = stripes_of(entries);
    for (const StripeRun& range : wanted.runs()) {
      for (std::uint64_t stripe = range.first_stripe; stripe < range.end();) {
        const StripeRun run = run_from(stripe, range.end());
        CALPE_CHECK(survey_.bad_data.contains(stripe) ? load(run) : read(run));
        stripe = run.end();
      }
    }
    restored_.lost = merged(std::move(restored_.lost));
    return std::move(restored_);
  }

 private:
  StripeRanges stripes_of(const std::vector<std::size_t>& entries) const {
    const std::uint64_t stripes = files_.header().stripe_count;
    std::vector<ContentRange> ranges;  // of stripes
    for (const std::size_t entry : entries) {
      for (const Extent& extent : files_.originals()->manifest().entries[entry].extents) {
        const std::uint64_t end = divide_up(extent.content_offset + extent.bytes, block_bytes_);
        for (std::uint64_t block = extent.content_offset / block_bytes_; block < end;) {
          const std::uint64_t count = std::min(end - block, stripes - block % stripes);
          ranges.push_back({block % stripes, block % stripes + count});
          block += count;
        }
      }
    }
    StripeRanges all;
    for (const ContentRange& range : merged(std::move(ranges)))
      all.add_run({range.begin, range.bytes()});
    return all;
  }

  // All stripes of a run are good, or none is.
  StripeRun run_from(std::uint64_t stripe, std::uint64_t end) const {
    StripeRun run = files_.run_from(stripe, end, memory_bytes / data_shards_);
    const bool is_bad = survey_.bad_data.contains(stripe);
    for (std::uint64_t next = stripe + 1; next < run.end(); ++next) {
      if (survey_.bad_data.contains(next) != is_bad) run.stripe_count = next - stripe;
    }
    return run;
  }

  std::uint64_t content_offset(std::size_t shard, std::uint64_t stripe) const {
    return (shard * files_.header().stripe_count + stripe) * block_bytes_;
  }

  bool is_any_wanted(std::size_t shard, const StripeRun& run) const {
    const auto pieces = files_.originals()->content().pieces_in(
        content_offset(shard, run.first_stripe), run.stripe_count * block_bytes_);
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const OriginalPiece& piece) { return output_.is_wanted(piece.entry); });
  }

  Status read(const StripeRun& run) {
    blocks_.resize(run.stripe_count * block_bytes_);
    good_.resize(run.stripe_count);
    for (std::size_t shard = 0; shard < data_shards_; ++shard) {
      if (!is_any_wanted(shard, run)) continue;
      files_.read_any(shard, run, {blocks_.data(), block_bytes_, good_});
      const auto bad = std::find(good_.begin(), good_.end(), std::uint8_t{0});
      if (bad != good_.end()) {
        const auto index = static_cast<std::uint64_t>(bad - good_.begin());
        return make_error(ErrorCode::io, "stripe ", run.first_stripe + index,
                          " was good but no longer is", files_.read_error_text());
      }
      CALPE_CHECK(give(shard, run));
    }
    return Done{};
  }

  Status load(const StripeRun& run) {
    const std::size_t stripe_bytes = loader_.stripe_bytes();
    stripes_.resize(run.stripe_count * stripe_bytes);
    StripeRanges lost;
    CALPE_CHECK(loader_.load(run, stripes_, lost));
    blocks_.resize(run.stripe_count * block_bytes_);
    for (std::size_t shard = 0; shard < data_shards_; ++shard) {
      if (!is_any_wanted(shard, run)) continue;
      std::vector<ContentRange> unknown;
      for (std::uint64_t j = 0; j < run.stripe_count; ++j) {
        const auto block = std::span(blocks_).subspan(j * block_bytes_, block_bytes_);
        const std::uint64_t stripe = run.first_stripe + j;
        if (!lost.contains(stripe)) {
          std::memcpy(block.data(), stripes_.data() + j * stripe_bytes + shard * block_bytes_,
                      block_bytes_);
        } else if (!read_good(shard, stripe, block)) {
          const std::uint64_t at = content_offset(shard, stripe);
          unknown.push_back({at, at + block_bytes_});
        }
      }
      drop_lost(shard, run, unknown);
      CALPE_CHECK(give(shard, run));
    }
    return Done{};
  }

  bool read_good(std::size_t shard, std::uint64_t stripe, std::span<std::byte> block) {
    std::uint8_t good = 0;
    files_.read_any(shard, {stripe, 1}, {block.data(), block_bytes_, std::span(&good, 1)});
    return good != 0;
  }

  void drop_lost(std::size_t shard, const StripeRun& run, std::span<const ContentRange> unknown) {
    const OriginalShards& originals = *files_.originals();
    const std::uint64_t at = content_offset(shard, run.first_stripe);
    for (const ContentRange& range : originals.fill_intact(blocks_, at, unknown)) {
      for (const OriginalPiece& piece : originals.content().pieces_in(range.begin, range.bytes())) {
        const bool is_wanted =
            output_.is_wanted(piece.entry) || restored_.dropped.contains(piece.entry);
        if (!is_wanted) continue;
        restored_.lost.push_back(
            {std::max(range.begin, piece.content_offset), std::min(range.end, piece.end())});
        output_.drop(piece.entry);
        restored_.dropped.insert(piece.entry);
      }
    }
  }

  // Passes blocks_ of one shard on.
  Status give(std::size_t shard, const StripeRun& run) {
    const std::uint64_t at = content_offset(shard, run.first_stripe);
    const std::uint64_t end = at + run.stripe_count * block_bytes_;
    for (const OriginalPiece& piece : files_.originals()->content().pieces_in(at, end - at)) {
      if (!output_.is_wanted(piece.entry)) continue;
      const std::uint64_t from = std::max(at, piece.content_offset);
      const std::uint64_t to = std::min(end, piece.end());
      CALPE_CHECK(output_.write(piece.entry, piece.file_offset + (from - piece.content_offset),
                                std::span(blocks_).subspan(from - at, to - from)));
    }
    return Done{};
  }

  const OpenSet& files_;
  const Survey& survey_;
  StripeLoader loader_;
  OriginalOutput& output_;
  std::size_t data_shards_;
  std::size_t block_bytes_;
  StripesRestored restored_;
  std::vector<std::byte> stripes_;
  std::vector<std::byte> blocks_;  // of one shard in a run
  std::vector<std::uint8_t> good_;
};

}  // namespace

Result<StripesRestored> restore_stripes(const OpenSet& files, const StripeCoder& coder,
                                        const Survey& survey,
                                        const std::vector<std::size_t>& entries, unsigned jobs,
                                        OriginalOutput& output) {
  return RestoreStripes(files, coder, survey, jobs, output).run(entries);
}

}  // namespace calpe::store
