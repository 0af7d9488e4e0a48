// SPDX-License-Identifier: Apache-2.0
// The memory of one device. Its addresses are invalid on the host, so confusing them faults. No
// address is reused and allocations have gaps, so that accesses beyond an allocation or after a
// free are detected.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace calpe::ptx {

struct Allocation {
  std::uint64_t start = 0;
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> memory = {};
};
using AllocationRef = std::shared_ptr<Allocation>;

// A snapshot of the allocations, which keeps them alive.
class MemoryView {
 public:
  explicit MemoryView(std::vector<AllocationRef> sorted) : sorted_(std::move(sorted)) {}
  // nullptr unless the whole range is in one allocation.
  std::byte* find(std::uint64_t address, std::size_t bytes) const noexcept;

 private:
  std::vector<AllocationRef> sorted_;
};

class DeviceMemory {
 public:
  explicit DeviceMemory(unsigned device);
  // Returns 0 if the limit would be exceeded.
  std::uint64_t allocate(std::size_t bytes);
  bool release(std::uint64_t start);
  AllocationRef find(std::uint64_t address) const;
  MemoryView view() const;
  void set_limit(std::size_t bytes);
  std::size_t limit() const;

 private:
  mutable std::mutex mutex_ = {};
  std::map<std::uint64_t, AllocationRef> allocations_ = {};
  std::uint64_t next_;
  std::size_t used_ = 0;
  std::size_t limit_ = std::size_t{1} << 30;
};

// The device that owns the address, or none.
inline constexpr std::uint64_t device_space = std::uint64_t{1} << 48;
inline constexpr std::uint64_t device_space_bytes = std::uint64_t{1} << 44;

}  // namespace calpe::ptx
