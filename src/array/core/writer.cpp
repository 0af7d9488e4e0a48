// SPDX-License-Identifier: Apache-2.0
#include "array/core/writer.hpp"

#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

// A slot that is free again unless it is kept.
class TakenSlot {
 public:
  TakenSlot(FreeSlots& free_slots, std::uint32_t slot) : free_slots_(free_slots), slot_(slot) {}
  ~TakenSlot() {
    if (slot_ != no_slot) free_slots_.give(slot_);
  }
  TakenSlot(const TakenSlot&) = delete;
  TakenSlot& operator=(const TakenSlot&) = delete;
  void keep() noexcept { slot_ = no_slot; }

 private:
  FreeSlots& free_slots_;
  std::uint32_t slot_;
};

}  // namespace

Writer::Writer(SharedState& shared, Log& log, StripeLoader& loader)
    : settings_(shared.settings),
      layout_(shared.layout),
      check_(shared.check),
      codec_(shared.codec),
      roster_(shared.roster),
      stock_(shared.stock),
      stripes_(shared.stripes),
      lost_(shared.lost),
      log_(log),
      loader_(loader) {}

// Returns no_slot if no slot becomes free.
Result<std::uint32_t> Writer::take_slot() {
  std::uint32_t slot = stripes_.free_slots().take();
  for (int attempt = 0; slot == no_slot && attempt < 100; ++attempt) {
    CALPE_CHECK(log_.commit());  // frees the slots that it replaces
    slot = stripes_.free_slots().take();
  }
  return slot;
}

Status Writer::write_stripe(std::uint64_t stripe, std::span<const std::byte> bytes) {
  {
    const auto pass = gate_.pass();
    const std::unique_lock lock(stripes_.lock_of(stripe));
    CALPE_TRY(const std::uint32_t slot, take_slot());
    if (slot != no_slot) return redirect({stripe, slot}, bytes);
  }
  // Other writers hold all free slots, so write through the log.
  return write_part({stripe, 0, bytes.size()}, bytes.data());
}

// Writes the stripe to a free slot, which is freed again on failure.
Status Writer::redirect(const StripeAt& at, std::span<const std::byte> bytes) {
  TakenSlot taken(stripes_.free_slots(), at.slot);
  const BufferStock::Lease buffer = stock_.take();
  std::memcpy(buffer->bytes.data(), bytes.data(), bytes.size());
  CALPE_CHECK(encode_columns(codec_, *buffer, 0, layout_.columns));
  // Members that are being rebuilt get the stripe too, so it needs no rebuild.
  const std::uint64_t roles = roster_.live_roles();
  buffer->requests.clear();
  std::size_t used = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((roles >> role & 1U) == 0) continue;
    const unsigned shard = layout_.shard_of(role, at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const BlockPlace place{role, at.stripe, at.slot, column};
      buffer->checks[used++] = check_.of(place, buffer->block(shard, column));
    }
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = layout_.block_at(at.slot, 0);
    request.bytes = buffer->blocks(shard, 0, layout_.columns);
    request.is_past_cache = true;
    buffer->requests.push_back(request);
  }
  // A member that fails is out, and its bit stays in `roles`: it gets no more requests.
  roster_.run(buffer->requests);
  CALPE_CHECK(log_.put([&](Batch& batch) {
    if (!batch.fits(RecordKind::whole, roles)) return false;
    batch.put_slot(RecordKind::whole, at.stripe, at.slot, roles,
                   std::span(buffer->checks).first(used));
    batch.set_needs_flush();
    return true;
  }));
  taken.keep();
  stripes_.change(at.stripe, at.slot);
  roster_.set_has(roles, at.stripe);
  lost_.remove(at.stripe * layout_.stripe_bytes(), layout_.stripe_bytes());
  return Done{};
}

Status Writer::put_part(const PartPlan& plan, const StripeAt& at, StripeBuffer& now,
                        bool is_new_slot) {
  const std::uint64_t roles = roster_.having(at.stripe);
  const std::uint32_t columns = plan.end_column - plan.first_column;
  now.copies.reserve(std::size_t{columns} * layout_.roles());
  const auto put = [&](Batch& batch) {
    if (!batch.fits_columns(columns)) return false;
    now.copies.clear();
    if (is_new_slot) batch.put_slot(RecordKind::zeros, at.stripe, at.slot, 0, {});
    for (std::uint32_t column = plan.first_column; column < plan.end_column; ++column) {
      const std::uint64_t shards = plan.columns[column].changed;
      for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
        const unsigned role = layout_.role_of(shard, at.stripe);
        if ((shards >> shard & 1U) == 0 || (roles >> role & 1U) == 0) continue;
        const std::uint64_t check = now.checks[now.at(shard, column)];
        const std::span<std::byte> to = batch.put_block(at.stripe, at.slot, column, role, check);
        now.copies.push_back({to.data(), now.block(shard, column).data()});
      }
    }
    return true;
  };
  CALPE_CHECK(log_.put(put, [&] {
    for (const BlockCopy& one : now.copies)
      std::memcpy(one.to, one.from, block_bytes);
  }));
  stripes_.change(at.stripe, at.slot);
  return Done{};
}

// Computes the changed blocks of `now`, and their checksums.
Status Writer::compute(const PartPlan& plan, const StripeAt& at, StripeBuffer& old,
                       StripeBuffer& now) {
  CALPE_CHECK(compute_part(codec_, plan, old, now));
  for (std::uint32_t column = plan.first_column; column < plan.end_column; ++column) {
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      if ((plan.columns[column].changed >> shard & 1U) == 0) continue;
      const BlockPlace place{layout_.role_of(shard, at.stripe), at.stripe, at.slot, column};
      now.checks[now.at(shard, column)] = check_.of(place, now.block(shard, column));
    }
  }
  return Done{};
}

Status Writer::write_part(const StripePart& part, const std::byte* bytes) {
  const auto pass = gate_.pass();
  const std::unique_lock lock(stripes_.lock_of(part.stripe));
  StripeAt at = stripes_.at(part.stripe);
  const bool is_new_slot = at.slot == no_slot;
  if (is_new_slot) {
    CALPE_TRY(at.slot, take_slot());
    if (at.slot == no_slot) return make_error(ErrorCode::io, "no free slot");
  }
  TakenSlot taken(stripes_.free_slots(), is_new_slot ? at.slot : no_slot);
  const std::uint64_t having = layout_.shards_of(roster_.having(part.stripe), part.stripe);
  const BufferStock::Lease old = stock_.take();
  const BufferStock::Lease now = stock_.take();
  const PartPlan plan = plan_part(layout_, {part.begin, part.bytes, bytes}, having);
  if (is_new_slot) {
    fill_zeros(plan, *old);
  } else {
    set_needs(plan, *old);
    CALPE_CHECK(loader_.load(at, *old));
  }
  CALPE_CHECK(compute(plan, at, *old, *now));
  CALPE_CHECK(put_part(plan, at, *now, is_new_slot));
  taken.keep();
  lost_.remove(part.stripe * layout_.stripe_bytes() + part.begin, part.bytes);
  return Done{};
}

Status Writer::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  CALPE_CHECK(check_range(settings_, offset, bytes.size()));
  while (!bytes.empty()) {
    CALPE_CHECK(roster_.check());
    const StripePart part = first_part(layout_, offset, bytes.size());
    if (part.bytes == layout_.stripe_bytes()) {
      CALPE_CHECK(write_stripe(part.stripe, bytes.first(part.bytes)));
    } else {
      CALPE_CHECK(write_part(part, bytes.data()));
    }
    offset += part.bytes;
    bytes = bytes.subspan(part.bytes);
  }
  return Done{};
}

Status Writer::make_hole(std::uint64_t stripe) {
  const auto pass = gate_.pass();
  const std::unique_lock lock(stripes_.lock_of(stripe));
  if (stripes_.at(stripe).slot == no_slot) return Done{};
  CALPE_CHECK(log_.put([&](Batch& batch) {
    if (!batch.fits(RecordKind::hole, 0)) return false;
    batch.put_slot(RecordKind::hole, stripe, no_slot, 0, {});
    return true;
  }));
  stripes_.change(stripe, no_slot);
  roster_.set_has(roster_.live_roles(), stripe);
  lost_.remove(stripe * layout_.stripe_bytes(), layout_.stripe_bytes());
  return Done{};
}

// Makes whole stripes holes; `rest` receives the partly covered ones.
template <class Rest>
Status Writer::make_holes(std::uint64_t offset, std::uint64_t length, const Rest& rest) {
  CALPE_CHECK(check_range(settings_, offset, length));
  while (length != 0) {
    CALPE_CHECK(roster_.check());
    const StripePart part = first_part(layout_, offset, length);
    // The last stripe may extend past the end of the array.
    const bool is_whole =
        part.begin == 0 && (part.bytes == layout_.stripe_bytes() ||
                            (part.bytes == length && offset + length == settings_.bytes));
    CALPE_CHECK(is_whole ? make_hole(part.stripe) : rest(part));
    offset += part.bytes;
    length -= part.bytes;
  }
  return Done{};
}

Status Writer::write_zeros(const StripePart& part) {
  {
    const std::shared_lock lock(stripes_.lock_of(part.stripe));
    if (stripes_.at(part.stripe).slot == no_slot) return Done{};
  }
  return write_part(part, nullptr);
}

Status Writer::zero(std::uint64_t offset, std::uint64_t length) {
  return make_holes(offset, length, [&](const StripePart& part) { return write_zeros(part); });
}

Status Writer::trim(std::uint64_t offset, std::uint64_t length) {
  return make_holes(offset, length, [](const StripePart&) -> Status { return Done{}; });
}

}  // namespace calpe::array
