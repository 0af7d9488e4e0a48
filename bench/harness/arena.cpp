// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/arena.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace calpe::bench {

namespace {
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
}

Result<Arena> Arena::create(std::size_t bytes, Pages pages) {
  const std::size_t rounded = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  const std::size_t mapped = rounded + huge_page_bytes;  // room to align
  void* const start =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return Error{ErrorCode::out_of_memory, "benchmark buffers need " + std::to_string(mapped) +
                                               " bytes: " + std::strerror(errno)};
  }
  Arena arena{{static_cast<std::byte*>(start), mapped}};
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t skip = (huge_page_bytes - address % huge_page_bytes) % huge_page_bytes;
  std::span<std::byte> aligned = arena.mapping_.subspan(skip, rounded);
  // Only a hint: without huge pages the run still works.
  if (pages != Pages::usual) {
    const int advice = pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    static_cast<void>(madvise(aligned.data(), aligned.size(), advice));
  }
  std::memset(aligned.data(), 0, aligned.size());
  arena.bytes_ = aligned.first(bytes);
  return arena;
}

Arena::~Arena() {
  if (!mapping_.empty()) munmap(mapping_.data(), mapping_.size());
}

}  // namespace calpe::bench
