// SPDX-License-Identifier: Apache-2.0
#include "array/core/rebuild.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/try.hpp"

namespace calpe::array {

Rebuild::Rebuild(SharedState& shared, Log& log, StripeLoader& loader)
    : layout_(shared.layout),
      roster_(shared.roster),
      index_(shared.index),
      stock_(shared.stock),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader),
      chunks_(shared),
      sweep_(shared, loader) {}

std::uint64_t Rebuild::rebuilding_roles() const {
  std::uint64_t roles = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.state(role) == MemberState::rebuilding) roles |= std::uint64_t{1} << role;
  }
  return roles;
}

// Needs the lock of the stripe.
std::uint64_t Rebuild::lacking(std::uint64_t stripe) const {
  return rebuilding_roles() & ~roster_.having(stripe);
}

// --- one stripe ---

bool Rebuild::want(SweptStripe& one) {
  one.roles = lacking(one.at.stripe);
  if (one.roles != 0) chunks_.want(one.at, one.roles, *one.buffer);
  return one.roles != 0;
}

bool Rebuild::compute(SweptStripe& one) {
  chunks_.compute_checks(one.at, one.roles, *one.buffer);
  return true;
}

void Rebuild::add_writes(SweptStripe& one, std::vector<MemberRequest>& to_roles,
                         std::vector<MemberRequest>& /*to_successor*/) {
  one.roles &= roster_.live_roles();
  chunks_.add_writes(one.at, one.roles, *one.buffer, to_roles);
}

// A member whose write failed is out.
Status Rebuild::end_writes(std::span<SweptStripe* const> written) {
  const Log::Locked log(log_);
  const std::uint64_t live = roster_.live_roles();
  for (SweptStripe* const one : written) {
    chunks_.set_checks(one->at, one->roles & live, *one->buffer);
    roster_.set_has(one->roles & live, one->at.stripe);
  }
  return Done{};
}

Status Rebuild::do_alone(std::uint64_t stripe) {
  const std::unique_lock lock(stripes_.lock_of(stripe));
  SweptStripe one{.at = stripes_.at(stripe), .buffer = stock_.take()};
  if (one.at.slot == no_slot) roster_.set_has(rebuilding_roles(), stripe);
  if (one.at.slot == no_slot || !want(one)) return Done{};
  // A lost block is no error here: it gets no checksum.
  Status loaded = loader_.load(one.at, *one.buffer);
  if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
  chunks_.compute_checks(one.at, one.roles, *one.buffer);
  std::vector<MemberRequest> writes;
  chunks_.add_writes(one.at, one.roles & roster_.live_roles(), *one.buffer, writes);
  roster_.run(writes);
  SweptStripe* const written = &one;
  return end_writes(std::span(&written, 1));
}

// --- a step ---

// Members that are rebuilt together may have different progress.
void Rebuild::begin(std::uint64_t roles) {
  std::uint64_t slot = layout_.slots;
  for (; roles != 0; roles &= roles - 1) {
    slot = std::min(slot, roster_.slots_done(static_cast<unsigned>(std::countr_zero(roles))));
  }
  sweep_.restart(slot);
  rebuilds_begun_ = roster_.rebuilds_begun();
  stripes_not_durable_ = 0;
}

// The sweep has passed all slots. What is left began with an older version of the array.
Status Rebuild::rebuild_rest() {
  for (std::uint64_t roles = rebuilding_roles(); roles != 0; roles &= roles - 1) {
    const auto role = static_cast<unsigned>(std::countr_zero(roles));
    while (roster_.state(role) == MemberState::rebuilding && roster_.todo_count(role) != 0) {
      CALPE_CHECK(do_alone(roster_.first_todo(role)));
      CALPE_CHECK(roster_.check());
    }
  }
  return Done{};
}

// Nothing that was read is left to be written.
Status Rebuild::make_durable(bool is_end) {
  const std::uint64_t slots_done = sweep_.slot();
  std::vector<MemberRequest> flushes;
  std::array<std::uint64_t, members_most> watermarks = {};
  for (std::uint64_t roles = rebuilding_roles(); roles != 0; roles &= roles - 1) {
    const auto role = static_cast<unsigned>(std::countr_zero(roles));
    // Before the commit: stripes that are complete because a writer moved them must be durable.
    watermarks[role] = roster_.first_todo(role);
    MemberRequest flush;
    flush.call = MemberCall::flush;
    flush.member = role;
    flushes.push_back(flush);
  }
  roster_.run(flushes);  // not under the lock, because it may take long
  Log::Locked log(log_);
  CALPE_CHECK(log.commit());
  const auto enter = [&](bool by_missed) {
    for (std::uint64_t roles = rebuilding_roles(); roles != 0; roles &= roles - 1) {
      const auto role = static_cast<unsigned>(std::countr_zero(roles));
      RoleRecord record = roster_.record(role);
      if (!is_end || record.by_missed != by_missed) continue;
      record.by_missed = false;
      record.out_epoch = 0;
      record.state = MemberState::in;
      roster_.set_in(role, record);
    }
  };
  CALPE_CHECK(log.checkpoint([&] {
    for (std::uint64_t roles = rebuilding_roles(); roles != 0; roles &= roles - 1) {
      const auto role = static_cast<unsigned>(std::countr_zero(roles));
      roster_.set_progress(role, watermarks[role], slots_done);
    }
    enter(false);
  }));
  stripes_not_durable_ = 0;
  if (!is_end) return Done{};
  // Everything is durable on the members, so nothing is lost if one leaves during this checkpoint,
  // which forgets the missed stripes.
  if (rebuilding_roles() == 0 && index_.missed_count() == 0) return Done{};
  enter(true);
  if (roster_.not_in_count() == 0) index_.clear_missed();
  return log.checkpoint();
}

Result<RebuildProgress> Rebuild::step(std::uint64_t bytes, Progress durable) {
  const std::lock_guard one_at_a_time(mutex_);
  RebuildProgress progress;
  progress.stripes = layout_.stripes;
  progress.stripes_done = layout_.stripes;
  std::uint64_t roles = rebuilding_roles();
  if (roles == 0) return progress;
  if (rebuilds_begun_ != roster_.rebuilds_begun()) begin(roles);
  CALPE_TRY(const std::uint64_t stripes, sweep_.advance(layout_.slots, bytes, *this));
  stripes_not_durable_ += stripes;
  progress.bytes_read = stripes * layout_.stripe_bytes();
  const bool is_end = sweep_.slot() == layout_.slots;
  const bool is_due = stripes_not_durable_ * layout_.chunk_bytes >= progress_bytes_most;
  if (is_end || is_due || durable == Progress::now) {
    CALPE_CHECK(sweep_.drain(*this));
    if (is_end) CALPE_CHECK(rebuild_rest());
    CALPE_CHECK(make_durable(is_end));
  }
  roles = rebuilding_roles();
  progress.is_complete = roles == 0;
  for (; roles != 0; roles &= roles - 1) {
    const auto role = static_cast<unsigned>(std::countr_zero(roles));
    progress.stripes_done =
        std::min(progress.stripes_done, layout_.stripes - roster_.todo_count(role));
  }
  return progress;
}

}  // namespace calpe::array
