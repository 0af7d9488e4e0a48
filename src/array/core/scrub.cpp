// SPDX-License-Identifier: Apache-2.0
#include "array/core/scrub.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "array/state/part_plan.hpp"
#include "array/state/stripe_range.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

bool is_whole_column(const StripeBuffer& buffer, unsigned shards, std::uint32_t column) {
  for (unsigned shard = 0; shard < shards; ++shard) {
    if (buffer.states[buffer.at(shard, column)] != BlockState::good) return false;
  }
  return true;
}

}  // namespace

Scrub::Scrub(SharedState& shared, Log& log, StripeLoader& loader)
    : settings_(shared.settings),
      layout_(shared.layout),
      codec_(shared.codec),
      roster_(shared.roster),
      stock_(shared.stock),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader),
      tables_(shared, log) {}

// Blocks that match their checksums must also be consistent: parity must match the data.
Status Scrub::compare_parity(StripeBuffer& buffer, ScrubProgress& progress) {
  const BufferStock::Lease computed = stock_.take();
  const std::size_t data_bytes = layout_.stripe_bytes();
  std::memcpy(computed->bytes.data(), buffer.bytes.data(), data_bytes);
  CALPE_CHECK(encode_columns(codec_, *computed, 0, layout_.columns));
  for (std::uint32_t column = 0; column < layout_.columns; ++column) {
    if (!is_whole_column(buffer, layout_.data, column)) continue;
    for (unsigned shard = layout_.data; shard < layout_.roles(); ++shard) {
      if (buffer.states[buffer.at(shard, column)] != BlockState::good) continue;
      if (std::memcmp(buffer.block(shard, column).data(), computed->block(shard, column).data(),
                      block_bytes) != 0) {
        ++progress.columns_contradicting;
        break;
      }
    }
  }
  return Done{};
}

Status Scrub::scrub_stripe(std::uint64_t stripe, ScrubProgress& progress, CountByRole& rewritten) {
  const std::unique_lock lock(stripes_.lock_of(stripe));
  const StripeAt at = stripes_.at(stripe);
  if (at.slot == no_slot) return Done{};
  const std::uint64_t having = roster_.having(stripe);
  const BufferStock::Lease buffer = stock_.take();
  std::memset(buffer->bytes.data(), 0, buffer->bytes.size());
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    if ((having >> layout_.role_of(shard, stripe) & 1U) == 0) continue;
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      buffer->needs[buffer->at(shard, column)] = 1;
    }
    progress.blocks_checked += layout_.columns;
  }
  Status loaded = loader_.load(at, *buffer);
  if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
  for (std::uint32_t column = 0; column < layout_.columns; ++column) {
    bool is_lost = false;
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      const std::size_t i = buffer->at(shard, column);
      const unsigned role = layout_.role_of(shard, stripe);
      const bool is_decoded = buffer->needs[i] == needs_rewrite || buffer->needs[i] == is_rewritten;
      const bool is_wrong = buffer->states[i] == BlockState::wrong;
      if (is_decoded || is_wrong) ++progress.blocks_wrong[role];
      if (buffer->needs[i] == is_rewritten) ++rewritten[role];
      is_lost = is_lost || is_wrong;
    }
    if (is_lost) ++progress.columns_lost;
  }
  return compare_parity(*buffer, progress);
}

Result<ScrubProgress> Scrub::step(std::uint64_t position, std::uint64_t bytes) {
  CALPE_CHECK(check_range(settings_, position, 0));
  ScrubProgress progress;
  progress.blocks_wrong.resize(layout_.roles());
  const std::uint64_t first = position / layout_.stripe_bytes();
  const std::uint64_t count = std::max<std::uint64_t>(1, bytes / layout_.stripe_bytes());
  const std::uint64_t end = std::min(layout_.stripes, first + count);
  CountByRole rewritten = {};
  for (std::uint64_t stripe = first; stripe < end; ++stripe) {
    CALPE_CHECK(scrub_stripe(stripe, progress, rewritten));
  }
  CALPE_CHECK(harden(rewritten, progress));
  CALPE_CHECK(tables_.step(first, end, progress));
  // The log is not scrubbed: a checkpoint makes its contents durable in place.
  if (end == layout_.stripes) CALPE_CHECK(log_.checkpoint());
  progress.next = std::min(settings_.bytes, end * layout_.stripe_bytes());
  return progress;
}

// A repair counts if it survives a power loss, and not on a member that went out.
Status Scrub::harden(const CountByRole& rewritten, ScrubProgress& progress) {
  if (std::all_of(rewritten.begin(), rewritten.end(), [](auto blocks) { return blocks == 0; })) {
    return Done{};
  }
  if (const Status committed = log_.commit(); !committed) {
    return make_error(committed.error().code,
                      "cannot flush repaired blocks: ", committed.error().message);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.is_live(role)) progress.blocks_repaired += rewritten[role];
  }
  return Done{};
}

}  // namespace calpe::array
