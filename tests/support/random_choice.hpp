// SPDX-License-Identifier: Apache-2.0
// Repeatable random choices: CALPE_TEST_SEED=n sets the seed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace calpe::conformance {

// The seed of this run, from the environment or new. Print it in every test that depends on it.
inline std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("CALPE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }();
  return seed;
}

inline std::string repeat_with() {
  return "repeat with CALPE_TEST_SEED=" + std::to_string(run_seed());
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // Each test has its own stream, so that a single test repeats its behaviour in the whole suite.
  static Random of_test(std::string_view test) {
    std::uint64_t mixed = run_seed();
    for (const char letter : test)
      mixed = mixed * 1099511628211U + static_cast<unsigned>(letter);
    return Random(mixed);
  }

  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }  // limit >= 1
  template <class T>
  T between(T least, T most) {  // inclusive
    return static_cast<T>(least +
                          static_cast<T>(below(static_cast<std::uint64_t>(most - least) + 1)));
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  bool coin() { return one_in(2); }
  template <class T>
  T pick(std::span<const T> choices) {
    return choices[below(choices.size())];
  }
  template <class T>
  void shuffle(std::span<T> items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }
  void fill(std::span<std::byte> bytes) {
    for (std::byte& b : bytes)
      b = static_cast<std::byte>(engine_());
  }

 private:
  std::mt19937_64 engine_;
};

inline std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::byte> bytes(count);
  Random(seed).fill(bytes);
  return bytes;
}

}  // namespace calpe::conformance
