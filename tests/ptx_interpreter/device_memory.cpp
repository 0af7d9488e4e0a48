// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/device_memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace calpe::ptx {

namespace {

// The alignment that the driver guarantees, and a gap wide enough to catch a wrong stride.
constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t gap = std::uint64_t{1} << 20;
constexpr int stale = 0xA5;  // content of unwritten memory

}  // namespace

std::byte* MemoryView::find(std::uint64_t address, std::size_t bytes) const noexcept {
  const auto after = std::upper_bound(
      sorted_.begin(), sorted_.end(), address,
      [](std::uint64_t value, const AllocationRef& known) { return value < known->start; });
  if (after == sorted_.begin()) return nullptr;
  const Allocation& found = **std::prev(after);
  const std::uint64_t at = address - found.start;
  if (at > found.bytes || bytes > found.bytes - at) return nullptr;
  return found.memory.get() + at;
}

DeviceMemory::DeviceMemory(unsigned device)
    : next_(device_space + device * device_space_bytes + gap) {}

std::uint64_t DeviceMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ || used_ > limit_ - bytes) return 0;
  auto made = std::make_shared<Allocation>();
  made->start = next_;
  made->bytes = bytes;
  made->memory.reset(new std::byte[bytes]);
  std::memset(made->memory.get(), stale, bytes);
  used_ += bytes;
  next_ += (bytes + gap + alignment - 1) / alignment * alignment;
  const std::uint64_t start = made->start;
  allocations_.emplace(start, std::move(made));
  return start;
}

bool DeviceMemory::release(std::uint64_t start) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(start);
  if (found == allocations_.end()) return false;
  used_ -= found->second->bytes;
  allocations_.erase(found);
  return true;
}

AllocationRef DeviceMemory::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const AllocationRef& found = std::prev(after)->second;
  return address - found->start < found->bytes ? found : nullptr;
}

MemoryView DeviceMemory::view() const {
  const std::lock_guard lock(mutex_);
  std::vector<AllocationRef> all;
  all.reserve(allocations_.size());
  for (const auto& [start, allocation] : allocations_)
    all.push_back(allocation);
  return MemoryView(std::move(all));
}

void DeviceMemory::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

std::size_t DeviceMemory::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace calpe::ptx
