// SPDX-License-Identifier: Apache-2.0
// Builds messages without a formatting library: text("parity[", 2, "] has ", 4096, " bytes").
#pragma once
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe {

inline void append_text(std::string& out, std::string_view part) {
  out += part;
}
template <std::integral T>
void append_text(std::string& out, T number) {
  out += std::to_string(number);
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

template <class... Parts>
Error make_error(ErrorCode code, const Parts&... parts) {
  return {code, text(parts...)};
}

template <class... Parts>
Error invalid(const Parts&... parts) {
  return {ErrorCode::invalid_argument, text(parts...)};
}

// "0, 3, 5". Lists 16 numbers, then " and 185 more": a code may have 65,536 shards, and a message
// with three such lists must fit into calpe_error.
template <class T>
std::string join(std::span<const T> numbers) {
  constexpr std::size_t listed_max = 16;
  std::string out;
  for (const T& number : numbers.first(numbers.size() < listed_max ? numbers.size() : listed_max)) {
    if (!out.empty()) out += ", ";
    append_text(out, number);
  }
  if (numbers.size() > listed_max) out += text(" and ", numbers.size() - listed_max, " more");
  return out;
}

}  // namespace calpe
