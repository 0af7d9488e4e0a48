// SPDX-License-Identifier: Apache-2.0
// Writes. Whole stripes go to a free slot at once and need only a record in the log; parts of a
// stripe become blocks of the pending batch, with the parity that they make.
#include <algorithm>
#include <cstring>

#include "array/core/array_core.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

Status Core::take_slot(std::uint32_t& slot) {
  slot = free_slots_.take();
  for (int attempt = 0; slot == no_slot && attempt < 100; ++attempt) {
    CALPE_CHECK(commit());  // what it replaces becomes free
    slot = free_slots_.take();
  }
  return Done{};
}

Status Core::write_whole(std::uint64_t stripe, std::span<const std::byte> bytes, bool& is_done) {
  const auto pass = gate_.pass();
  const std::unique_lock lock(lock_of(stripe));
  std::uint32_t slot = no_slot;
  CALPE_CHECK(take_slot(slot));
  is_done = slot != no_slot;
  if (!is_done) return Done{};  // others have them all; it can go through the log
  const BufferStock::Lease buffer = stock_.take();
  std::memcpy(buffer->bytes.data(), bytes.data(), bytes.size());
  Status encoded = encode_columns(codec_, *buffer, 0, layout_.columns);
  if (!encoded) {
    free_slots_.give(slot);
    return encoded;
  }
  std::uint64_t roles = roster_.having(stripe);
  buffer->requests.clear();
  std::size_t used = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((roles >> role & 1U) == 0) continue;
    const unsigned shard = layout_.shard_of(role, stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const BlockPlace place{role, stripe, slot, column};
      buffer->checks[used++] = check_.of(place, buffer->block(shard, column));
    }
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = layout_.block_at(slot, 0);
    request.bytes = buffer->blocks(shard, 0, layout_.columns);
    request.is_past_cache = true;
    buffer->requests.push_back(request);
  }
  roster_.run(buffer->requests);  // who fails is out, and keeps its bit: nobody asks it again
  while (!roster_.is_failed()) {
    {
      const std::lock_guard overlay(overlay_mutex_);
      if (pending_->fits(RecordKind::whole, roles)) {
        pending_->put_slot(RecordKind::whole, stripe, slot, roles,
                           std::span(buffer->checks).first(used));
        pending_->set_needs_flush();
        has_overlay_.store(true, std::memory_order_release);
        slots_[stripe] = slot;
        return Done{};
      }
    }
    const Status committed = commit();
    if (!committed) break;
  }
  free_slots_.give(slot);
  return failed();
}

Status Core::put_part(const PartPlan& plan, const StripeAt& at, StripeBuffer& now,
                      bool is_new_slot) {
  const std::uint64_t roles = roster_.having(at.stripe);
  while (!roster_.is_failed()) {
    {
      const std::lock_guard overlay(overlay_mutex_);
      if (pending_->fits_columns(plan.end_column - plan.first_column)) {
        if (is_new_slot) pending_->put_slot(RecordKind::zeros, at.stripe, at.slot, 0, {});
        for (std::uint32_t column = plan.first_column; column < plan.end_column; ++column) {
          const std::uint64_t shards = plan.columns[column].changed;
          for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
            const unsigned role = layout_.role_of(shard, at.stripe);
            if ((shards >> shard & 1U) == 0 || (roles >> role & 1U) == 0) continue;
            const std::uint64_t check = now.checks[now.at(shard, column)];
            const std::span<std::byte> to =
                pending_->put_block(at.stripe, at.slot, column, role, check);
            std::memcpy(to.data(), now.block(shard, column).data(), block_bytes);
          }
        }
        has_overlay_.store(true, std::memory_order_release);
        slots_[at.stripe] = at.slot;
        return Done{};
      }
    }
    CALPE_CHECK(commit());
  }
  return failed();
}

Status Core::write_part(const StripePart& part, const std::byte* bytes) {
  const auto pass = gate_.pass();
  const std::unique_lock lock(lock_of(part.stripe));
  StripeAt at{part.stripe, slots_[part.stripe]};
  const bool is_new_slot = at.slot == no_slot;
  if (is_new_slot) {
    CALPE_CHECK(take_slot(at.slot));
    if (at.slot == no_slot) return make_error(ErrorCode::io, "no slot became free");
  }
  const std::uint64_t having = shards_of_roles(part.stripe, roster_.having(part.stripe));
  const BufferStock::Lease old = stock_.take();
  const BufferStock::Lease now = stock_.take();
  const PartPlan plan = plan_part(layout_, {part.begin, part.bytes, bytes}, having);
  const auto work = [&]() -> Status {
    if (is_new_slot) {
      fill_zeros(plan, *old);
    } else {
      set_needs(plan, *old);
      CALPE_CHECK(load(at, *old));
    }
    CALPE_CHECK(compute_part(codec_, plan, *old, *now));
    for (std::uint32_t column = plan.first_column; column < plan.end_column; ++column) {
      for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
        if ((plan.columns[column].changed >> shard & 1U) == 0) continue;
        const BlockPlace place{layout_.role_of(shard, at.stripe), at.stripe, at.slot, column};
        now->checks[now->at(shard, column)] = check_.of(place, now->block(shard, column));
      }
    }
    return put_part(plan, at, *now, is_new_slot);
  };
  Status done = work();
  if (!done && is_new_slot) free_slots_.give(at.slot);
  return done;
}

Status Core::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  CALPE_CHECK(check_range(offset, bytes.size()));
  while (!bytes.empty()) {
    if (roster_.is_failed()) return failed();
    StripePart part;
    part.stripe = offset / layout_.stripe_bytes();
    part.begin = offset % layout_.stripe_bytes();
    part.bytes = std::min<std::uint64_t>(bytes.size(), layout_.stripe_bytes() - part.begin);
    bool is_done = false;
    if (part.bytes == layout_.stripe_bytes()) {
      CALPE_CHECK(write_whole(part.stripe, bytes.first(part.bytes), is_done));
    }
    if (!is_done) CALPE_CHECK(write_part(part, bytes.data()));
    offset += part.bytes;
    bytes = bytes.subspan(part.bytes);
  }
  return Done{};
}

Status Core::make_hole(std::uint64_t stripe) {
  const auto pass = gate_.pass();
  const std::unique_lock lock(lock_of(stripe));
  if (slots_[stripe] == no_slot) return Done{};
  while (!roster_.is_failed()) {
    {
      const std::lock_guard overlay(overlay_mutex_);
      if (pending_->fits(RecordKind::hole, 0)) {
        pending_->put_slot(RecordKind::hole, stripe, no_slot, 0, {});
        has_overlay_.store(true, std::memory_order_release);
        slots_[stripe] = no_slot;
        return Done{};
      }
    }
    CALPE_CHECK(commit());
  }
  return failed();
}

Status Core::zero(std::uint64_t offset, std::uint64_t length, bool is_trim) {
  CALPE_CHECK(check_range(offset, length));
  while (length != 0) {
    if (roster_.is_failed()) return failed();
    StripePart part;
    part.stripe = offset / layout_.stripe_bytes();
    part.begin = offset % layout_.stripe_bytes();
    part.bytes = std::min(length, layout_.stripe_bytes() - part.begin);
    // The last stripe may have more room than the array has bytes.
    const bool is_whole =
        part.begin == 0 && (part.bytes == layout_.stripe_bytes() ||
                            (part.bytes == length && offset + length == settings_.bytes));
    if (is_whole) {
      CALPE_CHECK(make_hole(part.stripe));
    } else if (!is_trim) {
      bool is_hole = false;
      {
        const std::shared_lock lock(lock_of(part.stripe));
        is_hole = slots_[part.stripe] == no_slot;
      }
      if (!is_hole) CALPE_CHECK(write_part(part, nullptr));
    }
    offset += part.bytes;
    length -= part.bytes;
  }
  return Done{};
}

}  // namespace calpe::array
