// SPDX-License-Identifier: Apache-2.0
// calpe/device_memory.hpp — shards in device memory. This is where a GPU is worth it, because no
// data crosses the bus.
//
//   auto memory = calpe::DeviceMemory::allocate(codec, 14 * shard_bytes);
//   ... your kernel fills shards 0..9, or memory->write() does ...
//   clFinish(your_queue);  // OpenCL only; with CUDA, encode() waits for your streams
//   data[i] = memory->shard(i * shard_bytes, shard_bytes);  // i < 10
//   parity[j] = memory->shard((10 + j) * shard_bytes, shard_bytes);
//   codec.encode(data, parity);
//   ... the parity is complete: queue work that reads it, on any stream or queue ...
//
// Order with your own work. device_queue.hpp works in your own stream or queue, without a wait. All
// other calls wait. With CUDA, every call that reads or writes device memory first waits for all
// work queued so far in the context, on every stream (cuCtxSynchronize); work queued later may run
// at the same time. OpenCL has no such wait, so call clFinish() first on the queues that use the
// memory. With both, the coding work is complete when the call returns; for submit(), when wait()
// returns. Calls on host memory never wait.
//
// A device shard is an address that stands for device memory. Every function accepts it, also mixed
// with host memory, which is then copied. verify() and locate() copy device shards to the host in
// pieces. The host must not dereference the address unless the device shares the host's memory.
// If the device fails, the CPU cannot finish work on its memory, and the error is returned.
//
// A CUDA pointer need not be imported: shards in memory of the codec's GPU are recognised by their
// address, and those of another GPU are refused with invalid_argument.
//
// Use the memory only with codecs on its own device (equal Codec::backend()); it may outlive them.
// With a codec on the CPU it is ordinary host memory, so code written for a device also runs
// without one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <calpe/codec.hpp>

namespace calpe {

class DeviceMemory {
 public:
  // Allocates `bytes` >= 1 on the codec's device. Fails with out_of_memory or device_failed.
  static Result<DeviceMemory> allocate(const Codec& codec, std::size_t bytes);
  // Wraps the caller's CUdeviceptr or cl_mem. The caller keeps ownership; the memory must outlive
  // this object. Fails with invalid_argument if it is neither or is on another device. A cl_mem on
  // a device that does not share the host's memory must belong to native_context().
  static Result<DeviceMemory> import_cuda(const Codec& codec, std::uint64_t pointer,
                                          std::size_t bytes);
  static Result<DeviceMemory> import_opencl(const Codec& codec, void* buffer, std::size_t bytes);
  // Returns the codec's cl_context or CUcontext, or nullptr on the CPU.
  static void* native_context(const Codec& codec);

  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  ~DeviceMemory();  // all work on it must be complete

  std::size_t bytes() const noexcept;
  // Requires offset + bytes <= bytes().
  Shard shard(std::size_t offset, std::size_t bytes) const noexcept;

  // Copy between device and host; synchronous.
  Status read(std::size_t offset, Shard to) const;
  Status write(std::size_t offset, ConstShard from) const;

 private:
  friend class MappedMemory;
  struct Impl;
  explicit DeviceMemory(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// A part of a DeviceMemory that the host can read and write: the memory itself if it is shared,
// otherwise a copy that close() writes back.
class MappedMemory {
 public:
  static Result<MappedMemory> map(const DeviceMemory& memory, std::size_t offset,
                                  std::size_t bytes);
  MappedMemory(MappedMemory&&) noexcept;
  MappedMemory& operator=(MappedMemory&&) noexcept;
  ~MappedMemory();  // without close(), writes may be lost

  Shard bytes() const noexcept;
  Status close();

 private:
  struct Impl;
  explicit MappedMemory(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// Registers host memory that is coded often, so that the device can copy it directly. Affects only
// speed; does nothing on the CPU.
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

// Counters of the codec's device since it was opened, for all codecs that share it; all zero on the
// CPU. Seconds are device times, measured only if CALPE_PROFILE is set when the device is opened.
struct DeviceProfile {
  std::uint64_t builds = 0;  // programs compiled, without cache hits
  std::uint64_t launches = 0;
  std::uint64_t copy_in_bytes = 0;  // shard bytes only
  std::uint64_t copy_out_bytes = 0;
  double build_seconds = 0;
  double copy_in_seconds = 0;
  double kernel_seconds = 0;
  double copy_out_seconds = 0;
};
DeviceProfile device_profile(const Codec& codec);

}  // namespace calpe
