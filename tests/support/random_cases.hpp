// SPDX-License-Identifier: Apache-2.0
// Many random cases of one claim. RapidCheck draws and shrinks them. If it is not installed (cross
// builds), they are drawn without shrinking. RC_PARAMS="seed=n" repeats a run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

// A cross compiler may find the host's header, but has no library to link.
#if !defined(CALPE_HAS_RAPIDCHECK)
#if defined(__x86_64__) && __has_include(<rapidcheck.h>)
#define CALPE_HAS_RAPIDCHECK 1
#else
#define CALPE_HAS_RAPIDCHECK 0
#endif
#endif
#if CALPE_HAS_RAPIDCHECK
#include <rapidcheck.h>
#endif

namespace calpe::tests {

// CALPE_NIGHTLY=1 runs ten times as many.
inline std::size_t nightly(std::size_t cases) {
  const char* asked = std::getenv("CALPE_NIGHTLY");
  return asked != nullptr && *asked != '\0' && std::string_view(asked) != "0" ? 10 * cases : cases;
}

// A failed claim. RapidCheck treats any exception as a failure and shows its text.
inline void require(bool holds, const std::string& claim) {
  if (!holds) throw std::runtime_error(claim);
}

// The value of a Result, or a failed claim.
template <class Result>
decltype(auto) must(Result&& result) {
  if (!result) throw std::runtime_error("unexpected error: " + result.error().message);
  return *std::forward<Result>(result);
}

#if CALPE_HAS_RAPIDCHECK

inline std::uint64_t run_seed() {
  return rc::detail::configuration().testParams.seed;
}

class Draw {
 public:
  // Inclusive; failing cases shrink towards `least`.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
  }
  std::uint64_t seed() { return *rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(1, 1U << 31)); }
};

#else

inline std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("RC_PARAMS");
    const std::string_view text = given == nullptr ? "" : given;
    const auto at = text.find("seed=");
    return at == text.npos ? std::random_device{}() : std::strtoull(given + at + 5, nullptr, 10);
  }();
  return seed;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + engine_() % (most - least + 1);
  }
  std::uint64_t seed() { return between(1, 1U << 31); }

 private:
  std::mt19937_64 engine_;
};

#endif

// Calls claim(make(draw)) `count` times; the claim throws if it does not hold. Each test mixes its
// name into the seed, so that tests see different cases.
template <class Make, class Claim>
void check_cases(std::size_t count, const Make& make, const Claim& claim) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::uint64_t seed = run_seed();
  for (const char letter : test)
    seed = seed * 1099511628211U + static_cast<unsigned char>(letter);
  const std::string repeat =
      "RC_PARAMS=\"seed=" + std::to_string(run_seed()) + "\" with --gtest_filter='*." + test + "'";
  std::cout << nightly(count) << " cases, repeat with " << repeat << std::endl;
#if CALPE_HAS_RAPIDCHECK
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.seed = seed;
  params.maxSuccess = static_cast<int>(nightly(count));
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = test;
  const rc::detail::TestResult result = rc::detail::checkTestable(
      [&] {
        claim(*rc::gen::exec([&] {
          Draw draw;
          return make(draw);
        }));
      },
      metadata, params);
  if (result.is<rc::detail::SuccessResult>()) return;
  rc::detail::printResultMessage(result, std::cout);
  FAIL() << "repeat with " << repeat;
#else
  for (std::size_t i = 0; i < nightly(count); ++i) {
    Draw draw(seed + i);
    const auto drawn = make(draw);
    try {
      claim(drawn);
    } catch (const std::exception& wrong) {
      FAIL() << "case " << i << ": " << drawn << ": " << wrong.what() << "; repeat with " << repeat;
    }
  }
#endif
}

}  // namespace calpe::tests
