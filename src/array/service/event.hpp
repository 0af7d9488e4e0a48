// SPDX-License-Identifier: Apache-2.0
// What happens to an array and an operator should know. docs/array.md lists the events.
#pragma once
#include <optional>
#include <string>

namespace calpe::array {

struct Event {
  std::string name;     // "member-out"
  std::string message;  // "member 3 is out: cannot write m3: Input/output error"
  bool is_warning = false;
  std::optional<unsigned> member = {};
};

}  // namespace calpe::array
