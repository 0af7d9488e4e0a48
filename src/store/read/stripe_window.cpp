// SPDX-License-Identifier: Apache-2.0
#include "store/read/stripe_window.hpp"

#include <algorithm>
#include <cstring>

#include "base/try.hpp"

namespace calpe::store {

namespace {

// Memory for all slots together. More does not make it faster.
constexpr std::uint64_t memory_bytes = 1U << 25U;

}  // namespace

StripeWindow::StripeWindow(const OpenSet& files, ThreadPool* helpers, bool with_missing)
    : files_(files), helpers_(helpers), with_missing_(with_missing) {
  for (std::size_t index = 0; index < files.shard_count(); ++index) {
    first_slot_.push_back(slots_.size());
    for (const ShardCopy& copy : files.copies_of(index)) {
      slots_.push_back({.index = copy.index, .copy = &copy});
    }
    if (files.copies_of(index).empty()) slots_.push_back({.index = static_cast<ShardIndex>(index)});
  }
  first_slot_.push_back(slots_.size());
  blocks_.resize(slots_.size());
  good_.resize(slots_.size());
}

StripeRun StripeWindow::next_run(std::uint64_t first, std::uint64_t end) const noexcept {
  return files_.run_from(first, end, memory_bytes / slots_.size());
}

void StripeWindow::read(const StripeRun& run) {
  run_ = run;
  const std::size_t block_bytes = files_.geometry().block_bytes;
  // Allocate before the threads start, where a failure can be reported.
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    good_[slot].assign(run.stripe_count, 0);
    if (slots_[slot].copy != nullptr || with_missing_) {
      blocks_[slot].resize(run.stripe_count * block_bytes);
    }
  }
  if (files_.files().reads_together()) return read_together(run);
  run_parts(slots_.size(), [&](std::size_t slot) {
    if (slots_[slot].copy == nullptr) return;
    files_.read(*slots_[slot].copy, run, {blocks_[slot].data(), block_bytes, good_[slot]});
  });
}

// Reads everything at once and checks it. Slots that were not read completely are read again block
// by block.
void StripeWindow::read_together(const StripeRun& run) {
  const Geometry& geometry = files_.geometry();
  checksums_.resize(slots_.size() * group_stripes);
  reads_.clear();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].copy == nullptr) continue;
    File* const file = slots_[slot].copy->file.get();
    const auto checksums = std::span(checksums_).subspan(slot * group_stripes, run.stripe_count);
    reads_.push_back({file, blocks_[slot], geometry.block_offset(run.first_stripe)});
    reads_.push_back(
        {file, std::as_writable_bytes(checksums), geometry.checksum_offset(run.first_stripe)});
  }
  files_.files().read_all(reads_);
  std::vector<std::size_t> first_read(slots_.size());
  for (std::size_t slot = 0, next = 0; slot < slots_.size(); ++slot) {
    first_read[slot] = next;
    next += slots_[slot].copy != nullptr ? 2 : 0;
  }
  run_parts(slots_.size(), [&](std::size_t slot) {
    if (slots_[slot].copy == nullptr) return;
    const BlockTarget target = {blocks_[slot].data(), geometry.block_bytes, good_[slot]};
    const auto is_whole = [](const Read& read) { return read.got == read.bytes.size(); };
    const auto reads = std::span(reads_).subspan(first_read[slot], 2);
    if (std::all_of(reads.begin(), reads.end(), is_whole)) {
      files_.judge(*slots_[slot].copy, run, target,
                   std::span(checksums_).subspan(slot * group_stripes, run.stripe_count));
    }
    const bool is_good = std::all_of(good_[slot].begin(), good_[slot].end(),
                                     [](std::uint8_t good) { return good != 0; });
    if (!is_good) files_.read(*slots_[slot].copy, run, target);
  });
}

StripeBlocks StripeWindow::stripe(std::size_t j, std::vector<Shard>& shards,
                                  std::vector<std::uint8_t>& good) {
  const std::size_t block_bytes = files_.geometry().block_bytes;
  shards.resize(files_.shard_count());
  good.resize(files_.shard_count());
  for (std::size_t index = 0; index < files_.shard_count(); ++index) {
    std::size_t chosen = first_slot_[index];
    for (std::size_t slot = chosen; slot < first_slot_[index + 1]; ++slot) {
      if (is_good(slot, j)) chosen = slot;
    }
    good[index] = good_[chosen][j];
    shards[index] = blocks_[chosen].empty()
                        ? Shard()
                        : Shard(blocks_[chosen].data() + j * block_bytes, block_bytes);
  }
  return {shards, good};
}

bool StripeWindow::has_good(std::size_t index, std::size_t j) const {
  for (std::size_t slot = first_slot_[index]; slot < first_slot_[index + 1]; ++slot) {
    if (is_good(slot, j)) return true;
  }
  return false;
}

Result<Rebuilt> StripeWindow::complete(const StripeCoder& coder, std::size_t j) {
  std::vector<Shard> shards;
  std::vector<std::uint8_t> good;
  const StripeBlocks blocks = stripe(j, shards, good);
  std::vector<ShardIndex> wanted;
  for (std::size_t index = 0; index < good.size(); ++index) {
    if (good[index] == 0) wanted.push_back(static_cast<ShardIndex>(index));
  }
  Rebuilt outcome = Rebuilt::done;
  if (!wanted.empty()) {
    CALPE_TRY(outcome, coder.rebuild(blocks, wanted));
    if (outcome == Rebuilt::contradicting) return outcome;
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const Shard source = shards[slots_[slot].index];
    std::byte* const own = blocks_[slot].data() + j * source.size();
    if (own != source.data()) std::memcpy(own, source.data(), source.size());
  }
  return outcome;
}

}  // namespace calpe::store
