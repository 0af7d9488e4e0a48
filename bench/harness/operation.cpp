// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/operation.hpp"

#include <charconv>
#include <fmt/format.h>

namespace calpe::bench {

namespace {

constexpr Operation operations[] = {
    Operation::encode, Operation::decode,       Operation::decode1, Operation::decode_fresh,
    Operation::update, Operation::update_delta, Operation::batch,   Operation::plan};

// Parses the whole text as a number.
template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::string_view name_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::encode:
      return "encode";
    case Operation::decode:
      return "decode";
    case Operation::decode1:
      return "decode1";
    case Operation::decode_fresh:
      return "decode-fresh";
    case Operation::update:
      return "update";
    case Operation::update_delta:
      return "update-delta";
    case Operation::batch:
      return "batch";
    case Operation::plan:
      return "plan";
  }
  return "";
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const Operation operation : operations)
    names.emplace_back(name_of(operation));
  return names;
}

std::string to_text(Shape shape) {
  return fmt::format("{}+{}", shape.data_shards, shape.parity_shards);
}

Result<Operation> parse_operation(std::string_view text) {
  for (const Operation operation : operations) {
    if (text == name_of(operation)) return operation;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("operation is '{}'; expected encode, decode, decode1, decode-fresh, "
                           "update, update-delta, batch or plan",
                           text)};
}

Result<Shape> parse_shape(std::string_view text) {
  const std::size_t plus = text.find('+');
  Shape shape;
  if (plus == std::string_view::npos || !parse_number(text.substr(0, plus), shape.data_shards) ||
      !parse_number(text.substr(plus + 1), shape.parity_shards) || shape.data_shards == 0 ||
      shape.parity_shards == 0 ||
      std::size_t{shape.data_shards} + shape.parity_shards > shard_count_max) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("shape is '{}'; expected data+parity such as 10+4, at most {} shards",
                             text, shard_count_max)};
  }
  return shape;
}

}  // namespace calpe::bench
