// SPDX-License-Identifier: Apache-2.0
// Shared by all builds of a device: the compiler, the cache, the fallback device, and a limit on
// concurrent compilers.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/openmp/compiler.hpp"
#include "kernel_cache/disk_cache.hpp"

namespace calpe::backend::openmp {

struct Workplace {
  Compiler compiler = {};
  std::vector<std::string> flags = {};
  int threads = 1;  // of OpenMP
  std::chrono::milliseconds time_limit = {};
  std::optional<kernel::DiskCache> disk = {};
  std::unique_ptr<Device> generic = {};

  // A storage node that loses a disk requests a decoder per stripe layout at once. More compilers
  // than this would take the machine from its users.
  static constexpr unsigned compilers_max = 2;
  std::atomic<unsigned> compilers_running = 0;
};

// Permission to run a compiler, for its lifetime.
class Slot {
 public:
  static std::optional<Slot> take(std::shared_ptr<Workplace> workplace) {
    unsigned running = workplace->compilers_running.load();
    do {
      if (running >= Workplace::compilers_max) return std::nullopt;
    } while (!workplace->compilers_running.compare_exchange_weak(running, running + 1));
    return Slot(std::move(workplace));
  }
  Slot(Slot&&) noexcept = default;
  Slot& operator=(Slot&& other) noexcept {
    workplace_.swap(other.workplace_);
    return *this;
  }
  ~Slot() {
    if (workplace_) --workplace_->compilers_running;
  }

 private:
  explicit Slot(std::shared_ptr<Workplace> workplace) : workplace_(std::move(workplace)) {}
  std::shared_ptr<Workplace> workplace_;
};

}  // namespace calpe::backend::openmp
