// SPDX-License-Identifier: Apache-2.0
#include "store/read/set_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/held_set.hpp"
#include "store/read/stripe_loader.hpp"

namespace calpe::store {

namespace {

// Content buffered for callers that read in small pieces.
constexpr std::size_t window_bytes = 1U << 20U;

}  // namespace

struct SetReader::Impl {
  Impl(std::unique_ptr<HeldFiles> locked, OpenSet opened, StripeCoder made, unsigned jobs)
      : held(std::move(locked)),
        files(std::move(opened)),
        coder(std::move(made)),
        loader(files, coder, jobs) {}

  // Loads `stripe`, and those up to `end` that fit. Reads further ahead, if it may, only for a
  // caller who goes on where the window ends, so that one small file costs its own stripes.
  Status load_window(std::uint64_t stripe, std::uint64_t end, bool may_read_ahead) {
    if (stripe >= window.first_stripe && stripe < window.end()) return Done{};
    const std::size_t stripe_bytes = loader.stripe_bytes();
    const std::uint64_t count = std::max<std::uint64_t>(1, window_bytes / stripe_bytes);
    const bool goes_on = may_read_ahead && window.stripe_count != 0 && stripe == window.end();
    const std::uint64_t left = (goes_on ? files.header().stripe_count : end) - stripe;
    window = {};
    window_lost = {};
    const StripeRun run = {.first_stripe = stripe, .stripe_count = std::min(count, left)};
    window_content.resize(run.stripe_count * stripe_bytes);
    Status loaded = loader.load(run, window_content, window_lost);
    if (loaded) window = run;
    return loaded;
  }

  // Reads whole stripes directly to their destination, others through the window.
  Status read(std::span<std::byte> bytes, std::uint64_t offset, StripeRanges& lost) {
    if (files.header().kind == SetKind::originals) return read_parts(bytes, offset, lost);
    const std::size_t stripe_bytes = loader.stripe_bytes();
    while (!bytes.empty()) {
      const std::uint64_t stripe = offset / stripe_bytes;
      const std::size_t within = offset % stripe_bytes;
      std::size_t done = std::min(bytes.size(), stripe_bytes - within);
      const std::size_t direct_min = std::max(stripe_bytes, window_bytes);
      if (within == 0 && bytes.size() >= direct_min) {
        const StripeRun run = {.first_stripe = stripe, .stripe_count = bytes.size() / stripe_bytes};
        done = run.stripe_count * stripe_bytes;
        CALPE_CHECK(loader.load(run, bytes.first(done), lost));
      } else {
        const bool rest_is_direct = bytes.size() - done >= direct_min;
        const std::uint64_t end = divide_up(offset + bytes.size(), stripe_bytes);
        CALPE_CHECK(load_window(stripe, rest_is_direct ? stripe + 1 : end, !rest_is_direct));
        if (window_lost.contains(stripe)) lost.add(stripe);
        const std::size_t from = (stripe - window.first_stripe) * stripe_bytes + within;
        std::memcpy(bytes.data(), window_content.data() + from, done);
      }
      bytes = bytes.subspan(done);
      offset += done;
    }
    return Done{};
  }

  struct BlockPlace {
    std::uint64_t shard = 0;
    std::uint64_t stripe = 0;
    bool operator==(const BlockPlace&) const = default;
  };

  // For kept originals, whose data shards are contiguous parts of the content: consecutive blocks
  // are in one shard, and whole stripes are read only where a block is bad. The next small file is
  // often in the same block.
  Status read_parts(std::span<std::byte> bytes, std::uint64_t offset, StripeRanges& lost) {
    const std::size_t block_bytes = files.header().block_bytes;
    const std::uint64_t stripes = files.header().stripe_count;
    std::vector<std::uint8_t> good;
    part_block.resize(block_bytes);
    std::set<std::uint64_t> lost_stripes;
    while (!bytes.empty()) {
      const std::uint64_t shard = offset / block_bytes / stripes;
      const std::uint64_t stripe = offset / block_bytes % stripes;
      const std::size_t within = offset % block_bytes;
      const bool is_part = within != 0 || bytes.size() < block_bytes;
      const std::uint64_t end =
          is_part ? stripe + 1
                  : std::min<std::uint64_t>(stripes, stripe + bytes.size() / block_bytes);
      const StripeRun run = files.run_from(stripe, end, window_bytes);
      const BlockPlace place = {shard, stripe};
      const bool is_known = is_part && part_place == place;
      if (is_part && !is_known) part_place.reset();
      std::byte* const target = is_part ? part_block.data() : bytes.data();
      good.assign(run.stripe_count, is_known ? 1 : 0);
      if (!is_known) files.read_any(shard, run, {target, block_bytes, good});
      for (std::size_t j = 0; j < run.stripe_count; ++j) {
        if (good[j] != 0) continue;
        CALPE_CHECK(load_window(stripe + j, stripe + j + 1, true));
        if (window_lost.contains(stripe + j)) lost_stripes.insert(stripe + j);
        const std::size_t from =
            (stripe + j - window.first_stripe) * loader.stripe_bytes() + shard * block_bytes;
        std::memcpy(target + j * block_bytes, window_content.data() + from, block_bytes);
      }
      const std::size_t done =
          is_part ? std::min(bytes.size(), block_bytes - within) : run.stripe_count * block_bytes;
      if (is_part) std::memcpy(bytes.data(), part_block.data() + within, done);
      if (is_part && !lost_stripes.contains(stripe)) part_place = place;
      bytes = bytes.subspan(done);
      offset += done;
    }
    for (const std::uint64_t stripe : lost_stripes) {
      lost.add(stripe);
    }
    return Done{};
  }

  // Where block number `block` of the content is.
  BlockPlace place_of(std::uint64_t block) const {
    const ShardHeader& header = files.header();
    if (header.kind == SetKind::originals)
      return {block / header.stripe_count, block % header.stripe_count};
    return {block % header.spec.data_shards, block / header.spec.data_shards};
  }

  // A stripe that cannot be rebuilt still has good blocks. Reads those of `lost_stripes` again, and
  // returns what no good block has, filled with zeros.
  std::vector<ContentRange> keep_good_blocks(std::span<std::byte> bytes, std::uint64_t offset,
                                             const StripeRanges& lost_stripes) const {
    const std::size_t block_bytes = files.header().block_bytes;
    const std::uint64_t end = offset + bytes.size();
    std::vector<std::byte> block(block_bytes);
    std::vector<ContentRange> lost;
    for (std::uint64_t at = offset; at < end;) {
      const std::uint64_t begin = at / block_bytes * block_bytes;
      const std::uint64_t next = std::min(begin + block_bytes, end);
      const BlockPlace place = place_of(at / block_bytes);
      if (lost_stripes.contains(place.stripe)) {
        std::uint8_t good = 0;
        if (place.stripe < files.reachable_stripes()) {
          files.read_any(place.shard, {.first_stripe = place.stripe, .stripe_count = 1},
                         {block.data(), block_bytes, std::span(&good, 1)});
        }
        const auto target = bytes.subspan(at - offset, next - at);
        if (good != 0) {
          std::memcpy(target.data(), block.data() + (at - begin), target.size());
        } else {
          std::memset(target.data(), 0, target.size());
          lost.push_back({at, next});
        }
      }
      at = next;
    }
    return merged(std::move(lost));
  }

  // True if the present shards could rebuild the others, provided that all their blocks are good.
  static bool has_enough(const OpenSet& files, const StripeCoder& coder) {
    std::vector<std::uint8_t> there(files.shard_count());
    for (const ShardCopy& copy : files.copies()) {
      if (!copy.found.is_distrusted) there[copy.index] = 1;
    }
    return coder.can_rebuild(there);
  }

  std::unique_ptr<HeldFiles> held;
  OpenSet files;  // refers to it
  StripeCoder coder;
  bool is_enough = has_enough(files, coder);
  StripeLoader loader;  // refers to the two above
  StripeRun window;
  StripeRanges window_lost;
  std::vector<std::byte> window_content;
  // The last block of which only a part was asked for; no place: none.
  std::optional<BlockPlace> part_place;
  std::vector<std::byte> part_block;
};

SetReader::SetReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
SetReader::SetReader(SetReader&&) noexcept = default;
SetReader& SetReader::operator=(SetReader&&) noexcept = default;
SetReader::~SetReader() = default;

Result<SetReader> SetReader::open(FileSystem& files, const FoundSet& set, unsigned jobs) {
  return guarded([&]() -> Result<SetReader> {
    CALPE_TRY(auto held, hold_found_set(files, set, LockKind::shared));
    CALPE_TRY(OpenSet opened, OpenSet::open(*held, set));
    CALPE_TRY(StripeCoder coder, StripeCoder::make(set.header));
    return SetReader(
        std::make_unique<Impl>(std::move(held), std::move(opened), std::move(coder), jobs));
  });
}

const ShardHeader& SetReader::header() const noexcept {
  return impl_->files.header();
}

std::uint64_t SetReader::blocks_rebuilt() const noexcept {
  return impl_->loader.blocks_rebuilt();
}

const Codec& SetReader::codec() const noexcept {
  return impl_->coder.codec();
}

Error SetReader::unrecoverable(std::span<const ContentRange> lost) const {
  std::set<std::uint64_t> in_order;
  for (const ContentRange& range : lost) {
    const std::uint64_t end = divide_up(range.end, header().block_bytes);
    for (std::uint64_t block = range.begin / header().block_bytes; block < end; ++block)
      in_order.insert(impl_->place_of(block).stripe);
  }
  StripeRanges stripes;
  for (const std::uint64_t stripe : in_order)
    stripes.add(stripe);
  return make_error(ErrorCode::unrecoverable, "too many blocks are missing or damaged in ",
                    to_text(stripes), ": fewer than ", header().spec.data_shards, " of ",
                    impl_->files.shard_count(), " are good", impl_->files.read_error_text());
}

Status SetReader::read(std::span<std::byte> bytes, std::uint64_t offset) {
  return guarded([&]() -> Status {
    CALPE_CHECK(check_enough());
    return read_present(bytes, offset);
  });
}

Status SetReader::read_present(std::span<std::byte> bytes, std::uint64_t offset) {
  std::vector<ContentRange> lost;
  CALPE_CHECK(salvage(bytes, offset, lost));
  if (lost.empty()) return Done{};
  CALPE_CHECK(check_enough());
  return unrecoverable(lost);
}

Status SetReader::salvage(std::span<std::byte> bytes, std::uint64_t offset,
                          std::vector<ContentRange>& lost) {
  return guarded([&]() -> Status {
    const std::uint64_t content_bytes = header().content_bytes;
    if (offset > content_bytes || bytes.size() > content_bytes - offset) {
      return invalid("bytes ", offset, " to ", offset + bytes.size(), " of a content of ",
                     content_bytes, " bytes");
    }
    StripeRanges lost_stripes;
    CALPE_CHECK(impl_->read(bytes, offset, lost_stripes));
    if (lost_stripes.is_empty()) return Done{};
    std::vector<ContentRange> left = impl_->keep_good_blocks(bytes, offset, lost_stripes);
    // A bad block may have the bytes of an intact file next to those of a changed one.
    if (const OriginalShards* const originals = impl_->files.originals())
      left = originals->fill_intact(bytes, offset, left);
    lost.insert(lost.end(), left.begin(), left.end());
    return Done{};
  });
}

Status SetReader::read_blocks(const StripeRun& run, Blocks& blocks) {
  return guarded([&]() -> Status {
    const std::uint64_t stripes = header().stripe_count;
    if (run.first_stripe > stripes || run.stripe_count > stripes - run.first_stripe) {
      return invalid("stripes ", run.first_stripe, " to ", run.end(), " of ", stripes);
    }
    const std::size_t block_bytes = header().block_bytes;
    const std::size_t shards = impl_->files.shard_count();
    blocks.blocks.resize(shards);
    blocks.good.resize(shards);
    std::vector<std::uint8_t> good(group_stripes);
    for (std::size_t i = 0; i < shards; ++i) {
      blocks.blocks[i].resize(run.stripe_count * block_bytes);
      blocks.good[i].assign(run.stripe_count, false);
      for (std::uint64_t stripe = run.first_stripe; stripe < run.end();) {
        const StripeRun part = impl_->files.run_from(stripe, run.end(), ~std::uint64_t{0});
        const std::size_t before = stripe - run.first_stripe;
        impl_->files.read_any(i, part,
                              {blocks.blocks[i].data() + before * block_bytes, block_bytes,
                               std::span(good).first(part.stripe_count)});
        for (std::size_t j = 0; j < part.stripe_count; ++j) {
          blocks.good[i][before + j] = good[j] != 0;
        }
        stripe = part.end();
      }
    }
    return Done{};
  });
}

Result<Manifest> SetReader::manifest() {
  return guarded([&]() -> Result<Manifest> {
    if (header().kind == SetKind::originals) return original_manifest();
    CALPE_CHECK(check_reachable(header().manifest_offset + header().manifest_bytes));
    CALPE_TRY(const std::vector<std::byte> bytes,
              read_manifest(header().manifest_bytes,
                            [&](std::span<std::byte> piece, std::uint64_t offset) {
                              return read_present(piece, header().manifest_offset + offset);
                            }));
    return parse_manifest(bytes, header().manifest_offset);
  });
}

// The manifest of kept originals is not part of the content.
Result<Manifest> SetReader::original_manifest() const {
  if (impl_->files.originals() != nullptr) return impl_->files.originals()->manifest();
  return make_error(ErrorCode::unrecoverable, "cannot read the file list",
                    impl_->files.read_error_text());
}

Status SetReader::check_enough() const {
  if (impl_->is_enough) return Done{};
  std::size_t there = 0;
  for (std::size_t i = 0; i < impl_->files.shard_count(); ++i) {
    const auto copies = impl_->files.copies_of(i);
    there += std::any_of(copies.begin(), copies.end(),
                         [](const ShardCopy& copy) { return !copy.found.is_distrusted; });
  }
  return make_error(ErrorCode::unrecoverable, "too few shards are present: ", there, " of ",
                    impl_->files.shard_count(), "; expected at least ", header().spec.data_shards,
                    impl_->files.read_error_text());
}

// Refuses the manifest before allocating memory if the files are too short to contain it.
Status SetReader::check_reachable(std::uint64_t end) const {
  const std::uint64_t stripes = impl_->files.reachable_stripes();
  if (end <= stripes * impl_->loader.stripe_bytes()) return Done{};
  return make_error(ErrorCode::unrecoverable, "no shard has a block after stripe ", stripes,
                    "; expected ", header().stripe_count, " stripes");
}

}  // namespace calpe::store
