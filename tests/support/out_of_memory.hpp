// SPDX-License-Identifier: Apache-2.0
// Makes every allocation of a call fail once. Include it in one file of a program
// (failing_new.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "support/failing_new.hpp"
#include "support/formula_stripe.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {

// The result of a call as in the C ABI: 0 or an ErrorCode.
template <class T>
std::int32_t code_of(const Result<T>& result) {
  return result ? 0 : static_cast<std::int32_t>(result.error().code);
}
inline std::int32_t number(ErrorCode code) {
  return static_cast<std::int32_t>(code);
}

// make() prepares with enough memory. call(stage) returns a code and is repeated with later and
// later failures until none happens. Then, and when called again after a failure, it must return
// `expected`. Only the tested call may allocate in `call`.
template <class Make, class Call>
void survives(const std::string& what, std::int32_t expected, const Make& make, const Call& call) {
  constexpr std::int32_t threw = -1;
  {
    auto stage = make();  // also initialises what is created once per process
    ASSERT_EQ(call(stage), expected) << what;
  }
  for (const bool goes_on : {false, true}) {
    bool failed = true;
    // Each of the first 100 allocations, then fewer: plans of packets make thousands.
    for (long n = 1; failed; n += 1 + n / 100) {
      const long live = allocations::live;
      std::int32_t code = threw;
      std::int32_t again = threw;
      {
        auto stage = make();
        allocations::fail_from(n, goes_on);
        try {
          code = call(stage);
        } catch (const std::exception&) {
        }
        failed = allocations::stop_failing();
        again = call(stage);
      }
      const long left = allocations::live;
      const std::string when =
          "allocation " + std::to_string(n) + (goes_on ? " and all later ones failed" : " failed");
      ASSERT_NE(code, threw) << what << " threw when " << when;
      ASSERT_TRUE(code == expected || (failed && code == number(ErrorCode::out_of_memory)))
          << what << " returned " << code << " when " << when;
      ASSERT_EQ(again, expected) << what << " is not usable after " << when;
      ASSERT_EQ(left, live) << what << " leaked memory when " << when;
    }
  }
}

inline CodeSpec bytes_of(CodeFamily family, std::uint16_t k, std::uint16_t m,
                         std::uint16_t groups = 0) {
  CodeSpec spec;
  spec.family = family;
  spec.data_shards = k;
  spec.parity_shards = m;
  spec.local_groups = groups;
  return spec;
}

inline CodeSpec packets_of(CodeFamily family, std::uint16_t k, std::uint16_t m) {
  CodeSpec spec = bytes_of(family, k, m);
  spec.layout = Layout::packets;
  spec.word_bits = 4;
  spec.packet_bytes = 24;
  return spec;
}

// Covers each way to prove, plan, compile and lay out.
inline std::vector<CodeSpec> specs_tried() {
  return {bytes_of(CodeFamily::cauchy, 5, 4),
          bytes_of(CodeFamily::vandermonde_isal, 4, 3),
          bytes_of(CodeFamily::lrc, 6, 4, 2),
          packets_of(CodeFamily::hybrid, 5, 4),
          packets_of(CodeFamily::cauchy_good, 4, 3),
          packets_of(CodeFamily::hybrid_good, 3, 2),
          bytes_of(CodeFamily::lch, 6, 5)};
}

inline std::string text_of(const CodeSpec& spec) {
  return " (family " + std::to_string(static_cast<int>(spec.family)) + ")";
}

}  // namespace calpe::tests
