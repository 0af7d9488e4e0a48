// SPDX-License-Identifier: Apache-2.0
#include "array/service/service.hpp"

#include <algorithm>
#include <utility>

#include "array/members/disk_contents.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"

namespace calpe::array {

using array::Array;
using array::ArrayStatus;
using array::FileMembers;
using array::MemberAccess;
using array::MemberState;
using array::MemberStatus;
using array::Progress;
using array::Return;
using Clock = Pace::Clock;

namespace {

constexpr std::chrono::milliseconds sleep_most(100);
constexpr std::chrono::milliseconds default_member_timeout(30'000);
constexpr std::chrono::milliseconds status_patience(100);
constexpr std::chrono::milliseconds between_status_tries(1);
constexpr std::chrono::seconds between_looks(1);
constexpr std::chrono::seconds idle_before_checkpoint(2);
// Progress that is not durable is repeated after a crash.
constexpr std::chrono::seconds progress_not_durable_most(10);

bool is_any(const ArrayStatus& status, MemberState state) {
  return std::any_of(status.now.members.begin(), status.now.members.end(),
                     [&](const MemberStatus& member) { return member.state == state; });
}

}  // namespace

std::string lost_text(std::uint64_t blocks, std::uint64_t first) {
  return text(blocks, blocks == 1 ? " block" : " blocks", " cannot be recovered (",
              blocks == 1 ? "" : "first ", "at offset ", first, "); restore ",
              blocks == 1 ? "it" : "them", " from a backup or overwrite ",
              blocks == 1 ? "it" : "them");
}

Result<std::unique_ptr<Service>> Service::open(std::vector<std::string> members,
                                               const ServiceOptions& options) {
  std::unique_ptr<Service> service(new Service());
  service->options_ = options;
  service->is_paused_ = options.is_paused;
  const bool is_read_only = options.is_read_only;
  CALPE_TRY(service->members_,
            FileMembers::open(std::move(members),
                              is_read_only ? MemberAccess::serve_read : MemberAccess::write));
  service->guard_members();
  auto array = is_read_only ? service->open_read_only() : service->open_for_writing();
  if (!array) return with_paths(std::move(array).error(), *service->members_);
  service->array_ = *std::move(array);
  service->deadlines_->set_can_do_without([open = service->array_.get()](std::uint64_t places) {
    return open->can_do_without(places);
  });
  service->last_status_ = service->array_->status();
  service->load_scrubs();
  service->find_unused();
  service->deadlines_->before_fork();
  return service;
}

void Service::guard_members() {
  const std::optional<std::uint32_t> given = options_.member_timeout_milliseconds;
  const std::chrono::milliseconds timeout(given.value_or(default_member_timeout.count()));
  auto is_guarded = [files = members_, is_for_all = given.has_value(),
                     is_on = timeout.count() != 0](unsigned place) {
    return is_on && (is_for_all || files->is_remote(place));
  };
  deadlines_ = std::make_unique<array::DeadlineMembers>(members_, timeout, std::move(is_guarded));
}

ArrayStatus Service::status() {
  const Clock::time_point end = Clock::now() + status_patience;
  do {
    if (auto now = array_->try_status()) {
      const std::lock_guard lock(status_mutex_);
      last_status_ = *now;
      return *std::move(now);
    }
    std::this_thread::sleep_for(between_status_tries);
  } while (Clock::now() < end);
  ArrayStatus last;
  {
    const std::lock_guard lock(status_mutex_);
    last = last_status_;
  }
  return array_->status_now(last);
}

void Service::find_unused() {
  const auto found = array::inspect(*deadlines_);
  if (!found) return;
  for (const MemberStatus& member : found->members) {
    if (member.state != MemberState::none) continue;
    const std::string of_file = members_->why(member.place);
    unused_.push_back(
        {member.place, members_->path(member.place), of_file.empty() ? member.why : of_file});
  }
}

std::vector<UnusedPath> Service::unused_paths(const ArrayStatus& status) const {
  std::vector<UnusedPath> still = unused_;
  for (const MemberStatus& member : status.now.members) {
    if (member.state == MemberState::none) continue;
    std::erase_if(still, [&](const UnusedPath& one) { return one.place == member.place; });
  }
  return still;
}

Result<std::unique_ptr<Array>> Service::open_for_writing() {
  lease_ = std::make_unique<array::OwnLease>(options_.lease_milliseconds);
  return array::open_exclusively(*deadlines_, *members_, *lease_);
}

// Holds no lease, as a lease would have to be written.
Result<std::unique_ptr<Array>> Service::open_read_only() {
  CALPE_CHECK(array::wait_for_lease(*deadlines_));
  CALPE_TRY(const array::Inspection found, array::inspect(*deadlines_));
  epoch_ = found.epoch;
  seen_lease_ = found.lease_id;
  overlay_ = std::make_unique<array::OverlayMembers>(*deadlines_);
  return Array::open(*overlay_, {.is_read_only = true});
}

Service::~Service() {
  stop();
}

void Service::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (lease_thread_.joinable()) lease_thread_.join();
}

void Service::start(Say say) {
  say_ = std::move(say);
  if (!options_.hook.empty()) {
    // Its own complaints do not run it again.
    hook_ = std::make_unique<HookRunner>(
        options_.hook, uuid_text(last_status_.now.uuid), [this](const std::string& line) {
          if (say_) say_({.name = "hook-failed", .message = line, .is_warning = true});
        });
  }
  deadlines_->after_fork();
  members_->use_uring();
  lease_thread_ = start_thread("calpe-lease", [this] { keep_lease(); });
  if (is_read_only()) return;
  for (const MemberStatus& member : array_->status().now.members) {
    const bool is_there = member.place < members_->count();
    if (member.can_return && !member.on_request && is_there) take_back(member.role);
  }
  thread_ = start_thread("calpe-upkeep", [this] { look_after(); });
}

Status Service::close() {
  stop();
  Status closed = is_read_only() ? Status(Done{}) : array_->close();
  hook_.reset();
  return closed;
}

void Service::say(const Event& event) const {
  if (say_) say_(event);
  if (hook_) hook_->add(event);
}

void Service::take_back(unsigned role) {
  const Status done = array_->readd(role);
  if (done) {
    say(member_back(role));
  } else {
    say({"member-refused", text("member ", role, " cannot rejoin: ", done.error().message), true,
         role});
  }
}

// --- requests ---

Status Service::check_writable() const {
  if (!is_read_only()) return Done{};
  return invalid("the array is served read-only; serve it without -r to change it");
}

Status Service::fail(unsigned role) {
  CALPE_CHECK(check_writable());
  CALPE_CHECK(array_->fail(role));
  wake();
  return Done{};
}

// Refuses a file or disk that holds data, if it were to become this member, or a spare (no_role).
Status Service::check_replaceable(const std::string& path, unsigned role) const {
  CALPE_TRY(const array::DiskContents contents, array::contents_of(path));
  const ArrayStatus status = array_->status();
  if (!contents.member || contents.member->array != status.now.uuid) {
    return array::check_blank(path);
  }
  for (const MemberStatus& member : status.now.members) {
    if (member.role == array::no_role || member.uuid != contents.member->member) continue;
    const Return found = array_->returning(*contents.member, member.role);
    if (found == Return::diverged) {
      return invalid(path, " is member ", member.role,
                     ", but was opened without the others (split brain) and may hold writes that "
                     "they lack; --force erases it");
    }
    if (member.role != role) {
      return invalid(path, " is member ", member.role, " of this array; use replace --member ",
                     member.role, " to put it back, or --force to erase it");
    }
  }
  return Done{};
}

Result<unsigned> Service::place_of(const std::string& path, unsigned role, bool is_forced) {
  const std::optional<unsigned> known = members_->slot_of(path);
  for (const MemberStatus& member : array_->status().now.members) {
    if (known && member.place == *known && member.state != MemberState::out &&
        member.state != MemberState::none && member.state != MemberState::spare) {
      return invalid(path, " and ", members_->path(*known), " are the same file: it is member ",
                     member.role, " and in use; choose another");
    }
    if (known && member.successor_place == *known)
      return invalid(path, " is about to replace member ", member.role, "; choose another");
  }
  // Its late writes could overwrite new ones.
  if (known && (deadlines_->hung() >> *known & 1U) != 0)
    return invalid(path, " does not answer; try again when it does, or choose another");
  if (!is_forced) CALPE_CHECK(check_replaceable(path, role));
  if (!known) return members_->add(path);
  CALPE_CHECK(members_->put(*known, path));
  removed_.erase(*known);
  return *known;
}

bool Service::is_member(unsigned role, unsigned place) {
  const auto found = array::inspect(*deadlines_);
  if (!found) return false;  // it belongs to another array
  return std::any_of(found->members.begin(), found->members.end(), [&](const MemberStatus& member) {
    return member.place == place && member.role == role;
  });
}

Status Service::replace(unsigned role, const std::string& path, bool is_forced) {
  CALPE_CHECK(check_writable());
  const std::lock_guard lock(change_mutex_);
  CALPE_TRY(const unsigned place, place_of(path, role, is_forced));
  // The member itself only needs the writes it missed, if they are known.
  if (!is_member(role, place) || !array_->readd(role)) {
    CALPE_CHECK(array_->replace(role, place));
  }
  wake();
  return Done{};
}

Status Service::retry(unsigned role) {
  CALPE_CHECK(check_writable());
  const std::lock_guard lock(change_mutex_);
  const ArrayStatus status = array_->status();
  for (const MemberStatus& member : status.now.members) {
    const bool is_hung = member.role == role && member.place < array::members_most &&
                         (deadlines_->hung() >> member.place & 1U) != 0;
    // Its late writes could overwrite new ones.
    if (is_hung) return invalid("member ", role, " does not answer; try again when it does");
  }
  CALPE_CHECK(array_->readd(role));
  wake();
  return Done{};
}

Status Service::add_spare(const std::string& path, bool is_forced) {
  CALPE_CHECK(check_writable());
  const std::lock_guard lock(change_mutex_);
  CALPE_TRY(const unsigned place, place_of(path, array::no_role, is_forced));
  CALPE_CHECK(array_->add(place));
  wake();
  return Done{};
}

Status Service::remove_spare(const std::string& path) {
  CALPE_CHECK(check_writable());
  const std::lock_guard lock(change_mutex_);
  const std::optional<unsigned> place = members_->slot_of(path);
  if (!place) return invalid(path, " is not a spare; calpe array status lists the spares");
  Status done = array_->remove_spare(*place);
  const bool is_refused = !done && done.error().code == ErrorCode::invalid_argument;
  if (is_refused) return done;
  members_->release(*place);
  removed_.insert(*place);
  return done;
}

void Service::measure_members() {
  for (unsigned place = 0; place < members_->count(); ++place)
    deadlines_->call(place, [files = members_, place] { files->measure(place); });
}

Result<std::uint64_t> Service::check_grow(std::uint64_t bytes) {
  CALPE_CHECK(check_writable());
  const std::lock_guard lock(change_mutex_);
  measure_members();
  return array::check_grow(*deadlines_, bytes);
}

Result<std::uint64_t> Service::grow(std::uint64_t bytes) {
  CALPE_CHECK(check_writable());
  const std::lock_guard lock(change_mutex_);
  measure_members();
  const std::uint64_t before = array_->bytes();
  CALPE_CHECK(array_->grow(bytes));
  const std::uint64_t now = array_->bytes();
  restart_scrub();
  wake();
  say({"array-grown", text("the array has grown from ", before, " to ", now, " bytes; clients see ",
                           "that when they connect again")});
  return now;
}

ServiceOptions Service::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

void Service::set_options(const ServiceOptions& options) {
  const std::lock_guard lock(mutex_);
  options_ = options;
  next_rebuild_ = next_scrub_ = {};
  changed_.notify_all();
}

void Service::set_paused(bool is_paused) {
  is_paused_ = is_paused;
  wake();
}

void Service::wake() {
  const std::lock_guard lock(mutex_);
  next_rebuild_ = {};
  is_woken_ = true;
  changed_.notify_all();
}

// --- threads ---

void Service::keep_lease() {
  const std::chrono::milliseconds between(options().lease_milliseconds);
  bool is_kept = true;
  while (true) {
    if (is_read_only()) {
      watch_for_writers();
    } else if (const Status renewed = array_->renew_lease(); !renewed && is_kept) {
      say({"lease-lost", text("lease: ", renewed.error().message), true});
      is_kept = false;
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, between, [&] { return is_ending_; })) return;
  }
}

// If another host opens the array for writing, our copy in memory is stale.
void Service::watch_for_writers() {
  const auto found = array::inspect(*deadlines_);
  if (found && (found->epoch != epoch_ || found->lease_id != seen_lease_))
    array_->stop("another server has opened the array for writing; restart this server");
}

void Service::look_after() {
  Clock::time_point next_look = {};
  while (true) {
    const Clock::time_point now = Clock::now();
    if (now >= next_look) {
      look_at_members();
      checkpoint_if_idle();
      begin_scrub_if_due();
      next_look = now + between_looks;
    }
    if (array_->is_log_half_full()) checkpoint();
    Clock::time_point next = std::min(now + sleep_most, next_look);
    next = std::min(next, rebuild_some(now));
    next = std::min(next, scrub_some(now));
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, next, [&] { return is_ending_ || is_woken_; });
    is_woken_ = false;
    if (is_ending_) return;
  }
}

Clock::time_point Service::rebuild_some(Clock::time_point now) {
  std::uint64_t rate = 0;
  bool takes_spares = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_paused_) return now + sleep_most;
    if (next_rebuild_ > now) return next_rebuild_;
    rate = options_.rebuild_rate;
    takes_spares = options_.takes_spares;
  }
  if (takes_spares) {
    const Result<bool> taken = array_->take_spare();
    if (taken && *taken) say({"spare-used", "a spare replaces a member that is out"});
  }
  const ArrayStatus status = array_->status();
  const bool is_copying =
      std::any_of(status.now.members.begin(), status.now.members.end(),
                  [](const MemberStatus& one) { return one.successor_place.has_value(); });
  if (!is_any(status, MemberState::rebuilding) && !is_copying) return now + sleep_most;
  const bool is_due = now - last_durable_progress_ >= progress_not_durable_most;
  if (is_due) last_durable_progress_ = now;
  const auto step =
      array_->rebuild_step(upkeep_step_bytes(rate), is_due ? Progress::now : Progress::when_due);
  tell_lost();
  if (is_copying) tell_replaced(status);
  const Clock::time_point end = Clock::now();
  const std::lock_guard lock(mutex_);
  if (!step) {
    say({"rebuild-failed", text("rebuild: ", step.error().message), true});
    return next_rebuild_ = end + between_looks;
  }
  if (step->is_complete) {
    if (!is_copying) say({"rebuild-complete", "rebuild complete"});
    return end;
  }
  next_rebuild_ = rebuild_pace_.after(upkeep_step_bytes(rate), rate, end);
  return next_rebuild_;
}

// At once, because the number is not stored.
void Service::tell_lost() {
  const ArrayStatus status = array_->status();
  if (status.blocks_lost > told_blocks_lost_) {
    say({"blocks-lost", text("WARNING: ", lost_text(status.blocks_lost, status.first_lost)), true});
  }
  told_blocks_lost_ = status.blocks_lost;
}

// Then the next start has nothing to replay.
void Service::checkpoint_if_idle() {
  const ArrayStatus status = array_->status();
  const Clock::time_point now = Clock::now();
  if (status.commits != commits_seen_) {
    commits_seen_ = status.commits;
    idle_since_ = now;
  }
  if (status.log_bytes_used == 0 || now - idle_since_ < idle_before_checkpoint) return;
  checkpoint();
}

void Service::checkpoint() {
  if (!array_->status().failed.empty()) return;
  if (const Status done = array_->checkpoint(); !done)
    say({"checkpoint-failed", text("checkpoint: ", done.error().message), true});
}

}  // namespace calpe::array
