// SPDX-License-Identifier: Apache-2.0
// The measured operations and their names on the command line.
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
  encode,        // all parity from all data
  decode,        // rebuild of m lost data shards (k if m > k), tables prepared
  decode1,       // rebuild of one lost data shard, tables prepared
  decode_fresh,  // as decode, but a new pattern in each call, including its tables
  update,        // parity update in place, from old and new bytes of one data shard
  update_delta,  // the same, from their XOR
  batch,         // encode of many stripes
  plan,          // preparation for an unseen loss pattern
};

// GB/s counts the changed shard for updates, all data shards otherwise.
constexpr bool is_update(Operation operation) noexcept {
  return operation == Operation::update || operation == Operation::update_delta;
}

std::string_view name_of(Operation operation) noexcept;
std::vector<std::string> operation_names();  // all of them
std::string to_text(Shape shape);            // "10+4"

// All fail with invalid_argument, naming the expected values.
Result<Operation> parse_operation(std::string_view text);
Result<Shape> parse_shape(std::string_view text);  // "10+4"

}  // namespace calpe::bench
