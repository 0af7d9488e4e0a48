// SPDX-License-Identifier: Apache-2.0
#include "engine/run/inherited_memory.hpp"

#include "base/text.hpp"

namespace calpe::engine {

namespace {

class InheritedMemory final : public backend::DeviceMemory {
 public:
  Result<std::byte*> allocate(std::size_t) override { return refusal(); }
  Result<std::byte*> import(backend::HandleKind, std::uint64_t, std::size_t) override {
    return refusal();
  }
  void release(std::byte*) override {}
  Status copy(std::byte*, const std::byte*, std::size_t) override { return refusal(); }
  bool holds(const std::byte*) const override { return false; }
  bool is_shared() const override { return false; }
  Status register_host(std::byte*, std::size_t) override { return refusal(); }
  void unregister_host(std::byte*) override {}
  std::uint64_t native_context() const override { return 0; }

 private:
  static Error refusal() {
    return make_error(ErrorCode::device_failed,
                      "device memory belongs to the parent process and cannot be used after "
                      "fork(): allocate it in the process that uses it");
  }
};

constinit InheritedMemory memory;

}  // namespace

backend::DeviceMemory& inherited_memory() noexcept {
  return memory;
}

}  // namespace calpe::engine
