// SPDX-License-Identifier: Apache-2.0
// What a daemon asks of one call: no memory except the buffers.
#include <cstdlib>
#include <new>

#include "distributed/ceph/stripe.hpp"

namespace {

thread_local unsigned allocations = 0;

void* allocate(std::size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The plugin finds them in this program and uses them too.
void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
// Sorting takes this one, and gives it back through those below.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace {

using ceph_host::Stripe;

constexpr unsigned data_count = 8, parity_count = 3;

ceph::ErasureCodeInterfaceRef eight_plus_three() {
  return ceph_host::require_code({{"plugin", "calpe"}, {"k", "8"}, {"m", "3"}});
}

TEST(Calls, AllocateOnlyWhatBuffersNeed) {
  const Stripe stripe(eight_plus_three(), 4096, 11);
  const ceph::bufferlist object = ceph_host::list_of(stripe.object);
  const std::set<int> all = ceph_host::shards_in(stripe.all());
  const ceph::Chunks survivors = stripe.only(stripe.all() & ~0b111u);
  for (int call = 0; call < 3; ++call) {
    ceph::Chunks encoded;
    allocations = 0;
    ASSERT_EQ(stripe.code->encode(all, object, &encoded), 0);
    const unsigned for_encode = allocations;
    ceph::bufferlist whole;
    allocations = 0;
    ASSERT_EQ(stripe.code->decode_concat(survivors, &whole), 0);
    const unsigned for_decode = allocations;
    if (call == 0) continue;  // the first call makes the plan
    // For each chunk a node of the map and one of its list; one buffer.
    EXPECT_GT(for_encode, 0u);
    EXPECT_LE(for_encode, 2 * (data_count + parity_count) + 1);
    EXPECT_GT(for_decode, 0u);
    EXPECT_LE(for_decode, data_count + 1);
  }
}

}  // namespace
