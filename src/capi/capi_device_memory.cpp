// SPDX-License-Identifier: Apache-2.0
// calpe.h: memory of devices.
#include <optional>

#include <calpe/device_memory.hpp>

#include "capi/capi_support.hpp"

using namespace calpe;
using namespace calpe::capi;

struct calpe_device_memory {
  DeviceMemory memory;
};
struct calpe_mapped_memory {
  MappedMemory mapped;
};
struct calpe_registered_memory {
  RegisteredMemory registered;
};

calpe_status calpe_device_memory_allocate(const calpe_codec* codec, size_t bytes,
                                          calpe_device_memory** out, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr) return null_argument("codec is NULL", error);
    return give(DeviceMemory::allocate(codec->codec, bytes), out, error);
  });
}

calpe_status calpe_device_memory_import_cuda(const calpe_codec* codec, uint64_t pointer,
                                             size_t bytes, calpe_device_memory** out,
                                             calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr) return null_argument("codec is NULL", error);
    return give(DeviceMemory::import_cuda(codec->codec, pointer, bytes), out, error);
  });
}

calpe_status calpe_device_memory_import_opencl(const calpe_codec* codec, void* buffer, size_t bytes,
                                               calpe_device_memory** out, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr) return null_argument("codec is NULL", error);
    return give(DeviceMemory::import_opencl(codec->codec, buffer, bytes), out, error);
  });
}

void* calpe_native_context(const calpe_codec* codec) {
  return DeviceMemory::native_context(codec->codec);
}

void calpe_device_memory_destroy(calpe_device_memory* memory) {
  delete memory;
}

void* calpe_device_memory_address(const calpe_device_memory* memory) {
  return memory->memory.shard(0, 0).data();
}

calpe_status calpe_device_memory_read(const calpe_device_memory* memory, size_t offset, void* to,
                                      size_t bytes, calpe_error* error) {
  return walled(error, [&] {
    if (memory == nullptr) return null_argument("memory is NULL", error);
    if (to == nullptr && bytes > 0) return null_argument("to is NULL", error);
    return finish(memory->memory.read(offset, {static_cast<std::byte*>(to), bytes}), error);
  });
}

calpe_status calpe_device_memory_write(const calpe_device_memory* memory, size_t offset,
                                       const void* from, size_t bytes, calpe_error* error) {
  return walled(error, [&] {
    if (memory == nullptr) return null_argument("memory is NULL", error);
    if (from == nullptr && bytes > 0) return null_argument("from is NULL", error);
    return finish(memory->memory.write(offset, {static_cast<const std::byte*>(from), bytes}),
                  error);
  });
}

calpe_status calpe_device_memory_map(const calpe_device_memory* memory, size_t offset, size_t bytes,
                                     calpe_mapped_memory** out, void** host, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr || host == nullptr) return null_argument("out or host is NULL", error);
    *out = nullptr;
    *host = nullptr;
    if (memory == nullptr) return null_argument("memory is NULL", error);
    const calpe_status status = give(MappedMemory::map(memory->memory, offset, bytes), out, error);
    if (*out != nullptr) *host = (*out)->mapped.bytes().data();
    return status;
  });
}

calpe_status calpe_device_memory_unmap(calpe_mapped_memory* mapped, calpe_error* error) {
  return walled(error, [&] {
    if (mapped == nullptr) return succeed(error);
    const Status closed = mapped->mapped.close();
    delete mapped;
    return finish(closed, error);
  });
}

calpe_status calpe_register_memory(const calpe_codec* codec, void* memory, size_t bytes,
                                   calpe_registered_memory** out, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr) return null_argument("codec is NULL", error);
    if (memory == nullptr) return null_argument("memory is NULL", error);
    return give(RegisteredMemory::create(codec->codec, {static_cast<std::byte*>(memory), bytes}),
                out, error);
  });
}

void calpe_unregister_memory(calpe_registered_memory* registered) {
  delete registered;
}

void calpe_codec_device_profile(const calpe_codec* codec, calpe_device_profile* profile) {
  const DeviceProfile from = device_profile(codec->codec);
  calpe_device_profile full{};
  full.builds = from.builds;
  full.launches = from.launches;
  full.copy_in_bytes = from.copy_in_bytes;
  full.copy_out_bytes = from.copy_out_bytes;
  full.build_seconds = from.build_seconds;
  full.copy_in_seconds = from.copy_in_seconds;
  full.kernel_seconds = from.kernel_seconds;
  full.copy_out_seconds = from.copy_out_seconds;
  write_struct(full, profile);
}
