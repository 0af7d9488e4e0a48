// SPDX-License-Identifier: Apache-2.0
// Driver functions for device and host memory, and copies between them.
#include <cstdlib>
#include <cstring>

#include "ptx_interpreter/driver_state.hpp"

using namespace calpe::ptx;
using calpe::text;

namespace {

constexpr std::size_t page_bytes = 4096;

std::uint64_t host_address(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (address == 0 || address >= device_space) {
    throw PtxError(invalid_value, "not an address of host memory");
  }
  return address;
}

// Throws PtxError unless the whole range is allocated on the device.
std::byte* device_memory(const Device& device, std::uint64_t address, std::size_t bytes) {
  const AllocationRef found = device.memory.find(address);
  if (found == nullptr || bytes > found->bytes - (address - found->start)) {
    throw PtxError(
        invalid_value,
        text("copy of ", bytes, " bytes outside of any allocation of device ", device.index));
  }
  return found->memory.get() + (address - found->start);
}

std::shared_ptr<Stream> find_stream(void* handle) {
  auto stream = DriverState::instance().find_stream(handle);
  if (&stream->device != &need_device()) {
    throw PtxError(invalid_handle, "stream of another device than the current one");
  }
  return stream;
}

struct Copy {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::size_t bytes = 0;
  bool to_is_device = false;
  bool from_is_device = false;
};

Accesses accesses_of(const Copy& copy) {
  return {.reads = {{copy.from, copy.from + copy.bytes}},
          .writes = {{copy.to, copy.to + copy.bytes}}};
}

void run_copy(const Device& device, const Copy& copy) {
  auto* to = copy.to_is_device ? device_memory(device, copy.to, copy.bytes)
                               : reinterpret_cast<std::byte*>(copy.to);
  const auto* from = copy.from_is_device ? device_memory(device, copy.from, copy.bytes)
                                         : reinterpret_cast<const std::byte*>(copy.from);
  std::memmove(to, from, copy.bytes);
}

void count_copy(const Copy& copy) {
  if (copy.to_is_device == copy.from_is_device) return;
  Controls::instance().add_copy(copy.to_is_device ? copy.bytes : 0,
                                copy.to_is_device ? 0 : copy.bytes);
}

// Checks everything now, as the driver does, and again when the copy runs.
Result queue_copy(const Copy& copy, void* handle) {
  const auto stream = find_stream(handle);
  Device& device = stream->device;
  if (copy.to_is_device) device_memory(device, copy.to, copy.bytes);
  if (copy.from_is_device) device_memory(device, copy.from, copy.bytes);
  count_copy(copy);
  stream->push({.work =
                    [&device, copy](Accesses& accesses) {
                      run_copy(device, copy);
                      accesses = accesses_of(copy);
                    },
                .spans = {{copy.to, copy.bytes}, {copy.from, copy.bytes}},
                .is_slowed = true});
  return success;
}

Result copy_now(const Copy& copy) {
  Device& device = need_device();
  device.wait_idle();
  if (device.lost_code() != 0) return static_cast<Result>(device.lost_code());
  run_copy(device, copy);
  count_copy(copy);
  return success;
}

void check_host_unused(std::uint64_t start, std::size_t bytes) {
  for (const auto& device : DriverState::instance().devices)
    device->check_unused(start, bytes);
}

}  // namespace

CALPE_PTX_EXPORT int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  return driver_call("cuMemAlloc_v2", true, [&] {
    need(address);
    if (bytes == 0) throw PtxError(invalid_value, "allocation of 0 bytes");
    *address = need_device().memory.allocate(bytes);
    if (*address == 0) return out_of_memory;
    Controls::instance().add_allocations(1);
    return success;
  });
}

CALPE_PTX_EXPORT int cuMemFree_v2(std::uint64_t address) {
  return driver_call("cuMemFree_v2", false, [&] {
    Device& device = need_device();
    if (address == 0) return success;
    const AllocationRef found = device.memory.find(address);
    if (found == nullptr || found->start != address) {
      throw PtxError(invalid_value,
                     text("no allocation of device ", device.index, " starts there"));
    }
    device.check_unused(address, found->bytes);
    device.memory.release(address);
    Controls::instance().add_allocations(-1);
    return success;
  });
}

CALPE_PTX_EXPORT int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return driver_call("cuMemHostAlloc", true, [&] {
    need(memory);
    need_device();
    const std::size_t rounded = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    *memory = std::aligned_alloc(page_bytes, rounded);
    if (*memory == nullptr) return out_of_memory;
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    state.host_allocations[host_address(*memory)] = bytes;
    return success;
  });
}

CALPE_PTX_EXPORT int cuMemFreeHost(void* memory) {
  return driver_call("cuMemFreeHost", false, [&] {
    need_device();
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    const auto found = state.host_allocations.find(host_address(memory));
    if (found == state.host_allocations.end()) {
      throw PtxError(invalid_value, "host memory not allocated by cuMemHostAlloc");
    }
    check_host_unused(found->first, found->second);
    state.host_allocations.erase(found);
    std::free(memory);
    return success;
  });
}

CALPE_PTX_EXPORT int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned /*flags*/) {
  return driver_call("cuMemHostRegister_v2", true, [&] {
    need_device();
    const std::uint64_t start = host_address(memory);
    if (bytes == 0) throw PtxError(invalid_value, "registration of 0 bytes");
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    for (const auto& [known, known_bytes] : state.host_registered) {
      if (known < start + bytes && start < known + known_bytes) {
        return host_memory_already_registered;
      }
    }
    state.host_registered[start] = bytes;
    return success;
  });
}

CALPE_PTX_EXPORT int cuMemHostUnregister(void* memory) {
  return driver_call("cuMemHostUnregister", false, [&] {
    need_device();
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    const auto found = state.host_registered.find(host_address(memory));
    if (found == state.host_registered.end()) return host_memory_not_registered;
    check_host_unused(found->first, found->second);
    state.host_registered.erase(found);
    return success;
  });
}

CALPE_PTX_EXPORT int cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
  return driver_call("cuPointerGetAttribute", true, [&] {
    need(value);
    const auto put = [&](auto number) { std::memcpy(value, &number, sizeof number); };
    for (const auto& device : DriverState::instance().devices) {
      const AllocationRef found = device->memory.find(address);
      if (found == nullptr) continue;
      switch (attribute) {
        case 2:
          put(2U);
          return success;  // memory type: device
        case 9:
          put(device->index);
          return success;  // ordinal
        case 11:
          put(found->start);
          return success;  // start of the range
        case 12:
          put(found->bytes);
          return success;  // its size
        default:
          throw PtxError(invalid_value, text("unknown attribute ", attribute));
      }
    }
    DriverState& state = DriverState::instance();
    const std::lock_guard lock(state.mutex);
    for (const auto& [start, bytes] : state.host_allocations) {
      if (address - start < bytes && attribute == 2) {
        put(1U);  // memory type: host
        return success;
      }
    }
    return invalid_value;  // the driver's answer for unknown memory
  });
}

CALPE_PTX_EXPORT int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes,
                                          void* stream) {
  return driver_call("cuMemcpyHtoDAsync_v2", true, [&] {
    return queue_copy({to, host_address(from), bytes, true, false}, stream);
  });
}

CALPE_PTX_EXPORT int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes,
                                          void* stream) {
  return driver_call("cuMemcpyDtoHAsync_v2", true, [&] {
    return queue_copy({host_address(to), from, bytes, false, true}, stream);
  });
}

CALPE_PTX_EXPORT int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes,
                                          void* stream) {
  return driver_call("cuMemcpyDtoDAsync_v2", true, [&] {
    return queue_copy({to, from, bytes, true, true}, stream);
  });
}

CALPE_PTX_EXPORT int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return driver_call("cuMemcpyHtoD_v2", true, [&] {
    return copy_now({to, host_address(from), bytes, true, false});
  });
}

CALPE_PTX_EXPORT int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return driver_call("cuMemcpyDtoH_v2", true, [&] {
    return copy_now({host_address(to), from, bytes, false, true});
  });
}
