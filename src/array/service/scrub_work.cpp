// SPDX-License-Identifier: Apache-2.0
// Scrubs of a service: on request, by schedule, and those that a restart interrupted. Their history
// is on the members (Array::record_scrub).
#include <algorithm>
#include <utility>

#include "array/service/service.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

using Clock = Pace::Clock;

namespace {

constexpr std::chrono::milliseconds sleep_most(100);
// After a scrub failed or was stopped, the schedule waits for this time, or its own if it is less.
constexpr std::int64_t retry_seconds = 24 * 3600;

std::int64_t unix_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// A time in the future is that of a clock that was wrong.
bool is_older(std::int64_t when, std::int64_t seconds, std::int64_t now) {
  return when > now || now - when >= seconds;
}

}  // namespace

void Service::load_scrubs() {
  scrubs_ = last_status_.now.scrub;
  if (scrubs_.next >= array_->bytes()) scrubs_.begun = 0;
  is_scrubbing_ = scrubs_.begun != 0 && options_.is_server && !is_read_only();
}

Status Service::begin_scrub() {
  CALPE_CHECK(check_writable());
  ScrubHistory begun;
  {
    const std::lock_guard lock(mutex_);
    if (is_scrubbing_) return Done{};  // one at a time
    scrubs_.begun = unix_time();
    scrubs_.next = 0;
    scrubs_.found = {};
    is_scrubbing_ = true;
    ++scrubs_begun_;
    why_no_scrub_.clear();
    begun = scrubs_;
    changed_.notify_all();
  }
  return array_->record_scrub(begun);
}

// The positions of a scrub have other meanings after the array has grown.
void Service::restart_scrub() {
  const std::lock_guard lock(mutex_);
  scrubs_.next = 0;
  ++scrubs_begun_;
}

void Service::stop_scrub() {
  ScrubHistory stopped;
  {
    const std::lock_guard lock(mutex_);
    is_scrubbing_ = false;
    scrubs_.begun = 0;
    no_scrub_since_ = unix_time();
    stopped = scrubs_;
  }
  if (!is_read_only()) static_cast<void>(array_->record_scrub(stopped));
}

ScrubState Service::scrub_state() const {
  const std::lock_guard lock(mutex_);
  ScrubState state;
  state.is_running = is_scrubbing_;
  state.all = array_->bytes();
  const bool is_begun = scrubs_.begun != 0;
  const ScrubHistory::Found& found = is_begun ? scrubs_.found : scrubs_.last_found;
  const std::uint64_t last = scrubs_.last_end != 0 ? state.all : 0;
  state.done = is_begun ? std::min(scrubs_.next, state.all) : last;
  state.found = found.wrong;
  state.repaired = found.repaired;
  state.columns_lost = found.lost;
  state.scrubs_ended = scrubs_.complete;
  state.last_end = scrubs_.last_end;
  state.why = why_no_scrub_;
  state.history = scrubs_;
  return state;
}

// Not while a member is out or rebuilding: redundancy comes first.
void Service::begin_scrub_if_due() {
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t every = options_.scrub_every_seconds;
    const std::int64_t now = unix_time();
    if (every == 0 || is_scrubbing_ || is_paused_) return;
    if (scrubs_.last_end != 0 && !is_older(scrubs_.last_end, every, now)) return;
    if (no_scrub_since_ != 0 && !is_older(no_scrub_since_, std::min(every, retry_seconds), now))
      return;
  }
  const ArrayStatus status = array_->status();
  const unsigned parity = status.now.settings.spec.parity_shards;
  if (!status.failed.empty() || status.now.may_fail != parity) return;
  if (begin_scrub()) say({"scrub-begun", "scrub begun by its schedule"});
}

// The results of a step. Returns false if the scrub was stopped in the meantime.
bool Service::note_scrubbed(const ScrubProgress& step, std::uint64_t number) {
  if (!is_scrubbing_ || number != scrubs_begun_) return false;
  for (const std::uint64_t wrong : step.blocks_wrong)
    scrubs_.found.wrong += wrong;
  scrubs_.found.repaired += step.blocks_repaired;
  scrubs_.found.lost += step.columns_lost + step.columns_contradicting;
  scrubs_.next = step.next;
  if (step.next < array_->bytes()) return true;
  is_scrubbing_ = false;
  ++scrubs_.complete;
  scrubs_.last_begun = std::exchange(scrubs_.begun, 0);
  scrubs_.last_end = unix_time();
  scrubs_.last_found = scrubs_.found;
  const ScrubHistory::Found& found = scrubs_.last_found;
  say({"scrub-complete",
       text("scrub complete: ", found.wrong, " wrong blocks found, ", found.repaired, " repaired"),
       found.wrong != 0});
  return true;
}

Clock::time_point Service::scrub_some(Clock::time_point now) {
  std::uint64_t rate = 0;
  std::uint64_t position = 0;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    // Checked under the lock, so that a scrub requested after a pause does not start.
    if (!is_scrubbing_ || is_paused_) return now + sleep_most;
    if (next_scrub_ > now) return next_scrub_;
    rate = options_.scrub_rate;
    position = scrubs_.next;
    number = scrubs_begun_;
  }
  const auto step = array_->scrub_step(position, upkeep_step_bytes(rate));
  tell_lost();
  const Clock::time_point end = Clock::now();
  ScrubHistory history;
  {
    const std::lock_guard lock(mutex_);
    if (!step) {
      say({"scrub-failed", text("scrub: ", step.error().message), true});
      is_scrubbing_ = false;
      no_scrub_since_ = unix_time();
      why_no_scrub_ = step.error().message;
      return end;
    }
    if (!note_scrubbed(*step, number)) return end;
    history = scrubs_;
    next_scrub_ = scrub_pace_.after(step->next - position, rate, end);
  }
  static_cast<void>(array_->record_scrub(history));  // it only fails if the array has failed
  const std::lock_guard lock(mutex_);
  return is_scrubbing_ ? next_scrub_ : end;
}

}  // namespace calpe::array
