// SPDX-License-Identifier: Apache-2.0
// Machine code that was made at run time: pages that are written first and executed after, never
// both, and that stack unwinders (profilers, debuggers, exceptions from signal handlers) know.
#pragma once
#include <cstddef>
#include <span>

#include <calpe/result.hpp>

namespace calpe::backend::jit {

class CodeMemory {
 public:
  // Copies `code`. It must be made of functions that leave the stack pointer and all callee-saved
  // registers as they are at every instruction: that is what unwinders are told. Fails with
  // out_of_memory, or with backend_unavailable where the system forbids executable pages.
  static Result<CodeMemory> create(std::span<const std::byte> code);

  CodeMemory(CodeMemory&& other) noexcept;
  CodeMemory& operator=(CodeMemory&& other) noexcept;
  ~CodeMemory();

  const std::byte* data() const noexcept { return pages_; }

 private:
  CodeMemory() = default;
  std::byte* pages_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* unwind_table_ = nullptr;
};

}  // namespace calpe::backend::jit
