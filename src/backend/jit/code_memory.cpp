// SPDX-License-Identifier: Apache-2.0
#include "backend/jit/code_memory.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/divide_up.hpp"
#include "base/process_fork.hpp"
#include "base/text.hpp"

// From the compiler's run-time library: registers code for stack unwinders.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are its own
extern "C" void __register_frame(void* table);
extern "C" void __deregister_frame(void* table);
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace calpe::backend::jit {

namespace {

// DWARF .eh_frame for x86-64: one common entry, one function, an end. Everywhere, the canonical
// frame address is the stack pointer plus 8, with the return address just below it.
constexpr std::array<std::uint8_t, 20> common_entry = {
    16,   0,    0,  0,  // bytes that follow
    0,    0,    0,  0,  // this is a common entry
    1,    0,            // version, no augmentation
    1,    0x78, 16,     // code and data alignment (1, -8), return address is column 16
    0x0C, 7,    8,      // DW_CFA_def_cfa: rsp + 8
    0x90, 1,            // DW_CFA_offset: the return address at cfa - 8
    0,    0,            // DW_CFA_nop
};
constexpr std::size_t function_entry_bytes = 24;
constexpr std::size_t table_bytes = common_entry.size() + function_entry_bytes + 4;

// The table follows the code in the same pages, so both have the same lifetime.
void write_unwind_table(std::byte* at, const std::byte* code, std::size_t code_bytes) {
  std::memcpy(at, common_entry.data(), common_entry.size());
  std::byte* entry = at + common_entry.size();
  const std::uint32_t length = function_entry_bytes - 4;
  const auto back_to_common = static_cast<std::uint32_t>(common_entry.size() + 4);
  const std::uint64_t size = code_bytes;
  std::memset(entry, 0, function_entry_bytes + 4);  // length 0 also ends the table
  std::memcpy(entry, &length, 4);
  std::memcpy(entry + 4, &back_to_common, 4);
  std::memcpy(entry + 8, &code, 8);
  std::memcpy(entry + 16, &size, 8);
}

// Guards registration: the run-time library has its own lock, which a forked child could inherit
// locked. Never destroyed, because kernels may live until the process ends.
ForkMutex& table_list = *new ForkMutex;  // NOLINT(cert-err58-cpp): ends the program at its start

}  // namespace

Result<CodeMemory> CodeMemory::create(std::span<const std::byte> code) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t table_at = round_up(code.size(), 8);
  const std::size_t bytes = round_up(table_at + table_bytes, page);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return make_error(ErrorCode::out_of_memory, "cannot allocate ", bytes,
                      " bytes for machine code: ", std::strerror(errno));
  }
  CodeMemory memory;
  memory.pages_ = static_cast<std::byte*>(pages);
  memory.bytes_ = bytes;
  std::memcpy(memory.pages_, code.data(), code.size());
  write_unwind_table(memory.pages_ + table_at, memory.pages_, code.size());
  if (mprotect(pages, bytes, PROT_READ | PROT_EXEC) != 0) {
    return make_error(ErrorCode::backend_unavailable,
                      "the system forbids executable memory: ", std::strerror(errno));
  }
  memory.unwind_table_ = memory.pages_ + table_at;
  const std::lock_guard lock(table_list);
  __register_frame(memory.unwind_table_);
  return memory;
}

CodeMemory::CodeMemory(CodeMemory&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      unwind_table_(std::exchange(other.unwind_table_, nullptr)) {}

CodeMemory& CodeMemory::operator=(CodeMemory&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(bytes_, other.bytes_);
  std::swap(unwind_table_, other.unwind_table_);
  return *this;
}

CodeMemory::~CodeMemory() {
  if (unwind_table_ != nullptr) {
    const std::lock_guard lock(table_list);
    __deregister_frame(unwind_table_);
  }
  if (pages_ != nullptr) munmap(pages_, bytes_);
}

}  // namespace calpe::backend::jit
