// SPDX-License-Identifier: Apache-2.0
// Compiles one program: waiting for a compiler, compiling in the background, then in use or refused
// with a reason. No thread waits for it unless asked to; callers that run the kernel also advance
// the build (docs/adr/0011).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "backend/openmp/first_use.hpp"
#include "backend/openmp/loaded_object.hpp"
#include "backend/openmp/workplace.hpp"
#include "base/files.hpp"
#include "base/subprocess.hpp"

namespace calpe::backend::openmp {

enum class Phase : std::uint8_t { waiting, compiling, compiled, failed };

// Thread-safe. Destroying it early ends its compiler.
class Build {
 public:
  // Function name in the source.
  static constexpr const char* function_name = "calpe_xor";

  // generic: a kernel of workplace->generic for the same program.
  Build(std::shared_ptr<Workplace> workplace, std::string source, KernelRef generic,
        const SampleShape& shape);
  // Refused before the start.
  explicit Build(std::string reason);

  // The compiled code, or null if not available yet.
  Function* function() const noexcept { return function_.load(std::memory_order_acquire); }
  Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  bool is_settled() const noexcept { return phase() >= Phase::compiled; }
  // Why it failed, or empty.
  std::string reason() const { return phase() == Phase::failed ? reason_ : std::string(); }
  // Everything that determines the compiled bytes (kernel_cache/identity.hpp).
  const std::string& content() const noexcept { return content_; }

  // Advances the build without waiting for the compiler. One caller at a time does it, others
  // return at once. Returns true when the code is in use from now on.
  bool advance() noexcept;
  // Waits until the build has succeeded or failed.
  void finish();

 private:
  struct Running {
    Slot slot;
    TemporaryFolder folder;
    Subprocess process;  // last member: ends before its directory is removed
  };

  bool step();
  void start();
  void read_object(const ExitStatus& status);
  void use(std::string_view object);
  void fail(std::string reason);

  std::shared_ptr<Workplace> workplace_;
  std::string source_;
  std::string content_;
  KernelRef generic_;
  SampleShape shape_ = {};

  std::mutex mutex_;  // guards the following, except the atomics
  bool has_asked_disk_ = false;
  std::optional<Running> running_;
  std::optional<LoadedObject> object_;
  std::string reason_;  // written before phase_ becomes `failed`, never afterwards
  std::atomic<Phase> phase_ = Phase::waiting;
  std::atomic<Function*> function_ = nullptr;
};

}  // namespace calpe::backend::openmp
