// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/hazards.hpp"

#include <algorithm>
#include <utility>

namespace calpe::ptx {

namespace {

bool overlap(std::vector<Interval>& a, std::vector<Interval>& b) {
  const auto by_start = [](const Interval& x, const Interval& y) { return x.start < y.start; };
  std::sort(a.begin(), a.end(), by_start);
  std::sort(b.begin(), b.end(), by_start);
  std::size_t i = 0;
  std::size_t j = 0;
  std::uint64_t a_end = 0;  // of all that begin earlier
  std::uint64_t b_end = 0;
  while (i < a.size() || j < b.size()) {
    const bool takes_a = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
    const Interval& next = takes_a ? a[i++] : b[j++];
    if (next.start < (takes_a ? b_end : a_end)) return true;
    std::uint64_t& end = takes_a ? a_end : b_end;
    end = std::max(end, next.end);
  }
  return false;
}

std::string find_conflict(Accesses& a, Accesses& b) {
  if (overlap(a.writes, b.writes)) {
    return "two streams write the same bytes, and none waits for the other";
  }
  if (overlap(a.writes, b.reads) || overlap(a.reads, b.writes)) {
    return "a stream reads what another one writes, and none waits for the other";
  }
  return "";
}

}  // namespace

Hazards& Hazards::instance() {
  static Hazards& hazards = *new Hazards;
  return hazards;
}

std::uint64_t Hazards::add_stream() {
  const std::lock_guard lock(mutex_);
  streams_.emplace(++stream_count_, StreamState{});
  return stream_count_;
}

RecordRef Hazards::begin(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  StreamState& own = streams_[stream];
  auto record = std::make_shared<OperationRecord>();
  record->number = ++own.last;
  for (auto& [other, state] : streams_) {
    if (other == stream) continue;
    for (const RecordRef& open : state.open) {
      const auto waited = own.ordered.find(other);
      if (waited != own.ordered.end() && open->number <= waited->second) continue;
      record->unordered.push_back(open);
      if (!open->is_done) open->unordered.push_back(record);
    }
  }
  own.open.push_back(record);
  return record;
}

std::string Hazards::finish(const RecordRef& record, Accesses accesses) {
  const std::lock_guard lock(mutex_);
  record->accesses = std::move(accesses);
  record->is_done = true;
  std::string conflict;
  for (const RecordRef& other : record->unordered) {
    if (!other->is_done || !conflict.empty()) continue;
    conflict = find_conflict(record->accesses, other->accesses);
  }
  // The others have this one in their lists.
  record->unordered.clear();
  return conflict;
}

Clock Hazards::clock(std::uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return {};
  Clock all = found->second.ordered;
  all[stream] = found->second.last;
  return all;
}

void Hazards::know(const Clock& done) {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, number] : done) {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) continue;
    std::deque<RecordRef>& open = found->second.open;
    while (!open.empty() && open.front()->number <= number)
      open.pop_front();
    if (open.empty() && found->second.is_closed) streams_.erase(found);
  }
}

void Hazards::close_stream(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.is_closed = true;
  if (found->second.open.empty()) streams_.erase(found);
}

void Hazards::order(std::uint64_t stream, const Clock& before) {
  const std::lock_guard lock(mutex_);
  Clock& ordered = streams_[stream].ordered;
  for (const auto& [other, number] : before) {
    if (other == stream) continue;
    std::uint64_t& known = ordered[other];
    known = std::max(known, number);
  }
}

void Hazards::clear() {
  const std::lock_guard lock(mutex_);
  for (auto& [stream, state] : streams_) {
    for (const RecordRef& record : state.open)
      record->unordered.clear();
    state.open.clear();
  }
  std::erase_if(streams_, [](const auto& stream) { return stream.second.is_closed; });
}

}  // namespace calpe::ptx
