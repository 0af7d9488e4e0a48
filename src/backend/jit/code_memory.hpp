// SPDX-License-Identifier: Apache-2.0
// Machine code generated at run time. Pages are first written, then executable, never both. Stack
// unwinders (profilers, debuggers, exceptions from signal handlers) know them.
#pragma once
#include <cstddef>
#include <span>

#include <calpe/result.hpp>

namespace calpe::backend::jit {

class CodeMemory {
 public:
  // Copies `code`, which must consist of functions that never change the stack pointer or
  // callee-saved registers: unwinders are told so. Fails with out_of_memory, or with
  // backend_unavailable if the system forbids executable pages.
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
