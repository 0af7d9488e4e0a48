// SPDX-License-Identifier: Apache-2.0
// Pages of memory that can be made inaccessible or read-only. Failures abort.
#pragma once
#include <cstddef>
#include <cstdlib>

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace calpe::tests::pages {

#if defined(_WIN32)

inline std::size_t page_bytes() {
  SYSTEM_INFO about;
  GetSystemInfo(&about);
  return about.dwPageSize;
}

// Inaccessible pages.
inline std::byte* reserve(std::size_t bytes) {
  void* const memory = VirtualAlloc(nullptr, bytes, MEM_COMMIT | MEM_RESERVE, PAGE_NOACCESS);
  if (memory == nullptr) std::abort();
  return static_cast<std::byte*>(memory);
}

inline void release(std::byte* memory, std::size_t) {
  VirtualFree(memory, 0, MEM_RELEASE);
}

// Makes pages readable, and writable if `writes`.
inline void allow(std::byte* memory, std::size_t bytes, bool writes) {
  DWORD before = 0;
  if (VirtualProtect(memory, bytes, writes ? PAGE_READWRITE : PAGE_READONLY, &before) == 0)
    std::abort();
}

#else

inline std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

inline std::byte* reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<std::byte*>(memory);
}

inline void release(std::byte* memory, std::size_t bytes) {
  munmap(memory, bytes);
}

inline void allow(std::byte* memory, std::size_t bytes, bool writes) {
  if (mprotect(memory, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ) != 0) std::abort();
}

#endif

}  // namespace calpe::tests::pages
