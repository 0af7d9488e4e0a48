// SPDX-License-Identifier: Apache-2.0
#include "store/read/open_set.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/all_zero.hpp"
#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/journal_overlay.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/root_hash.hpp"

namespace calpe::store {

namespace {

// Blocks of at least this size are read directly to their destination, smaller ones in batches.
constexpr std::size_t direct_block_bytes = 1U << 14U;
// Read size when all blocks of a group are read only for hashing.
constexpr std::uint64_t leaf_read_bytes = 1U << 20U;

std::uint64_t stripes_within(const FoundShard& shard, const Geometry& geometry) {
  const std::uint64_t taken_out = shard.shift < 0 ? static_cast<std::uint64_t>(-shard.shift) : 0;
  return std::min(geometry.stripe_count, (shard.file_bytes + taken_out) / geometry.block_bytes);
}

}  // namespace

Result<OpenSet> OpenSet::open(FileSystem& files, const FoundSet& set, MovedBytes moved) {
  OpenSet opened;
  opened.files_ = &files;
  opened.header_ = set.header;
  opened.geometry_ = geometry_of(set.header);
  opened.proven_ = set.proven;
  if (set.header.kind == SetKind::originals) CALPE_CHECK(opened.open_originals(files, set, moved));
  for (std::size_t index = 0; index < set.shards.size(); ++index) {
    opened.first_copy_.push_back(opened.copies_.size());
    const bool is_shown = opened.originals_ && !set.original.empty();
    if (is_shown && index < set.header.spec.data_shards) {
      const auto shard = static_cast<ShardIndex>(index);
      const FoundShard found = {.path = set.original,
                                .file_bytes = shard_file_bytes(set.header),
                                .front_header_good = true,
                                .back_header_good = true};
      opened.copies_.push_back({shard, found, opened.originals_->shard(shard)});
      if (opened.originals_->has_moved())
        opened.copies_.push_back({shard, found, opened.originals_->moved_shard(shard)});
    }
    for (const FoundShard& found : set.shards[index]) {
      CALPE_TRY(std::unique_ptr<File> file, open_shard(files, found));
      opened.reachable_stripes_ =
          std::max(opened.reachable_stripes_, stripes_within(found, opened.geometry_));
      const DataRange data = file->data_from(0);
      opened.has_holes_ = opened.has_holes_ || data.begin != 0 || data.end < found.file_bytes;
      opened.copies_.push_back({static_cast<ShardIndex>(index), found, std::move(file)});
    }
  }
  opened.first_copy_.push_back(opened.copies_.size());
  return opened;
}

// If the file list is missing, so is the data; this counts as damage.
Status OpenSet::open_originals(FileSystem& files, const FoundSet& set, MovedBytes moved) {
  Result<std::shared_ptr<OriginalShards>> opened = OriginalShards::open(files, set, moved);
  if (opened) {
    originals_ = *std::move(opened);
  } else if (opened.error().code == ErrorCode::unrecoverable) {
    note(opened.error());
  } else {
    return opened.error();
  }
  return Done{};
}

std::span<const ShardCopy> OpenSet::copies_of(std::size_t index) const noexcept {
  return copies().subspan(first_copy_[index], first_copy_[index + 1] - first_copy_[index]);
}

// Returns the first group at or after `group` whose checksum pages are not entirely holes. A page
// in a hole has no good block, as a checksum is 0 only with probability 2^-64.
std::uint64_t OpenSet::next_group_of(const ShardCopy& copy, std::uint64_t group,
                                     std::int64_t shift) const {
  const std::uint64_t groups = divide_up(geometry_.stripe_count, group_stripes);
  const std::uint64_t group_bytes = geometry_.group_offset(1) - geometry_.group_offset(0);
  const std::uint64_t pages_bytes = geometry_.page_count * page_bytes;
  if (shift < 0) group = std::max(group, static_cast<std::uint64_t>(-shift) / group_bytes);
  while (group < groups) {
    // Both are below 2^63, so an offset before the start of the file wraps to beyond any file.
    const std::uint64_t pages =
        geometry_.checksum_offset(group * group_stripes) + static_cast<std::uint64_t>(shift);
    if (pages >> 63U != 0) {
      ++group;
      continue;
    }
    const std::uint64_t data = copy.file->data_from(pages).begin;
    if (data == no_more_data) break;
    if (data < pages + pages_bytes) return group;
    // Skip to the group with this data, which may be only blocks.
    const std::uint64_t from = data - static_cast<std::uint64_t>(shift) - header_bytes;
    group = std::max(group + 1, from / group_bytes);
  }
  return groups;
}

std::uint64_t OpenSet::next_stripe(std::uint64_t first) const noexcept {
  if (!has_holes_ || first >= reachable_stripes_) return first;
  const std::uint64_t group = first / group_stripes;
  std::uint64_t nearest = divide_up(geometry_.stripe_count, group_stripes);
  for (const ShardCopy& copy : copies_) {
    if (is_original(copy) || copy.found.is_distrusted) continue;
    nearest = std::min(nearest, next_group_of(copy, group, 0));
    if (copy.found.shift != 0) {
      nearest = std::min(nearest, next_group_of(copy, group, copy.found.shift));
    }
    if (nearest == group) return first;
  }
  return std::min(nearest * group_stripes, reachable_stripes_);
}

StripeRun OpenSet::run_from(std::uint64_t first, std::uint64_t end,
                            std::uint64_t bytes) const noexcept {
  const std::uint64_t fitting = std::max<std::uint64_t>(1, bytes / geometry_.block_bytes);
  const std::uint64_t in_group = group_stripes - first % group_stripes;
  return {.first_stripe = first, .stripe_count = std::min({end - first, in_group, fitting})};
}

void OpenSet::note(const Error& error) const {
  const std::scoped_lock lock(noted_->mutex);
  if (noted_->first_error.empty()) noted_->first_error = error.message;
}

std::string OpenSet::read_error_text() const {
  const std::scoped_lock lock(noted_->mutex);
  return noted_->first_error.empty() ? "" : "; " + noted_->first_error;
}

std::string OpenSet::read_error_of(const ShardCopy& copy) const {
  const std::scoped_lock lock(noted_->mutex);
  const auto found = noted_->by_copy.find(&copy);
  return found == noted_->by_copy.end() ? "" : found->second;
}

void OpenSet::drop_cached(const StripeRun& run) const {
  const std::uint64_t begin = geometry_.block_offset(run.first_stripe);
  for (const ShardCopy& copy : copies_) {
    if (is_original(copy)) continue;
    copy.file->drop_cached(begin, run.stripe_count * geometry_.block_bytes);
    copy.file->drop_cached(geometry_.checksum_offset(run.first_stripe), page_bytes);
  }
}

// Returns how many of `bytes` could be read: none on errors or before the start of the file.
std::size_t OpenSet::read_what_is_there(const ShardCopy& copy, std::span<std::byte> bytes,
                                        std::uint64_t offset, std::int64_t shift) const {
  const std::int64_t at = static_cast<std::int64_t>(offset) + shift;
  if (at < 0) return 0;
  const Result<std::size_t> got = copy.file->read_at(bytes, static_cast<std::uint64_t>(at));
  if (got) return *got;
  note(got.error());
  const std::scoped_lock lock(noted_->mutex);
  noted_->by_copy.try_emplace(&copy, got.error().message);
  return 0;
}

// Reads adjacent blocks. there[j] tells whether block j could be read. A bad sector must not affect
// neighbouring blocks.
void OpenSet::read_consecutive(const ShardCopy& copy, std::span<std::byte> bytes,
                               std::uint64_t offset, std::int64_t shift,
                               std::span<std::uint8_t> there) const {
  const std::size_t block_bytes = geometry_.block_bytes;
  const std::size_t got = read_what_is_there(copy, bytes, offset, shift);
  std::fill_n(there.begin(), got / block_bytes, std::uint8_t{1});
  if (got > 0) return;
  for (std::size_t j = 0; j < there.size(); ++j) {
    const auto block = bytes.subspan(j * block_bytes, block_bytes);
    there[j] = read_what_is_there(copy, block, offset + j * block_bytes, shift) == block_bytes;
  }
}

void OpenSet::read_blocks(const ShardCopy& copy, const StripeRun& run, std::int64_t shift,
                          const BlockTarget& target, std::span<std::uint8_t> there) const {
  const std::size_t block_bytes = geometry_.block_bytes;
  const std::uint64_t offset = geometry_.block_offset(run.first_stripe);
  const std::size_t count = run.stripe_count;
  if (target.stride == block_bytes) {
    return read_consecutive(copy, {target.blocks, count * block_bytes}, offset, shift, there);
  }
  if (block_bytes >= direct_block_bytes) {
    for (std::size_t j = 0; j < count; ++j) {
      const std::span<std::byte> block(target.blocks + j * target.stride, block_bytes);
      there[j] = read_what_is_there(copy, block, offset + j * block_bytes, shift) == block_bytes;
    }
    return;
  }
  std::vector<std::byte> together(count * block_bytes);
  read_consecutive(copy, together, offset, shift, there);
  for (std::size_t j = 0; j < count; ++j) {
    std::memcpy(target.blocks + j * target.stride, together.data() + j * block_bytes, block_bytes);
  }
}

void OpenSet::read_shifted(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
                           const Shifts& shifts) const {
  std::array<LittleU64, group_stripes> checksums;
  std::array<std::uint8_t, group_stripes> there = {};
  const std::size_t count = run.stripe_count;
  const std::size_t checksums_read =
      read_what_is_there(copy, std::as_writable_bytes(std::span(checksums).first(count)),
                         geometry_.checksum_offset(run.first_stripe), shifts.checksum) /
      sizeof(LittleU64);
  if (checksums_read == 0) return;
  read_blocks(copy, run, shifts.block, target, std::span(there).first(count));
  const std::size_t judged = std::min(count, checksums_read);
  judge_checksums(copy, {run.first_stripe, judged}, target, std::span(checksums).first(judged));
  for (std::size_t j = 0; j < judged; ++j) {
    if (there[j] == 0) target.good[j] = 0;
  }
}

void OpenSet::judge(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target,
                    std::span<const LittleU64> checksums) const {
  judge_checksums(copy, run, target, checksums);
  drop_unproven(copy, run, target);
}

void OpenSet::judge_checksums(const ShardCopy& copy, const StripeRun& run,
                              const BlockTarget& target,
                              std::span<const LittleU64> checksums) const {
  for (std::size_t j = 0; j < run.stripe_count; ++j) {
    const BlockName name = {.uuid = header_.uuid,
                            .generation = header_.generation,
                            .stripe = run.first_stripe + j,
                            .shard = copy.index};
    const std::span<const std::byte> block(target.blocks + j * target.stride,
                                           geometry_.block_bytes);
    target.good[j] = block_checksum(name, block) == checksums[j];
  }
}

// Reads the current leaves of a group from the file, in pieces.
std::optional<ProvenBlocks::Leaves> OpenSet::read_leaves(const ShardCopy& copy,
                                                         std::uint64_t group) const {
  const std::size_t block_bytes = geometry_.block_bytes;
  const std::uint64_t first = group * group_stripes;
  const std::uint64_t end = first + geometry_.stripes_in_group(group);
  std::vector<std::byte> blocks;
  std::array<std::uint8_t, group_stripes> good = {};
  ProvenBlocks::Leaves leaves;
  Sha256 hash;
  for (std::uint64_t stripe = first; stripe < end;) {
    const StripeRun run = run_from(stripe, end, leaf_read_bytes);
    blocks.resize(run.stripe_count * block_bytes);
    const auto verdicts = std::span(good).first(run.stripe_count);
    read_unproven(copy, run, {blocks.data(), block_bytes, verdicts});
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      const Result<Digest> leaf =
          leaf_digest(hash, std::span(blocks).subspan(j * block_bytes, block_bytes));
      if (verdicts[j] == 0 || !leaf) return std::nullopt;
      leaves.push_back(*leaf);
    }
    stripe = run.end();
  }
  return leaves;
}

void OpenSet::drop_unproven(const ShardCopy& copy, const StripeRun& run,
                            const BlockTarget& target) const {
  if (!proven_) return;
  const auto number = static_cast<std::size_t>(&copy - copies_.data());
  for (std::size_t j = 0; j < run.stripe_count; ++j) {
    if (target.good[j] == 0) continue;
    const std::span<const std::byte> block(target.blocks + j * target.stride,
                                           geometry_.block_bytes);
    target.good[j] =
        proven_->is_proven(number, run.first_stripe + j, block,
                           [&](std::uint64_t group) { return read_leaves(copy, group); });
  }
}

void OpenSet::read(const ShardCopy& copy, const StripeRun& run, const BlockTarget& target) const {
  read_unproven(copy, run, target);
  drop_unproven(copy, run, target);
}

void OpenSet::read_unproven(const ShardCopy& copy, const StripeRun& run,
                            const BlockTarget& target) const {
  std::fill(target.good.begin(), target.good.end(), std::uint8_t{0});
  if (copy.found.is_distrusted) return;
  read_shifted(copy, run, target, {});
  const std::int64_t shift = copy.found.shift;
  if (shift == 0) return;
  // Bytes may have been inserted or removed before the block and its checksum, or between them.
  for (const Shifts& shifts : {Shifts{0, shift}, Shifts{shift, shift}}) {
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      if (target.good[j] != 0) continue;
      read_shifted(copy, {run.first_stripe + j, 1},
                   {target.blocks + j * target.stride, target.stride, target.good.subspan(j, 1)},
                   shifts);
    }
  }
}

void OpenSet::read_any(std::size_t index, const StripeRun& run, const BlockTarget& target) const {
  const auto copies = copies_of(index);
  std::fill(target.good.begin(), target.good.end(), std::uint8_t{0});
  if (copies.empty()) return;
  read(copies.front(), run, target);
  for (const ShardCopy& copy : copies.subspan(1)) {
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      if (target.good[j] != 0) continue;
      read(copy, {run.first_stripe + j, 1},
           {target.blocks + j * target.stride, target.stride, target.good.subspan(j, 1)});
    }
  }
}

bool OpenSet::is_padding_good(const ShardCopy& copy) const {
  if (is_original(copy)) return true;
  if (header_.kind == SetKind::originals)
    return originals_ && originals_->is_rest_good(copy.found, *copy.file);
  const std::uint64_t used = geometry_.stripe_count % group_stripes * sizeof(std::uint64_t);
  if (used == 0) return true;
  std::array<std::byte, page_bytes> page = {};
  const std::span<std::byte> padding = std::span(page).subspan(used);
  return read_what_is_there(copy, padding, geometry_.body_end() - padding.size(), 0) ==
             padding.size() &&
         is_all_zero(padding);
}

}  // namespace calpe::store
