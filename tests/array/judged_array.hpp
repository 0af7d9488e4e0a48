// SPDX-License-Identifier: Apache-2.0
// Opens the array on simulated disks after a power cut and compares it with the model: every block
// is old or new, parity matches the data, and the same holds without any m members.
#pragma once
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "array/array.hpp"
#include "array/array_model.hpp"
#include "array/simulated_members.hpp"

namespace calpe::tests {

using array::Array;
using array::Durability;
using Roles = std::vector<unsigned>;

// CALPE_ARRAY_SEED=n repeats a run.
inline std::uint64_t array_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("CALPE_ARRAY_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : conformance::run_seed();
  }();
  return seed;
}

inline Uuid uuid_of(std::uint64_t seed) {
  Uuid uuid = {};
  std::memcpy(uuid.data(), &seed, sizeof seed);
  uuid[15] = std::byte{1};
  return uuid;
}

// Keeps freed memory in the process. Otherwise returning the buffers of hundreds of thousands of
// arrays to the system would take most of the time.
inline void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
}

// Returns "" or why the array cannot be opened or read; `all` receives its bytes.
inline std::string open_and_read(SimulatedMembers& members, std::vector<std::byte>& all) {
  const auto array = Array::open(members);
  if (!array) return "open: " + array.error().message;
  if ((*array)->bytes() != all.size()) return text("has ", (*array)->bytes(), " bytes");
  const Status read = (*array)->read(0, all);
  if (!read) return "read: " + read.error().message;
  return members.complaint();
}

inline Roles random_set(Random& random, unsigned members, unsigned count) {
  Roles order(members);
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order));
  order.resize(count);
  return order;
}

// The next set in lexicographic order, from 0, 1, .. count - 1; false after the last.
inline bool next_set(Roles& set, unsigned members) {
  const auto count = static_cast<unsigned>(set.size());
  for (unsigned i = count; i-- > 0;) {
    if (set[i] == members - count + i) continue;
    ++set[i];
    for (unsigned j = i + 1; j < count; ++j) {
      set[j] = set[j - 1] + 1;
    }
    return true;
  }
  return false;
}

inline std::string names(const Roles& roles) {
  std::string all;
  for (const unsigned role : roles) {
    all += text(" ", role);
  }
  return all;
}

// Without `lost` the array must read as `expected`. Restores the disks.
inline std::string read_without(SimulatedMembers& members, const Roles& lost,
                                const std::vector<std::byte>& expected) {
  const std::vector<std::size_t> marks = members.marks();
  for (const unsigned place : lost) {
    members[place].is_there = false;
  }
  thread_local std::vector<std::byte> all;
  all.resize(expected.size());
  std::string wrong = open_and_read(members, all);
  if (wrong.empty() && std::memcmp(all.data(), expected.data(), all.size()) != 0) {
    wrong = "reads differently";
  }
  if (!wrong.empty()) wrong += text(", without", names(lost));
  for (const unsigned place : lost) {
    members[place].is_there = true;
  }
  members.undo_to(marks);
  return wrong;
}

// The same on an open array, with `lost` unreadable. Much faster than opening it.
inline std::string read_around(Array& array, SimulatedMembers& members, const Roles& lost,
                               const std::vector<std::byte>& expected) {
  const std::vector<std::size_t> marks = members.marks();
  for (const unsigned place : lost) {
    members[place].is_unreadable = true;
  }
  thread_local std::vector<std::byte> all;
  all.resize(expected.size());
  const Status read = array.read(0, all);
  std::string wrong = read ? members.complaint() : read.error().message;
  if (wrong.empty() && std::memcmp(all.data(), expected.data(), all.size()) != 0) {
    wrong = "reads differently";
  }
  if (!wrong.empty()) wrong += text(", around", names(lost));
  for (const unsigned place : lost) {
    members[place].is_unreadable = false;
  }
  members.undo_to(marks);
  return wrong;
}

// All members are present, and their contents must be consistent.
inline std::string scrub_all(Array& array) {
  for (std::uint64_t at = 0; at < array.bytes();) {
    const auto step = array.scrub_step(at, array.bytes());
    if (!step) return "scrub: " + step.error().message;
    const std::uint64_t wrong =
        std::accumulate(step->blocks_wrong.begin(), step->blocks_wrong.end(), std::uint64_t{0});
    if (wrong + step->columns_lost + step->columns_contradicting > 0) {
      return text("scrub from ", at, ": ", wrong, " blocks wrong, ", step->columns_lost,
                  " columns lost, ", step->columns_contradicting, " contradicting");
    }
    if (step->next <= at) return text("scrub makes no progress at ", at);
    at = step->next;
  }
  return {};
}

}  // namespace calpe::tests
