// SPDX-License-Identifier: Apache-2.0
#include "array/core/scrub.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

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

bool is_any(const CountByRole& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [](auto count) { return count != 0; });
}

Error not_flushed(const Error& cause) {
  return make_error(cause.code, "cannot flush repaired blocks: ", cause.message);
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
      tables_(shared, log),
      sweep_(shared, loader) {}

// --- one stripe ---

// Blocks that match their checksums must also be consistent: parity must match the data.
Result<std::uint64_t> Scrub::contradicting_columns(StripeBuffer& buffer) {
  const BufferStock::Lease computed = stock_.take();
  const std::size_t data_bytes = layout_.stripe_bytes();
  std::memcpy(computed->bytes.data(), buffer.bytes.data(), data_bytes);
  CALPE_CHECK(encode_columns(codec_, *computed, 0, layout_.columns));
  std::uint64_t columns = 0;
  for (std::uint32_t column = 0; column < layout_.columns; ++column) {
    if (!is_whole_column(buffer, layout_.data, column)) continue;
    for (unsigned shard = layout_.data; shard < layout_.roles(); ++shard) {
      if (buffer.states[buffer.at(shard, column)] != BlockState::good) continue;
      if (std::memcmp(buffer.block(shard, column).data(), computed->block(shard, column).data(),
                      block_bytes) != 0) {
        ++columns;
        break;
      }
    }
  }
  return columns;
}

bool Scrub::want(SweptStripe& one) {
  tables_.add(one.at.slot);
  const std::uint64_t having = roster_.having(one.at.stripe);
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    if ((having >> layout_.role_of(shard, one.at.stripe) & 1U) == 0) continue;
    const std::size_t first = one.buffer->at(shard, 0);
    std::fill_n(one.buffer->needs.begin() + static_cast<std::ptrdiff_t>(first), layout_.columns,
                needs_block);
  }
  return having != 0;
}

// A member that just went out may have missed a commit.
bool Scrub::compute(SweptStripe& one) {
  if ((one.load.having & ~roster_.having(one.at.stripe)) != 0) return false;
  const Result<std::uint64_t> wrong = contradicting_columns(*one.buffer);
  if (!wrong || *wrong != 0) return false;
  progress_.blocks_checked +=
      static_cast<std::uint64_t>(std::popcount(one.load.having)) * layout_.columns;
  return true;
}

Status Scrub::do_alone(std::uint64_t stripe) {
  const std::unique_lock lock(stripes_.lock_of(stripe));
  SweptStripe one{.at = stripes_.at(stripe), .buffer = stock_.take()};
  if (one.at.slot == no_slot) return Done{};
  const BufferStock::Lease& buffer = one.buffer;
  std::memset(buffer->bytes.data(), 0, buffer->bytes.size());
  if (!want(one)) return Done{};
  progress_.blocks_checked +=
      static_cast<std::uint64_t>(std::popcount(roster_.having(stripe))) * layout_.columns;
  Status loaded = loader_.load(one.at, *buffer);
  if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
  for (std::uint32_t column = 0; column < layout_.columns; ++column) {
    bool is_lost = false;
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      const std::size_t i = buffer->at(shard, column);
      const unsigned role = layout_.role_of(shard, stripe);
      const bool is_decoded = buffer->needs[i] == needs_rewrite || buffer->needs[i] == is_rewritten;
      const bool is_wrong = buffer->states[i] == BlockState::wrong;
      if (is_decoded || is_wrong) ++progress_.blocks_wrong[role];
      if (buffer->needs[i] == is_rewritten) ++rewritten_[role];
      is_lost = is_lost || is_wrong;
    }
    if (is_lost) ++progress_.columns_lost;
  }
  CALPE_TRY(const std::uint64_t contradicting, contradicting_columns(*buffer));
  progress_.columns_contradicting += contradicting;
  return Done{};
}

// --- a step ---

// A commit may fail on the way, if the repairs so far fill a batch.
Status Scrub::sweep_to(std::uint64_t end_slot, std::uint64_t bytes) {
  Status swept = [&]() -> Status {
    while (sweep_.slot() < end_slot) {
      CALPE_TRY([[maybe_unused]] const std::uint64_t stripes,
                sweep_.advance(end_slot, bytes, *this));
    }
    return sweep_.drain(*this);
  }();
  if (!swept && roster_.is_failed() && is_any(rewritten_)) return not_flushed(swept.error());
  return swept;
}

// Positions are bytes of the array, as far as the caller is concerned; each stands for a slot.
Result<ScrubProgress> Scrub::step(std::uint64_t position, std::uint64_t bytes) {
  CALPE_CHECK(check_range(settings_, position, 0));
  const std::lock_guard one_at_a_time(mutex_);
  progress_ = {};
  progress_.blocks_wrong.resize(layout_.roles());
  rewritten_ = {};
  const auto slot_of = [&](std::uint64_t stripe) {
    return stripe * layout_.slots / layout_.stripes;
  };
  const std::uint64_t first = position / layout_.stripe_bytes();
  const std::uint64_t count = std::max<std::uint64_t>(1, bytes / layout_.stripe_bytes());
  const std::uint64_t end = std::min(layout_.stripes, first + count);
  if (first == 0 || slot_of(first) != sweep_.slot()) {
    sweep_.restart(slot_of(first));
    tables_.restart(slot_of(first));
  }
  CALPE_CHECK(sweep_to(slot_of(end), bytes));
  CALPE_CHECK(harden(rewritten_, progress_));
  CALPE_CHECK(tables_.step(slot_of(end), progress_));
  // The log is not scrubbed: a checkpoint makes its contents durable in place.
  if (end == layout_.stripes) CALPE_CHECK(log_.checkpoint());
  progress_.next = std::min(settings_.bytes, end * layout_.stripe_bytes());
  return progress_;
}

// A repair counts if it survives a power loss, and not on a member that went out.
Status Scrub::harden(const CountByRole& rewritten, ScrubProgress& progress) {
  if (!is_any(rewritten)) return Done{};
  if (const Status committed = log_.commit(); !committed) return not_flushed(committed.error());
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.is_live(role)) progress.blocks_repaired += rewritten[role];
  }
  return Done{};
}

}  // namespace calpe::array
