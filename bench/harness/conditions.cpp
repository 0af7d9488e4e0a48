// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/conditions.hpp"

#include <fmt/format.h>

namespace calpe::bench {

std::string_view name_of(ShardLayout layout) noexcept {
  switch (layout) {
    case ShardLayout::padded:
      return "padded";
    case ShardLayout::power2:
      return "power2";
    case ShardLayout::contiguous:
      return "contiguous";
  }
  return "";
}

std::string_view name_of(Stores stores) noexcept {
  switch (stores) {
    case Stores::automatic:
      return "automatic";
    case Stores::cached:
      return "cached";
    case Stores::streaming:
      return "streaming";
  }
  return "";
}

std::string to_text(const Conditions& conditions) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (conditions.is_cold) add("cold");
  if (conditions.layout != ShardLayout::padded) add(std::string(name_of(conditions.layout)));
  if (conditions.stores != Stores::automatic)
    add(fmt::format("{} stores", name_of(conditions.stores)));
  if (conditions.threads > 1) add(fmt::format("{} threads", conditions.threads));
  if (conditions.pool_threads > 1) add(fmt::format("pool of {}", conditions.pool_threads));
  return text;
}

Result<ShardLayout> parse_layout(std::string_view text) {
  for (const ShardLayout layout :
       {ShardLayout::padded, ShardLayout::power2, ShardLayout::contiguous}) {
    if (text == name_of(layout)) return layout;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("layout is '{}'; expected padded, power2 or contiguous", text)};
}

Result<Stores> parse_stores(std::string_view text) {
  for (const Stores stores : {Stores::automatic, Stores::cached, Stores::streaming}) {
    if (text == name_of(stores)) return stores;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("stores is '{}'; expected automatic, cached or streaming", text)};
}

std::string_view name_of(Effort effort) noexcept {
  switch (effort) {
    case Effort::fast:
      return "fast";
    case Effort::standard:
      return "standard";
    case Effort::thorough:
      return "thorough";
  }
  return "unknown";
}

Result<Effort> parse_effort(std::string_view text) {
  for (const Effort effort : {Effort::fast, Effort::standard, Effort::thorough}) {
    if (text == name_of(effort)) return effort;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("effort is '{}'; expected fast, standard or thorough", text)};
}

}  // namespace calpe::bench
