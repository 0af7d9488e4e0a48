// SPDX-License-Identifier: Apache-2.0
// calpe/device_memory.hpp — shards that already live on a device: the case where a GPU pays, since
// nothing crosses the link.
//
//   auto memory = calpe::DeviceMemory::allocate(codec, 14 * shard_bytes);
//   ... a kernel of yours fills shards 0..9, or memory->write() ...
//   clFinish(your_queue);  // OpenCL only; with CUDA, encode() waits for your streams itself
//   data[i] = memory->shard(i * shard_bytes, shard_bytes);  // i < 10
//   parity[j] = memory->shard((10 + j) * shard_bytes, shard_bytes);
//   codec.encode(data, parity);
//   ... the parity is there: queue what reads it, on any stream or queue ...
//
// Order with your own work. Streams and queues are not part of this interface yet. With CUDA every
// call that reads or writes device memory first waits until all work queued so far in the context,
// on every stream, is done (cuCtxSynchronize); work queued later may run at the same time. OpenCL
// has no such wait: call clFinish() on the queues that use the memory first. With both, the work is
// done when the call returns, and of submit() when wait() returns. Host memory is never waited for.
//
// Such a shard is an address that stands for the place. Every call takes it like any other, mixed
// with host memory if need be (which is then copied); verify and locate copy it to the host piece
// by piece. Unless the device shares the host's memory the host must not read or write through it.
// Work on device memory cannot be finished by the CPU when the device fails: the error is returned.
//
// Only for codecs on the device that it was made for (equal Codec::backend()); it may outlive them.
// A codec on the CPU takes it for the host's memory, which it then is: code written for a device
// also runs without one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <calpe/codec.hpp>

namespace calpe {

class DeviceMemory {
 public:
  // `bytes` of memory on the codec's device, at least 1. Fails with out_of_memory or device_failed.
  static Result<DeviceMemory> allocate(const Codec& codec, std::size_t bytes);
  // What the caller has there, a CUdeviceptr or a cl_mem; it stays the caller's and must outlive
  // this object. Fails with invalid_argument when it is no such thing or lies elsewhere. A cl_mem
  // of a device that does not share the host's memory must belong to native_context().
  static Result<DeviceMemory> import_cuda(const Codec& codec, std::uint64_t pointer,
                                          std::size_t bytes);
  static Result<DeviceMemory> import_opencl(const Codec& codec, void* buffer, std::size_t bytes);
  // The codec's cl_context or CUcontext; nullptr for codecs on the CPU.
  static void* native_context(const Codec& codec);

  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  ~DeviceMemory();  // no work may use it any more

  std::size_t bytes() const noexcept;
  // offset + bytes must not exceed bytes().
  Shard shard(std::size_t offset, std::size_t bytes) const noexcept;

  // Copies between the device and the host; done when they return.
  Status read(std::size_t offset, Shard to) const;
  Status write(std::size_t offset, ConstShard from) const;

 private:
  friend class MappedMemory;
  struct Impl;
  explicit DeviceMemory(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// Part of a DeviceMemory that the host reads and writes for a while: the memory itself where it is
// shared, otherwise a copy that close() writes back.
class MappedMemory {
 public:
  static Result<MappedMemory> map(const DeviceMemory& memory, std::size_t offset,
                                  std::size_t bytes);
  MappedMemory(MappedMemory&&) noexcept;
  MappedMemory& operator=(MappedMemory&&) noexcept;
  ~MappedMemory();  // without close(), what was written may be lost

  Shard bytes() const noexcept;
  Status close();

 private:
  struct Impl;
  explicit MappedMemory(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// Host memory that is coded again and again, made known to the device so that it copies without a
// detour. Only speed; on the CPU it does nothing.
class RegisteredMemory {
 public:
  static Result<RegisteredMemory> create(const Codec& codec, Shard memory);
  RegisteredMemory(RegisteredMemory&&) noexcept;
  RegisteredMemory& operator=(RegisteredMemory&&) noexcept;
  ~RegisteredMemory();

 private:
  struct Impl;
  explicit RegisteredMemory(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// What the codec's device did since it was opened, for all codecs that share it. Zeros on the CPU.
// Seconds are the device's own and only measured when CALPE_PROFILE is set as it is opened.
struct DeviceProfile {
  std::uint64_t builds = 0;  // programs compiled; those found in the cache are not counted
  std::uint64_t launches = 0;
  std::uint64_t copy_in_bytes = 0;  // of shards
  std::uint64_t copy_out_bytes = 0;
  double build_seconds = 0;
  double copy_in_seconds = 0;
  double kernel_seconds = 0;
  double copy_out_seconds = 0;
};
DeviceProfile device_profile(const Codec& codec);

}  // namespace calpe
