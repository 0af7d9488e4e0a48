// SPDX-License-Identifier: Apache-2.0
// Threads of a daemon, in one erasure code and in several that share plans. Also runs under TSan.
#include <atomic>
#include <random>
#include <thread>

#include "distributed/ceph/stripe.hpp"

namespace {

using ceph_host::Stripe;

constexpr unsigned parity_count = 3;

ceph::ErasureCodeInterfaceRef eight_plus_three() {
  return ceph_host::require_code({{"plugin", "calpe"}, {"k", "8"}, {"m", "3"}});
}

// One placement group: several threads of a daemon may be in the same erasure code.
TEST(Threads, ShareOneInstance) {
  const Stripe stripe(eight_plus_three(), 4096, 13);
  std::atomic<unsigned> wrong = 0, done = 0;
  std::vector<std::thread> threads;
  for (unsigned first = 0; first < 4; ++first) {
    threads.emplace_back([&stripe, &wrong, &done, first] {
      for (unsigned i = 0; i < 60; ++i) {
        // Buffers count references, so each thread has its own.
        const Stripe own(stripe.code, 4096, 100 + i % 3);
        const std::uint32_t lost = 0b101u << (first + i) % 9;
        ++done;
        if (!own.rebuilds(*own.code, own.all() & ~lost, lost)) ++wrong;
        if (!own.reads_back(*own.code, own.all() & ~lost)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(done, 240u);
}

// Each placement group has its own erasure code; all of them share plans.
TEST(Threads, SharePlansAndGetTheirBytes) {
  const Stripe stripe(eight_plus_three(), 4096, 12);
  std::atomic<unsigned> wrong = 0, done = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&stripe, &wrong, &done, seed, code = eight_plus_three()] {
      std::mt19937 random(seed / 2);  // two threads use the same patterns
      for (int i = 0; i < 400; ++i) {
        const auto lost = static_cast<std::uint32_t>(random() & stripe.all());
        if (lost == 0 || ceph_host::shard_count_of(lost) > static_cast<int>(parity_count)) continue;
        ++done;
        if (!stripe.rebuilds(*code, stripe.all() & ~lost, lost)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(done, 100u);
}

}  // namespace
