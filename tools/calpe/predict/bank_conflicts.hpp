// SPDX-License-Identifier: Apache-2.0
// Simulates bank conflicts of threads that look up random bytes of a table in banked memory.
// Reproduces the numbers of M. L. Curry et al., "Gibraltar" (2011), sections 4 and 6.
//
// Model: a table of 256 bytes in words of 4 bytes, word i in bank i mod banks. Each thread looks up
// one random byte. A bank serves one *byte address* per turn, to all threads that want that byte,
// and the slowest bank decides. Example: 16 threads and 16 banks take 2.92 turns on average. If a
// bank served a whole word per turn, it would be 2.47.
#pragma once
#include <cstdint>
#include <vector>

namespace calpe::tools {

// Unit that a bank serves per turn.
enum class BankServes : std::uint8_t { byte_address, word, thread };

struct BankLayout {
  unsigned threads = 16;
  unsigned banks = 16;
  unsigned table_bytes = 256;
  unsigned word_bytes = 4;
  BankServes serves = BankServes::byte_address;
};

// Returns the average number of turns until all threads have their byte.
double simulate_conflicts(const BankLayout& layout, unsigned trials, std::uint64_t seed);

struct PublishedConflicts {
  BankLayout layout;
  double published = 0;
  const char* meaning = "";
};
// All six configurations of the paper.
std::vector<PublishedConflicts> published_conflicts();

}  // namespace calpe::tools
