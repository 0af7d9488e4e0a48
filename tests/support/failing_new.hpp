// SPDX-License-Identifier: Apache-2.0
// Replaces the global operator new and delete to count allocations and to fail on request. Include
// it in one file of a program.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace calpe::tests::allocations {

inline std::atomic<long> live = 0;   // allocations not yet freed
inline std::atomic<long> total = 0;  // all allocations
inline std::atomic<long> until_failure = 0;
inline std::atomic<bool> goes_on_failing = false;

// Makes the n-th allocation from now fail, and all later ones if `goes_on`.
inline void fail_from(long n, bool goes_on) {
  goes_on_failing = goes_on;
  until_failure = n;
}

// True if an allocation has failed since fail_from().
inline bool stop_failing() {
  const long left = until_failure.exchange(0);
  return left < 0;
}

// 0 = off, positive = allocations until the failure, negative = has failed.
inline bool fails_now() {
  if (until_failure == 0) return false;
  if (until_failure < 0) return goes_on_failing;
  if (--until_failure > 0) return false;
  until_failure = -1;
  return true;
}

inline void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails_now()) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  ++live;
  ++total;
  return memory;
}

inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void release(void* memory) noexcept {
  if (memory == nullptr) return;
  --live;
  std::free(memory);
}

inline constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace calpe::tests::allocations

void* operator new(std::size_t bytes) {
  return calpe::tests::allocations::allocate_or_throw(bytes, calpe::tests::allocations::usual);
}
void* operator new[](std::size_t bytes) {
  return ::operator new(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return calpe::tests::allocations::allocate_or_throw(bytes, std::size_t(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return ::operator new(bytes, alignment);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return calpe::tests::allocations::allocate(bytes, calpe::tests::allocations::usual);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return ::operator new(bytes, tag);
}
void operator delete(void* memory) noexcept {
  calpe::tests::allocations::release(memory);
}
void operator delete[](void* memory) noexcept {
  ::operator delete(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  ::operator delete(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  ::operator delete(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  ::operator delete(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  ::operator delete(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  ::operator delete(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  ::operator delete(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  ::operator delete(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  ::operator delete(memory);
}
