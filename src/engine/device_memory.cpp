// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <calpe/device_memory.hpp>

#include "base/address.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_access.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/shard_lengths.hpp"

namespace calpe {

namespace {

constexpr std::align_val_t host_alignment{64};

Error empty_memory() {
  return invalid("the memory is empty: it was moved from");
}

}  // namespace

struct DeviceMemory::Impl {
  std::shared_ptr<backend::Device> device;
  std::byte* start = nullptr;
  std::size_t size = 0;

  Impl(std::shared_ptr<backend::Device> opened, std::size_t bytes)
      : device(std::move(opened)), size(bytes) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    // A hung device may still use the memory, so leak it.
    if (start == nullptr || device->may_still_write()) return;
    if (memory() != nullptr) {
      memory()->release(start);
    } else {
      ::operator delete(start, host_alignment);
    }
  }
  // nullptr: the device uses host memory.
  backend::DeviceMemory* memory() const { return device->memory(); }

  static Result<std::unique_ptr<Impl>> import(const Codec& codec, backend::HandleKind kind,
                                              std::uint64_t handle, std::size_t bytes) {
    auto impl = std::make_unique<Impl>(CodecAccess::device(codec), bytes);
    if (impl->device == nullptr) return moved_from();
    if (impl->memory() == nullptr) {
      return invalid("codec runs on ", impl->device->name(),
                     ", which has no memory of its own to import from");
    }
    CALPE_TRY(impl->start, impl->memory()->import(kind, handle, bytes));
    return impl;
  }

  Status check_range(std::size_t offset, std::size_t bytes) const {
    if (offset <= size && bytes <= size - offset) return Done{};
    return invalid("range of ", bytes, " bytes at ", offset, " is outside the memory of ", size,
                   " bytes");
  }
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (memory() != nullptr) return memory()->copy(to, from, bytes);
    if (bytes != 0) std::memcpy(to, from, bytes);
    return Done{};
  }
};

Result<DeviceMemory> DeviceMemory::allocate(const Codec& codec, std::size_t bytes) {
  return guarded([&]() -> Result<DeviceMemory> {
    if (bytes == 0) return invalid("bytes is 0; expected at least 1");
    // operator new would round such a length up to a small one.
    if (bytes > engine::shard_bytes_max) return out_of_memory();
    auto impl = std::make_unique<Impl>(CodecAccess::device(codec), bytes);
    if (impl->device == nullptr) return moved_from();
    if (impl->memory() == nullptr) {
      impl->start = static_cast<std::byte*>(::operator new(bytes, host_alignment));
    } else {
      CALPE_TRY(impl->start, impl->memory()->allocate(bytes));
    }
    return DeviceMemory(std::move(impl));
  });
}

Result<DeviceMemory> DeviceMemory::import_cuda(const Codec& codec, std::uint64_t pointer,
                                               std::size_t bytes) {
  return guarded([&]() -> Result<DeviceMemory> {
    CALPE_TRY(auto impl, Impl::import(codec, backend::HandleKind::cuda_pointer, pointer, bytes));
    return DeviceMemory(std::move(impl));
  });
}

Result<DeviceMemory> DeviceMemory::import_opencl(const Codec& codec, void* buffer,
                                                 std::size_t bytes) {
  return guarded([&]() -> Result<DeviceMemory> {
    CALPE_TRY(auto impl, Impl::import(codec, backend::HandleKind::opencl_buffer,
                                      reinterpret_cast<std::uint64_t>(buffer), bytes));
    return DeviceMemory(std::move(impl));
  });
}

void* DeviceMemory::native_context(const Codec& codec) {
  const auto device = CodecAccess::device(codec);
  backend::DeviceMemory* const memory = device ? device->memory() : nullptr;
  return memory == nullptr ? nullptr : pointer_at(memory->native_context());
}

DeviceMemory::DeviceMemory(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;
DeviceMemory::~DeviceMemory() = default;

std::size_t DeviceMemory::bytes() const noexcept {
  return impl_ ? impl_->size : 0;
}

Shard DeviceMemory::shard(std::size_t offset, std::size_t bytes) const noexcept {
  if (!impl_) return {};
  return {impl_->start + offset, bytes};
}

Status DeviceMemory::read(std::size_t offset, Shard to) const {
  return guarded([&]() -> Status {
    if (!impl_) return empty_memory();
    CALPE_CHECK(impl_->check_range(offset, to.size()));
    return impl_->copy(to.data(), impl_->start + offset, to.size());
  });
}

Status DeviceMemory::write(std::size_t offset, ConstShard from) const {
  return guarded([&]() -> Status {
    if (!impl_) return empty_memory();
    CALPE_CHECK(impl_->check_range(offset, from.size()));
    return impl_->copy(impl_->start + offset, from.data(), from.size());
  });
}

struct MappedMemory::Impl {
  const DeviceMemory* memory = nullptr;
  std::size_t offset = 0;
  Shard bytes = {};
  std::vector<std::byte> copy = {};  // empty: the view is the memory itself
};

Result<MappedMemory> MappedMemory::map(const DeviceMemory& memory, std::size_t offset,
                                       std::size_t bytes) {
  return guarded([&]() -> Result<MappedMemory> {
    if (!memory.impl_) return empty_memory();
    if (offset > memory.bytes() || bytes > memory.bytes() - offset) {
      return invalid("range of ", bytes, " bytes at ", offset, " is outside the memory of ",
                     memory.bytes(), " bytes");
    }
    auto impl = std::make_unique<Impl>();
    impl->memory = &memory;
    impl->offset = offset;
    if (memory.impl_->memory() == nullptr || memory.impl_->memory()->is_shared()) {
      impl->bytes = memory.shard(offset, bytes);
    } else {
      impl->copy.resize(bytes);
      CALPE_CHECK(memory.read(offset, impl->copy));
      impl->bytes = impl->copy;
    }
    return MappedMemory(std::move(impl));
  });
}

MappedMemory::MappedMemory(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
MappedMemory::MappedMemory(MappedMemory&&) noexcept = default;
MappedMemory& MappedMemory::operator=(MappedMemory&&) noexcept = default;
MappedMemory::~MappedMemory() = default;

Shard MappedMemory::bytes() const noexcept {
  return impl_ ? impl_->bytes : Shard();
}

Status MappedMemory::close() {
  if (!impl_) return empty_memory();
  if (impl_->copy.empty()) return Done{};
  return impl_->memory->write(impl_->offset, impl_->bytes);
}

struct RegisteredMemory::Impl {
  std::shared_ptr<backend::Device> device;
  std::byte* start = nullptr;

  Impl(std::shared_ptr<backend::Device> opened) : device(std::move(opened)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (start != nullptr) device->memory()->unregister_host(start);
  }
};

Result<RegisteredMemory> RegisteredMemory::create(const Codec& codec, Shard memory) {
  return guarded([&]() -> Result<RegisteredMemory> {
    auto impl = std::make_unique<Impl>(CodecAccess::device(codec));
    if (impl->device == nullptr) return moved_from();
    if (backend::DeviceMemory* const own = impl->device->memory(); own != nullptr) {
      CALPE_CHECK(own->register_host(memory.data(), memory.size()));
      impl->start = memory.data();
    }
    return RegisteredMemory(std::move(impl));
  });
}

RegisteredMemory::RegisteredMemory(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
RegisteredMemory::RegisteredMemory(RegisteredMemory&&) noexcept = default;
RegisteredMemory& RegisteredMemory::operator=(RegisteredMemory&&) noexcept = default;
RegisteredMemory::~RegisteredMemory() = default;

DeviceProfile device_profile(const Codec& codec) {
  const auto device = CodecAccess::device(codec);
  if (!device) return {};
  const backend::Profile profile = device->profile();
  return {.builds = profile.builds,
          .launches = profile.launches,
          .copy_in_bytes = profile.copy_in_bytes,
          .copy_out_bytes = profile.copy_out_bytes,
          .build_seconds = profile.build_seconds,
          .copy_in_seconds = profile.copy_in_seconds,
          .kernel_seconds = profile.kernel_seconds,
          .copy_out_seconds = profile.copy_out_seconds};
}

}  // namespace calpe
