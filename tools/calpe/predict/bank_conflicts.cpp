// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/bank_conflicts.hpp"

#include <algorithm>
#include <random>

namespace calpe::tools {

namespace {

unsigned request_of(const BankLayout& layout, unsigned address, unsigned thread) {
  switch (layout.serves) {
    case BankServes::byte_address:
      return address;
    case BankServes::word:
      return address / layout.word_bytes;
    case BankServes::thread:
      break;
  }
  return thread;
}

}  // namespace

double simulate_conflicts(const BankLayout& layout, unsigned trials, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<unsigned> any_byte(0, layout.table_bytes - 1);
  std::vector<std::vector<unsigned>> waiting(layout.banks);  // distinct requests per bank
  std::uint64_t turns = 0;
  for (unsigned trial = 0; trial < trials; ++trial) {
    for (auto& bank : waiting)
      bank.clear();
    std::size_t most = 0;
    for (unsigned thread = 0; thread < layout.threads; ++thread) {
      const unsigned address = any_byte(random);
      const unsigned request = request_of(layout, address, thread);
      auto& bank = waiting[address / layout.word_bytes % layout.banks];
      if (std::find(bank.begin(), bank.end(), request) != bank.end()) continue;
      bank.push_back(request);
      most = std::max(most, bank.size());
    }
    turns += most;
  }
  return static_cast<double>(turns) / trials;
}

std::vector<PublishedConflicts> published_conflicts() {
  return {
      {{.threads = 16, .banks = 16}, 2.92, "GeForce 200: a half-warp, 16 banks"},
      {{.threads = 16, .banks = 32}, 2.25, "32 banks for a half-warp"},
      {{.threads = 32, .banks = 32}, 3.15, "GeForce 400: a warp, 32 banks"},
      {{.threads = 8, .banks = 16}, 2.01, "four cores, or memory of one clock: 8 threads"},
      {{.threads = 4, .banks = 16}, 1.32, "two cores: 4 threads"},
      {{.threads = 2, .banks = 16}, 1.06, "one core: 2 threads"},
  };
}

}  // namespace calpe::tools
