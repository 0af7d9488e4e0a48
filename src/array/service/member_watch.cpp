// SPDX-License-Identifier: Apache-2.0
// Watches the files of members: deleted ones, those that come back, those that were replaced.
#include <memory>
#include <utility>

#include "array/service/service.hpp"
#include "base/text.hpp"

namespace calpe::array {

namespace {

using Clock = Pace::Clock;

constexpr std::chrono::seconds returned_for(30);

Event member_out(unsigned role, const std::string& why) {
  return {"member-out", text("member ", role, " is out: ", why), true, role};
}

}  // namespace

Event member_back(unsigned role) {
  return {"member-back", text("member ", role, " is back and gets the writes it missed"), false,
          role};
}

// Returns what happened to the file at the place, or "" if nothing or if it does not answer.
std::string Service::file_loss(unsigned place) {
  struct Look {
    bool is_deleted = false;
    bool is_truncated = false;
  };
  if (place >= members_->count()) return {};
  const auto look = std::make_shared<Look>();
  const bool is_answered = deadlines_->call(place, [look, files = members_, place] {
    look->is_deleted = files->is_deleted(place);
    look->is_truncated = files->is_truncated(place);
  });
  if (!is_answered || (!look->is_deleted && !look->is_truncated)) return {};
  return text(members_->path(place), look->is_deleted ? " was deleted" : " was truncated");
}

void Service::look_at_file(const MemberStatus& member) {
  const std::string what = file_loss(member.place);
  if (what.empty()) return;
  if (array_->lose(member.role, what)) {
    told_out_.insert(member.role);
    say(member_out(member.role, what));
    members_->release(member.place);
  } else if (told_lost_.insert(member.role).second) {
    say({"member-deleted",
         text("WARNING: ", what, ", and no further member may fail: the data is lost when this ",
              "server stops; replace a member that is out first"),
         true, member.role});
  }
}

void Service::look_at_successor(const MemberStatus& member) {
  const unsigned place = *member.successor_place;
  const std::string what = file_loss(place);
  if (what.empty()) return;
  say({"replace-failed", text("member ", member.role, " is not replaced: ", what), true,
       member.role});
  static_cast<void>(array_->remove_spare(place));
  members_->release(place);
}

// The old file or disk is closed, so that it can be taken out.
void Service::tell_replaced(const ArrayStatus& before) {
  const ArrayStatus now = array_->status();
  for (std::size_t i = 0; i < before.now.members.size(); ++i) {
    const MemberStatus& old = before.now.members[i];
    if (!old.successor_place || now.now.members[i].place != *old.successor_place) continue;
    say({"member-replaced",
         text("member ", old.role, " is now ", members_->path(*old.successor_place), "; ",
              members_->path(old.place), " is no longer used"),
         false, old.role});
    const std::lock_guard lock(change_mutex_);
    members_->release(old.place);
    removed_.insert(old.place);
  }
}

// Finds files that were deleted, and members that came back.
void Service::look_at_members() {
  const std::lock_guard lock(change_mutex_);
  for (const MemberStatus& member : array_->status().now.members) {
    if (member.role == array::no_role) continue;
    if (member.state != MemberState::out) {
      told_out_.erase(member.role);
    } else if (told_out_.insert(member.role).second) {
      say(member_out(member.role, member.why));
    }
    if (member.state == MemberState::in) look_at_file(member);
    if (member.successor_place) look_at_successor(member);
  }
  bool is_any_back = false;
  for (unsigned place = 0; place < members_->count(); ++place) {
    if (members_->bytes(place) != 0 || removed_.count(place) != 0) continue;
    if (members_->put(place, members_->path(place))) is_any_back = true;
  }
  take_back_returned(is_any_back);
}

// A member that did not answer and does so now is the same as one whose file is back.
void Service::take_back_returned(bool is_any_opened) {
  if (const std::uint64_t returned = deadlines_->take_returned(); returned != 0) {
    returned_ |= returned;
    returned_until_ = Clock::now() + returned_for;
  }
  // A member that answers late may not even be out. What it does later has nothing to do with it.
  if (Clock::now() >= returned_until_) returned_ = 0;
  if (!is_any_opened && returned_ == 0) return;
  for (const MemberStatus& member : array_->status().now.members) {
    if (member.state != MemberState::out || member.on_request) continue;
    const bool is_at_place = member.place < array::members_most;
    const std::uint64_t bit = is_at_place ? std::uint64_t{1} << member.place : 0;
    if (!is_any_opened && (returned_ & bit) == 0) continue;
    const Status done = array_->readd(member.role);
    if (done) say(member_back(member.role));
    // Tried again after an I/O error only.
    if (done || done.error().code == ErrorCode::invalid_argument) returned_ &= ~bit;
  }
}

}  // namespace calpe::array
