// SPDX-License-Identifier: Apache-2.0
// One program on its way to compiled code: waiting for a compiler, being compiled beside us, then
// in use, or refused for a reason. Nobody waits for it unless asked to: whoever runs the kernel
// looks after it for a moment. docs/adr/0011.
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

// Thread-safe. Destroyed early, it ends its compiler.
class Build {
 public:
  // Name of the function in the source.
  static constexpr const char* function_name = "calpe_xor";

  // generic: a kernel of workplace->generic of the same program.
  Build(std::shared_ptr<Workplace> workplace, std::string source, KernelRef generic,
        const SampleShape& shape);
  // Refused before it began.
  explicit Build(std::string reason);

  // The compiled code, or null while there is none.
  Function* function() const noexcept { return function_.load(std::memory_order_acquire); }
  Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  bool is_settled() const noexcept { return phase() >= Phase::compiled; }
  // Why it failed; empty otherwise.
  std::string reason() const { return phase() == Phase::failed ? reason_ : std::string(); }
  // All that decides the compiled bytes (kernel_cache/identity.hpp).
  const std::string& content() const noexcept { return content_; }

  // Looks after it: never waits for the compiler. One caller at a time does, others return at once.
  // True when it is in use from now on.
  bool advance() noexcept;
  // Waits until it is settled.
  void finish();

 private:
  struct Running {
    Slot slot;
    TemporaryFolder folder;
    Subprocess process;  // last: ends before its folder goes
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

  std::mutex mutex_;  // of what follows, but for the atomics
  bool has_asked_disk_ = false;
  std::optional<Running> running_;
  std::optional<LoadedObject> object_;
  std::string reason_;  // written before phase_ says `failed`, never after
  std::atomic<Phase> phase_ = Phase::waiting;
  std::atomic<Function*> function_ = nullptr;
};

}  // namespace calpe::backend::openmp
