// SPDX-License-Identifier: Apache-2.0
// How often threads that look up random bytes of a table in banked memory wait for each other: the
// figures of M. L. Curry et al., "Gibraltar" (2011), sections 4 and 6, by simulation.
//
// The rule that gives them: a table of 256 bytes, words of 4 bytes, word i in bank i mod banks;
// each of `threads` looks up one byte, all equally likely; a bank serves one *byte address* at a
// time, to all threads that want that byte; the slowest bank decides. Example: 16 threads and 16
// banks take 2.92 turns. Were a whole word served at a time, as the hardware of the time did for
// one word at least, it would be 2.47.
#pragma once
#include <cstdint>
#include <vector>

namespace calpe::tools {

// What one access of a bank serves.
enum class BankServes : std::uint8_t { byte_address, word, thread };

struct BankLayout {
  unsigned threads = 16;
  unsigned banks = 16;
  unsigned table_bytes = 256;
  unsigned word_bytes = 4;
  BankServes serves = BankServes::byte_address;
};

// Turns until all threads have their byte, the average of so many trials.
double simulate_conflicts(const BankLayout& layout, unsigned trials, std::uint64_t seed);

struct PublishedConflicts {
  BankLayout layout;
  double published = 0;
  const char* meaning = "";
};
// All six of the paper.
std::vector<PublishedConflicts> published_conflicts();

}  // namespace calpe::tools
