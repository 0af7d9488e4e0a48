// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/memory_map.hpp"

#include <cstring>
#include <mutex>
#include <sys/mman.h>

#include "backend/gpu/fence.hpp"
#include "backend/gpu/lost_work.hpp"
#include "base/address.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// The entry that contains `address`, or end.
template <class Map, class Bytes>
auto entry_of(const Map& map, const std::byte* address, Bytes bytes_of) {
  auto next = map.upper_bound(address);
  if (next == map.begin()) return map.end();
  --next;
  const auto offset = static_cast<std::size_t>(address - next->first);
  return offset < bytes_of(next->second) ? next : map.end();
}

}  // namespace

Error not_ours(const DriverInfo& info, const std::byte* address) {
  return invalid("address ", reinterpret_cast<std::uint64_t>(address),
                 " is memory of another device, not of ", info.name,
                 "; use a codec on that device, or copy the shard first");
}

MemoryMap::~MemoryMap() {
  for (const auto& [start, range] : ranges_)
    drop(const_cast<std::byte*>(start), range);
}

Result<std::byte*> MemoryMap::add(const Place& place, std::size_t bytes, bool is_imported) {
  std::byte* start = pointer_at<std::byte>(place.at);
  const bool is_reserved = !driver_.info().has_unified_addresses;
  if (is_reserved) {
    void* const reserved =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
      return make_error(ErrorCode::out_of_memory, "no free address range of ", bytes, " bytes");
    }
    start = static_cast<std::byte*>(reserved);
  }
  const std::unique_lock lock(mutex_);
  ranges_[start] = {
      .bytes = bytes, .place = place, .is_imported = is_imported, .is_reserved = is_reserved};
  count_.fetch_add(1, std::memory_order_relaxed);
  return start;
}

void MemoryMap::drop(std::byte* start, const Range& range) {
  if (is_hung_.load(std::memory_order_acquire)) return;
  if (range.is_imported) {
    driver_.forget(range.place);
  } else {
    driver_.release(range.place);
  }
  if (range.is_reserved) munmap(start, range.bytes);
}

Result<std::byte*> MemoryMap::allocate(std::size_t bytes) {
  if (bytes == 0) return invalid("bytes is 0; expected at least 1");
  CALPE_TRY(const Place place, driver_.allocate(bytes));
  Result<std::byte*> start = add(place, bytes, false);
  if (!start) driver_.release(place);
  return start;
}

Result<std::byte*> MemoryMap::import(HandleKind kind, std::uint64_t handle, std::size_t bytes) {
  if (bytes == 0) return invalid("bytes is 0; expected at least 1");
  CALPE_TRY(const Place place, driver_.import(kind, handle, bytes));
  return add(place, bytes, true);
}

void MemoryMap::release(std::byte* start) {
  if (context_.is_lost()) return;  // hung work may still use it
  Range range;
  {
    const std::unique_lock lock(mutex_);
    const auto found = ranges_.find(start);
    if (found == ranges_.end()) return;
    range = found->second;
    ranges_.erase(found);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
  drop(start, range);
}

Owner MemoryMap::owner_of(const std::byte* address) const {
  if (find_mapped(address)) return Owner::device;
  return driver_.info().knows_owners ? driver_.owner_of(address) : Owner::host;
}

std::optional<Place> MemoryMap::find(const std::byte* address) const {
  if (std::optional<Place> place = find_mapped(address)) return place;
  if (!driver_.info().knows_owners || driver_.owner_of(address) != Owner::device) {
    return std::nullopt;
  }
  return Place{.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(address)};
}

std::optional<Place> MemoryMap::find_mapped(const std::byte* address) const {
  if (count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const std::shared_lock lock(mutex_);
  const auto found = entry_of(ranges_, address, [](const Range& r) { return r.bytes; });
  if (found == ranges_.end()) return std::nullopt;
  Place place = found->second.place;
  place.at += static_cast<std::uint64_t>(address - found->first);
  return place;
}

Status MemoryMap::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return Done{};
  for (const std::byte* const side : {static_cast<const std::byte*>(to), from}) {
    if (owner_of(side) == Owner::other_device) return not_ours(driver_.info(), side);
  }
  const std::optional<Place> target = find(to);
  const std::optional<Place> source = find(from);
  // Shared memory needs no command, which could hang and later write to host memory.
  if (is_shared() || (!target && !source)) {
    std::memcpy(target ? pointer_at<std::byte>(target->at) : to,
                source ? pointer_at<std::byte>(source->at) : from, bytes);
    return Done{};
  }
  CALPE_CHECK(context_.wait());
  CALPE_TRY(std::unique_ptr<Queue> queue, driver_.open_queue({}));
  const Status begun = target && source ? queue->copy_within(*target, *source, bytes)
                       : target         ? queue->copy_in(*target, from, bytes)
                                        : queue->copy_out(to, *source, bytes);
  Result<std::unique_ptr<Event>> event =
      begun ? queue->mark() : Result<std::unique_ptr<Event>>(begun.error());
  const Deadline end = std::chrono::steady_clock::now() + time_limit_;
  Status done = event ? (*event)->wait(time_until(end)) : Status(event.error());
  // The caller may free its side as soon as this returns.
  if (!done && !is_over(*queue, event, end)) {
    is_hung_.store(true, std::memory_order_release);
    keep_lost_work(std::move(queue), std::move(event));
  }
  return done;
}

Status MemoryMap::register_host(std::byte* memory, std::size_t bytes) {
  CALPE_CHECK(driver_.register_host(memory, bytes));
  const std::unique_lock lock(mutex_);
  registered_[memory] = bytes;
  return Done{};
}

void MemoryMap::unregister_host(std::byte* memory) {
  {
    const std::unique_lock lock(mutex_);
    if (registered_.erase(memory) == 0) return;
  }
  driver_.unregister_host(memory);
}

bool MemoryMap::is_registered(const std::byte* memory, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  if (registered_.empty()) return false;
  const auto found = entry_of(registered_, memory, [](std::size_t size) { return size; });
  return found != registered_.end() &&
         static_cast<std::size_t>(memory - found->first) + bytes <= found->second;
}

}  // namespace calpe::backend::gpu
