// SPDX-License-Identifier: Apache-2.0
// The other half of the simulation: changes of members, faults and power cuts.
#pragma once
#include "array/simulation.hpp"
#include "array/superblock_on_disk.hpp"

namespace calpe::tests {

inline void Simulation::rebuild() {
  const std::vector<MemberStatus> before = roles();
  const auto progress = random_.coin() ? array::Progress::now : array::Progress::when_due;
  const auto step = array_->rebuild_step(1 + random_.below(3 * shape_.chunk_bytes), progress);
  for (const MemberStatus& now : roles()) {
    const std::optional<unsigned> successor = before[now.role].successor_place;
    const bool is_taken_over = successor && now.place == *successor && now.state == MemberState::in;
    counts_.replaced += is_taken_over ? 1 : 0;
  }
  // A new disk that fails ends the copy; the old one serves.
  if (!step && step.error().message.find(" is not replaced: ") != std::string::npos) return;
  if (!step) {
    done(step.error(), "rebuild");
    return;
  }
  tell(text("rebuild: ", step->stripes_done, " of ", step->stripes));
  counts_.rebuilds += step->is_complete ? 1 : 0;
}

// Takes a member out by request.
inline void Simulation::fail_member() {
  const std::vector<MemberStatus> all = roles();
  const auto role = static_cast<unsigned>(random_.below(all.size()));
  const unsigned place = all[role].place;
  const bool is_impaired = all[role].state != MemberState::in || is_suspect(place);
  if (all[role].state == MemberState::out || (!is_impaired && !has_budget())) return;
  tell(text("fail role ", role, " at place ", place));
  done(array_->fail(role), "fail");
}

// The model knows when a member may come back; a disk with write errors fails again.
inline void Simulation::readd(unsigned role) {
  flush();  // so that members that are out are recorded on the disks
  if (!wrong_.empty() || array_->status().now.members[role].state != MemberState::out) return;
  const std::optional<unsigned> place = returning_place(members_, role);
  const bool is_failing = place && members_[*place].fails_after.has_value();
  tell(text("re-add role ", role, place ? "" : ", to be refused"));
  const Status status = array_->readd(role);
  if (status) ++counts_.returns;
  if (!status && status.error().code == ErrorCode::invalid_argument) ++counts_.refusals;
  if (place && !status && !(is_failing && status.error().code == ErrorCode::io)) {
    return wrong("re-add: " + status.error().message);
  }
  if (!place && (status || status.error().code != ErrorCode::invalid_argument)) {
    wrong(text("re-add of role ", role,
               "; expected to be refused: ", status ? "done" : status.error().message));
  }
}

// Gives a role that is out a disk: its own, a spare, or another place.
inline void Simulation::bring_back() {
  std::vector<MemberStatus> all = array_->status().now.members;
  std::vector<unsigned> out;
  std::vector<bool> is_used(places());
  for (unsigned role = 0; role < all.size(); ++role) {
    const bool is_member = all[role].state != MemberState::none;
    if (all[role].place < places() && is_member) is_used[all[role].place] = true;
    if (all[role].successor_place) is_used[*all[role].successor_place] = true;
    if (role < shape_.members() && all[role].state == MemberState::out) out.push_back(role);
  }
  if (out.empty()) return;
  const unsigned role = random_.pick(std::span<const unsigned>(out));
  const unsigned own = all[role].place;
  if (own < places() && random_.coin()) revive(own);
  if (random_.coin()) return readd(role);
  if (random_.coin()) {
    tell("take a spare");
    const auto taken = array_->take_spare();
    const auto is_taken_by = [&](const MemberStatus& member) {
      return member.place != all[member.role].place;
    };
    if (!taken) {
      // The spare was a new disk of a live member until it failed, and fails again.
      const auto now = roles();
      const bool has_failed = std::ranges::any_of(now, [&](const MemberStatus& member) {
        return is_taken_by(member) && is_suspect(member.place);
      });
      if (!has_failed) done(taken.error(), "take spare");
      return;
    }
    // Needs a full rebuild, unlike a member that came back and is still catching up.
    for (const MemberStatus& member : roles()) {
      if (is_taken_by(member) && member.state == MemberState::rebuilding)
        suspicions_[member.place].is_wrong = members_[member.place].loses_flushes;
    }
    return;
  }
  // A new disk at an unused place, or at the role's own.
  std::vector<unsigned> free;
  for (unsigned place = 0; place < places(); ++place) {
    if (!is_used[place] || place == own) free.push_back(place);
  }
  if (free.empty()) return;
  const unsigned place = random_.pick(std::span<const unsigned>(free));
  members_[place] = {.disk = SimulatedDisk(simulated_member_bytes)};
  suspicions_[place] = {};
  tell(text("a new disk at place ", place, " for role ", role));
  if (random_.one_in(3)) {
    done(array_->add(place), "add");
  } else {
    done(array_->replace(role, place), "replace");
  }
}

inline void Simulation::cancel_replacement() {
  for (const MemberStatus& member : roles()) {
    if (!member.successor_place) continue;
    tell(text("the replacement of role ", member.role, " is cancelled"));
    const Status removed = array_->remove_spare(*member.successor_place);
    // A disk that fails cannot be erased.
    if (!removed && is_suspect(*member.successor_place)) return;
    done(removed, "remove the successor");
  }
}

// Replaces a member that is in by a new disk, or cancels that.
inline void Simulation::replace_live() {
  const std::vector<MemberStatus> all = array_->status().now.members;
  std::vector<bool> is_used(places());
  for (const MemberStatus& member : all) {
    if (member.place < places() && member.state != MemberState::none) is_used[member.place] = true;
    if (!member.successor_place) continue;
    if (random_.one_in(8)) cancel_replacement();
    return;
  }
  const auto role = static_cast<unsigned>(random_.below(shape_.members()));
  if (all[role].state != MemberState::in) return;
  const auto unused = std::find(is_used.begin(), is_used.end(), false);
  const auto place = static_cast<unsigned>(unused - is_used.begin());
  if (place == places()) {
    members_.add({.disk = SimulatedDisk(simulated_member_bytes)});
    suspicions_.emplace_back();
  } else {
    members_[place] = {.disk = SimulatedDisk(simulated_member_bytes)};
    suspicions_[place] = {};
  }
  tell(text("role ", role, " is to be replaced by place ", place));
  const Status begun = array_->replace(role, place);
  // A fault may take the member out before.
  if (!begun && is_suspect(all[role].place)) return;
  done(begun, "replace a live member");
}

// A fault that the array must detect.
inline void Simulation::hurt_member() {
  const std::vector<MemberStatus> all = roles();
  MemberStatus member = all[random_.below(all.size())];
  if (member.successor_place && random_.coin()) member.place = *member.successor_place;
  if (member.place >= places() || !has_budget()) return;
  SimulatedMembers::Slot& slot = members_[member.place];
  ++counts_.faults;
  const std::uint64_t kind = random_.below(6);
  tell(text("fault ", kind, " at place ", member.place));
  switch (kind) {
    case 0:
      slot.is_dead = true;
      return;
    case 1:
      slot.is_there = false;
      return;
    case 2:
      slot.fails_after = random_.below(20);
      return;
    case 3:
      for (std::uint64_t i = random_.between<std::uint64_t>(1, 20); i > 0; --i) {
        slot.unreadable.insert(random_.below(slot.disk.size() / sector_bytes));
      }
      suspicions_[member.place].is_latent = true;
      return;
    case 4:
      slot.loses_flushes = true;
      break;
    default:
      corrupt(member.place);
      break;
  }
  suspicions_[member.place].is_wrong = true;
}

// Silent corruption: flipped bits, or blocks of another place or time.
inline void Simulation::corrupt(unsigned place) {
  const std::span<std::byte> content = members_[place].disk.content();
  const std::uint64_t blocks = content.size() / 4096;
  for (std::uint64_t i = random_.between<std::uint64_t>(1, 30); i > 0; --i) {
    const auto to = content.subspan(4096 * random_.below(blocks), 4096);
    const auto from = content.subspan(4096 * random_.below(blocks), 4096);
    if (random_.coin()) {
      to[random_.below(4096)] ^= static_cast<std::byte>(1U << random_.below(8));
    } else if (from.data() != to.data()) {
      std::ranges::copy(from, to.begin());
    }
  }
}

inline void Simulation::open(const char* after) {
  scrubbed_ = 0;
  auto opened = Array::open(members_);
  if (opened) {
    array_ = std::move(*opened);
    members_.forget_synced();
  } else if (opened.error().message.starts_with("split brain") && remove_diverged()) {
    open(after);
  } else if (!members_.is_off()) {
    wrong(text("open after ", after, ": ", opened.error().message));
  }
}

// Opens only the side to keep, as the message says. Returns false if there is no other side.
inline bool Simulation::remove_diverged() {
  const std::vector<unsigned> diverged = diverged_places(members_);
  for (const unsigned place : diverged) {
    tell(text("split brain: place ", place, " is taken out"));
    members_[place].is_there = false;
  }
  return !diverged.empty();
}

// The disk works again, with its old contents.
inline void Simulation::revive(unsigned place) {
  members_[place].is_there = true;
  members_[place].is_dead = false;
  members_[place].fails_after.reset();
}
inline void Simulation::revive_some() {
  for (unsigned place = 0; place < places(); ++place) {
    if (random_.one_in(3)) revive(place);
  }
}

// Swaps two disks; members are found by their contents.
inline void Simulation::swap_disks() {
  const auto a = static_cast<unsigned>(random_.below(places()));
  const auto b = static_cast<unsigned>(random_.below(places()));
  tell(text("places ", a, " and ", b, " are swapped"));
  std::swap(members_[a], members_[b]);
  std::swap(suspicions_[a], suspicions_[b]);
}

inline void Simulation::close_and_open() {
  tell("close and open");
  if (!done(array_->close(), "close")) return;
  model_.settle_all();
  array_.reset();
  revive_some();
  if (random_.coin()) swap_disks();
  open("close");
  if (!wrong_.empty()) return;
  std::vector<std::byte> all(model_.bytes());
  if (!done(array_->read(0, all), "read all")) return;
  const std::string differs = model_.compare(0, all);
  if (!differs.empty()) wrong("after close: " + differs);
}

// Adds a parity member, which the array must rebuild; sometimes with a power cut.
inline void Simulation::grow() {
  constexpr std::uint64_t grown_most = 2;
  if (counts_.grown == grown_most || !random_.one_in(4)) return;
  const unsigned not_in = static_cast<unsigned>(std::ranges::count_if(
      roles(), [](const MemberStatus& one) { return one.state != MemberState::in; }));
  if (not_in == 0 && impaired() != 0) return;  // a fault may or may not be found
  cancel_replacement();                        // otherwise refused
  if (!done(array_->close(), "close")) return;
  model_.settle_all();
  array_.reset();
  const unsigned place = members_.add({.disk = SimulatedDisk(simulated_member_bytes)});
  suspicions_.emplace_back();
  const bool is_cut = random_.one_in(3);
  tell(text("grow parity with place ", place, is_cut ? ", and the power is cut" : ""));
  if (is_cut) members_.power_off_after(random_.below(80));
  const bool is_grown = array::grow_parity(members_, place).has_value();
  if (members_.is_off()) {
    members_.cut_power_at_random(random_);
  } else if (is_grown != (not_in == 0)) {
    return wrong(
        text("grow parity with ", not_in, " members not in: ", is_grown ? "done" : "refused"));
  }
  members_.power_on();
  const auto found = array::inspect(members_);
  if (!found) return wrong("after growing: " + found.error().message);
  const unsigned parity = found->settings.spec.parity_shards;
  if (parity != shape_.parity + 1 && (parity != shape_.parity || is_grown)) {
    return wrong(text("parity is ", parity, " after it was to grow from ", shape_.parity));
  }
  counts_.grown += parity - shape_.parity;
  shape_.parity = parity;
  open("growing");
  if (wrong_.empty()) check_all_after_cut();
}

inline void Simulation::note_capacity(std::uint64_t bytes) {
  if (bytes == model_.bytes()) return;
  ++counts_.enlarged;
  model_.grow(bytes);
  shape_.stripes = bytes / shape_.stripe_bytes();
  scrubbed_ = 0;
}

// More capacity on the disks, which are larger than the array; sometimes with a power cut. It fails
// if a member is out, if the disks are too small, or if it was done too often.
inline void Simulation::grow_capacity() {
  cancel_replacement();  // otherwise refused
  const bool is_cut = random_.one_in(3);
  const std::uint64_t asked =
      random_.one_in(4)
          ? 0
          : model_.bytes() + shape_.stripe_bytes() * random_.between<std::uint64_t>(1, 4);
  const std::uint64_t before = model_.bytes();
  const auto possible = array::check_grow(members_, asked);
  const bool is_certain = impaired() == 0 && !is_cut;
  tell(text("grow to ", asked, possible ? "" : " which is refused: ",
            possible ? "" : possible.error().message, is_cut ? ", and the power is cut" : ""));
  if (is_cut) members_.power_off_after(random_.below(100));
  const Status grown = array_->grow(asked);
  if (members_.is_off()) {
    array_.reset();
    members_.cut_power_at_random(random_);
    revive_some();
    members_.power_on();
    const auto found = array::inspect(members_);
    if (!found) return wrong("after growing: " + found.error().message);
    open("growing");
    if (!wrong_.empty()) return;
    const std::uint64_t now = array_->bytes();
    const bool is_grown = now > before && (!possible || now == *possible);
    if (now != before && !is_grown) return wrong(text("has ", now, " bytes"));
    note_capacity(now);
    return check_all_after_cut();
  }
  members_.power_on();
  if (is_certain && grown.has_value() != possible.has_value()) {
    return wrong(text("growing is ", possible ? "possible" : possible.error().message, ", but ",
                      grown ? "done" : grown.error().message));
  }
  // Superblocks that cannot be read are not needed to grow an open array.
  if (grown && possible && array_->bytes() != *possible) return wrong("grown to another size");
  if (!grown && array_->bytes() != before) return wrong("grown, but refused");
  note_capacity(array_->bytes());
  if (grown) model_.settle_all();
}

inline void Simulation::work_until_power_is_off() {
  members_.power_off_after(random_.below(60));
  for (int i = 0; i < 6 && !members_.is_off() && wrong_.empty(); ++i) {
    switch (random_.below(8)) {
      case 0:
        flush();
        break;
      case 1:
        checkpoint();
        break;
      case 2:
        rebuild();
        break;
      case 3:
        scrub();
        break;
      case 4:
        zero_or_trim();
        break;
      case 5:
        fail_member();
        break;
      default:
        write();
    }
  }
}

inline void Simulation::tell_superblocks() {
  if (!is_told_) return;
  const auto found = array::inspect(members_);
  if (!found) return tell(found.error().message);
  std::string all = text("epoch ", found->epoch, ", generation ", found->generation, ";");
  for (const MemberStatus& member : found->members) {
    all += text(" role ", member.role, " place ", member.place, " state ",
                static_cast<unsigned>(member.state), " epoch ", member.epoch, ";");
  }
  tell(all);
}

inline void Simulation::cut_power() {
  ++counts_.cuts;
  if (random_.coin()) work_until_power_is_off();
  tell("power is cut");
  array_.reset();
  for (unsigned place = 0; place < places(); ++place) {
    if (!members_[place].loses_flushes) continue;
    members_[place].disk.cut_power([](std::size_t, std::size_t) { return false; });
    members_[place].loses_flushes = false;
  }
  members_.cut_power_at_random(random_);
  revive_some();
  if (random_.one_in(4)) swap_disks();
  if (random_.one_in(3)) cut_in_recovery();
  members_.power_on();
  tell_superblocks();
  open("a power cut");
  if (wrong_.empty()) check_all_after_cut();
}

inline void Simulation::cut_in_recovery() {
  for (std::uint64_t i = random_.between<std::uint64_t>(1, 3); i > 0 && wrong_.empty(); --i) {
    ++counts_.cuts_in_recovery;
    members_.power_off_after(random_.below(40));
    tell("power is cut in recovery");
    open("a power cut");
    array_.reset();
    members_.cut_power_at_random(random_);
  }
}

inline void Simulation::check_all_after_cut() {
  std::vector<std::byte> all(model_.bytes());
  if (!done(array_->read(0, all), "read all")) return;
  const std::string differs = model_.compare_after_cut(all);
  if (!differs.empty()) return wrong("after a power cut: " + differs);
  model_.settle_after_cut(all);
}

inline std::string Simulation::run(unsigned operations) {
  const array::Settings settings = {
      .spec = {.data_shards = static_cast<std::uint16_t>(shape_.data),
               .parity_shards = static_cast<std::uint16_t>(shape_.parity)},
      .bytes = shape_.bytes(),
      .chunk_bytes = shape_.chunk_bytes,
      .log_bytes = 2 * shape_.chunk_bytes + 4096 * random_.between<std::uint64_t>(4, 12),
      .spare_slots = random_.between<std::uint32_t>(2, 4)};
  tell(text(shape_.data, "+", shape_.parity, ", ", shape_.stripes, " stripes of chunks of ",
            shape_.chunk_bytes, ", ", shape_.spares, " spares"));
  if (!done(array::create(members_, settings, uuid_of(seed_)), "create")) return wrong_;
  open("create");
  members_.shuffle_with(&random_);
  using Operation = void (Simulation::*)();
  static constexpr std::pair<unsigned, Operation> table[] = {
      {24, &Simulation::write},         {8, &Simulation::zero_or_trim},
      {12, &Simulation::read},          {6, &Simulation::flush},
      {1, &Simulation::extents},        {2, &Simulation::checkpoint},
      {12, &Simulation::rebuild},       {4, &Simulation::scrub},
      {1, &Simulation::fail_member},    {5, &Simulation::bring_back},
      {1, &Simulation::close_and_open}, {4, &Simulation::cut_power},
      {2, &Simulation::hurt_member},    {1, &Simulation::grow},
      {1, &Simulation::replace_live},   {1, &Simulation::grow_capacity}};
  std::vector<Operation> wheel;
  for (const auto& [weight, operation] : table) {
    wheel.insert(wheel.end(), weight, operation);
  }
  while (counts_.operations < operations && wrong_.empty()) {
    ++counts_.operations;
    (this->*random_.pick(std::span<const Operation>(wheel)))();
    for (unsigned place = 0; place < places(); ++place) {
      suspicions_[place].is_latent = !members_[place].unreadable.empty();
    }
    if (!members_.complaint().empty()) wrong(members_.complaint());
  }
  return wrong_;
}

}  // namespace calpe::tests
