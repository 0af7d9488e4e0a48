// SPDX-License-Identifier: Apache-2.0
// What can be measured, and the words for it on the command line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/stripe.hpp"

namespace calpe::bench {

enum class Operation : std::uint8_t {
  encode,   // all parity from all data
  decode,   // m data shards lost (k when m > k), tables prepared: the most work a loss can make
  decode1,  // one data shard lost, tables prepared
  decode_fresh,  // as decode, another pattern with each call, its tables made in the call
  update,        // one data shard changed, old and new bytes given: all parity in place
  update_delta,  // the same with their XOR given
  batch,         // encode of many stripes
  plan,          // what a loss pattern that was never seen costs before the first byte is rebuilt
};

// GB/s count the changed shard for updates, all data shards otherwise.
constexpr bool is_update(Operation operation) noexcept {
  return operation == Operation::update || operation == Operation::update_delta;
}

std::string_view name_of(Operation operation) noexcept;
std::vector<std::string> operation_names();  // all of them
std::string to_text(Shape shape);            // "10+4"

// All fail with invalid_argument and what was expected.
Result<Operation> parse_operation(std::string_view text);
Result<Shape> parse_shape(std::string_view text);  // "10+4"

}  // namespace calpe::bench
