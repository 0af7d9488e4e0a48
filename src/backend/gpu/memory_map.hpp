// SPDX-License-Identifier: Apache-2.0
// Maps addresses to device memory. If device and host share one address space, uses the driver's.
// Otherwise reserves an inaccessible address range for each buffer, so that a host access by
// mistake faults and no memory of the host has the same address.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <shared_mutex>

#include "backend/backend.hpp"
#include "backend/gpu/context_wait.hpp"
#include "backend/gpu/driver.hpp"

namespace calpe::backend::gpu {

// The error for memory of another device.
Error not_ours(const DriverInfo& info, const std::byte* address);

class MemoryMap : public DeviceMemory {
 public:
  MemoryMap(Driver& driver, ContextWait& context, std::chrono::milliseconds time_limit)
      : driver_(driver), context_(context), time_limit_(time_limit) {}
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;
  ~MemoryMap() override;

  Result<std::byte*> allocate(std::size_t bytes) override;
  Result<std::byte*> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) override;
  void release(std::byte* start) override;
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes) override;
  bool holds(const std::byte* address) const override { return owner_of(address) != Owner::host; }
  bool is_shared() const override { return driver_.info().shares_memory; }
  Status register_host(std::byte* memory, std::size_t bytes) override;
  void unregister_host(std::byte* memory) override;
  std::uint64_t native_context() const override { return driver_.native_context(); }

  // Memory of this device need not be imported if the driver knows it by its address.
  Owner owner_of(const std::byte* address) const;
  // Location of the byte; nullopt if it is not on this device.
  std::optional<Place> find(const std::byte* address) const;
  bool is_registered(const std::byte* memory, std::size_t bytes) const;
  // True if everything is host memory, to skip the lookup.
  bool is_empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0 && !driver_.info().knows_owners;
  }

 private:
  struct Range {
    std::size_t bytes = 0;
    Place place = {};
    bool is_imported = false;
    bool is_reserved = false;  // we reserved the address range; it has no memory
  };
  Result<std::byte*> add(const Place& place, std::size_t bytes, bool is_imported);
  std::optional<Place> find_mapped(const std::byte* address) const;
  void drop(std::byte* start, const Range& range);

  Driver& driver_;
  ContextWait& context_;
  std::chrono::milliseconds time_limit_;
  mutable std::shared_mutex mutex_;
  std::map<const std::byte*, Range> ranges_;
  std::map<const std::byte*, std::size_t> registered_;
  std::atomic<std::size_t> count_ = 0;
  // A copy hung and may still access memory on either side, so none is returned to the driver.
  std::atomic<bool> is_hung_ = false;
};

}  // namespace calpe::backend::gpu
