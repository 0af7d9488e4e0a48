// SPDX-License-Identifier: Apache-2.0
#include "remote/set/change_lock.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/hex_digits.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/set/process_identity.hpp"

namespace calpe::remote {

namespace {

std::uint64_t random_mark() {
  const Uuid random = random_uuid();
  std::uint64_t mark = 0;
  std::memcpy(&mark, random.data() + 8, sizeof mark);
  return mark;
}

ChangeMark read_mark(Places& places, const Uuid& uuid, const MarkCopies& copies) {
  for (const MarkCopies::Copy& copy : copies.copies) {
    if (!places.is_up(copy.place) || copy.bytes > change_mark_bytes_max) continue;
    std::vector<std::byte> bytes(copy.bytes);
    if (!places[copy.place].place->read(mark_name(uuid, copies.number), bytes, 0)) continue;
    ChangeMark mark = parse_change_mark(bytes);
    if (!mark.verb.empty()) return mark;
  }
  return {};
}

void remove_mark(Places& places, const Uuid& uuid, std::uint64_t mark) {
  (void)places.on_each([&](std::size_t index) {  //
    return places[index].place->remove(mark_name(uuid, mark));
  });
}

std::string time_text(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc = {};
  std::array<char, 32> out = {};
  if (gmtime_r(&time, &utc) == nullptr) return "at an unknown time";
  std::strftime(out.data(), out.size(), "%Y-%m-%d %H:%M:%S UTC", &utc);
  return out.data();
}

std::string text_of(const ChangeMark& mark) {
  if (mark.verb.empty()) return "a command that left an unreadable mark";
  return text("calpe remote ", printable(mark.verb), " on ", printable(mark.host), " (process ",
              mark.process, ", begun ", time_text(mark.seconds), ")");
}

const RemoteSet* find_set(const std::vector<RemoteSet>& sets, const Uuid& uuid) {
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const RemoteSet& set) { return set.uuid == uuid; });
  return found == sets.end() ? nullptr : &*found;
}

// Commands with a mark on the set.
struct Others {
  std::string names;
  std::string next_step;        // options that take over
  bool may_have_ended = false;  // a mark was removed after it was listed
};

// Removes the marks of commands that have ended.
Others find_others(Places& places, const Uuid& uuid, std::uint64_t own,
                   const ChangeOptions& options) {
  Others others;
  const std::vector<RemoteSet> sets = sets_on(places);
  const RemoteSet* const set = find_set(sets, uuid);
  for (const MarkCopies& copies : set == nullptr ? std::vector<MarkCopies>() : set->marks) {
    if (copies.number == own) continue;
    const ChangeMark mark = read_mark(places, uuid, copies);
    const auto& named = options.taken_over;
    if (has_ended(mark) || std::find(named.begin(), named.end(), copies.number) != named.end()) {
      remove_mark(places, uuid, copies.number);
      continue;
    }
    others.names += (others.names.empty() ? "" : " and ") + text_of(mark);
    others.next_step += " --take-over " + hex_number(copies.number);
    others.may_have_ended = others.may_have_ended || mark.verb.empty();
  }
  return others;
}

// Writes the mark to all places and reads it back. A place that returns the number of another one
// is the same place under two names.
Status write_marks(Places& places, const Uuid& uuid, std::uint64_t number,
                   const std::string& verb) {
  const std::string name = mark_name(uuid, number);
  ChangeMark mark = mark_of_this_process();
  mark.verb = verb;
  std::vector<std::vector<std::byte>> written(places.size());
  for (std::size_t index = 0; index < places.size(); ++index) {
    mark.place = index;
    written[index] = to_bytes(mark);
  }
  CALPE_CHECK(places.on_all(
      [&](std::size_t index) { return places[index].place->put(name, written[index]); }));
  std::vector<std::size_t> sources(places.size());
  const auto read_back = [&](std::size_t index) -> Status {
    std::vector<std::byte> found(written[index].size());
    CALPE_CHECK(places[index].place->read(name, found, 0));
    const auto source = std::find(written.begin(), written.end(), found);
    sources[index] = static_cast<std::size_t>(source - written.begin());
    return Done{};
  };
  CALPE_CHECK(places.on_all(read_back));
  for (std::size_t index = 0; index < places.size(); ++index) {
    if (sources[index] == index) continue;
    if (sources[index] < places.size()) {
      return invalid(places.label(index), ": the same place as ", places.label(sources[index]),
                     "; give each place once");
    }
    return make_error(ErrorCode::io, places.label(index), ": ", name,
                      " has other bytes than were written; the place is not reliable");
  }
  return Done{};
}

}  // namespace

std::string describe_mark(Places& places, const Uuid& uuid, const MarkCopies& copies) {
  return text_of(read_mark(places, uuid, copies));
}

ChangeLock::ChangeLock(ChangeLock&& other) noexcept
    : places_(std::exchange(other.places_, nullptr)), uuid_(other.uuid_), mark_(other.mark_) {}

ChangeLock::~ChangeLock() {
  release();
}

void ChangeLock::release() noexcept {
  if (places_ == nullptr) return;
  try {
    remove_mark(*std::exchange(places_, nullptr), uuid_, mark_);
  } catch (const std::bad_alloc&) {  // the mark stays, and the next command removes it
  }
}

Result<ChangeLock> ChangeLock::acquire(Places& places, const Uuid& uuid,
                                       const ChangeOptions& options) {
  CALPE_CHECK(places.check_all_up());
  ChangeLock lock(places, uuid, random_mark());
  CALPE_CHECK(write_marks(places, uuid, lock.mark_, options.verb));
  CALPE_CHECK(places.list_tops());
  CALPE_CHECK(places.check_all_up());
  Others others = find_others(places, uuid, lock.mark_, options);
  if (others.may_have_ended) {
    CALPE_CHECK(places.list_tops());
    CALPE_CHECK(places.check_all_up());
    others = find_others(places, uuid, lock.mark_, options);
  }
  if (!others.names.empty()) {
    return make_error(
        ErrorCode::io, "set ", uuid_text(uuid).substr(0, 8), " is being changed by ", others.names,
        "; run this command again when it has ended; if it was killed, add", others.next_step);
  }
  CALPE_CHECK(places.list_tops());
  CALPE_CHECK(lock.check_listed());
  return lock;
}

Status ChangeLock::check_listed() const {
  const std::vector<RemoteSet> sets = sets_on(*places_);
  const RemoteSet* const set = find_set(sets, uuid_);
  // Other marks are of commands that see this one and end.
  std::vector<bool> has_mark(places_->size());
  for (const MarkCopies& copies : set == nullptr ? std::vector<MarkCopies>() : set->marks) {
    for (const MarkCopies::Copy& copy : copies.copies)
      has_mark[copy.place] = has_mark[copy.place] || copies.number == mark_;
  }
  for (std::size_t place = 0; place < has_mark.size(); ++place) {
    if (has_mark[place]) continue;
    return make_error(ErrorCode::io, places_->label(place),
                      ": the mark of this command is gone: ", "another command changed set ",
                      uuid_text(uuid_).substr(0, 8), " in the meantime; run this one again");
  }
  return Done{};
}

Result<RemoteSet> ChangeLock::list_set() const {
  CALPE_TRY(RemoteSet set, list_set_again(*places_, uuid_));
  CALPE_CHECK(places_->check_all_up());
  CALPE_CHECK(check_listed());
  return set;
}

}  // namespace calpe::remote
