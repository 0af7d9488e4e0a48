// SPDX-License-Identifier: Apache-2.0
// Answers the requests of `calpe array`: the server of the array through its control socket or, if
// the array is not served, this process, which opens the members itself.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::tools {

struct ArrayPlace {
  std::vector<std::string> members;
  std::string control;     // socket of the server; either this or members
  bool is_paused = false;  // members: do not rebuild while the command runs
};

class ArrayEndpoint {
 public:
  virtual ~ArrayEndpoint() = default;
  // Returns the answer; an error in the answer becomes an Error, except with code "refused".
  virtual Result<nlohmann::ordered_json> ask(const nlohmann::ordered_json& request) = 0;
  virtual Status close() = 0;  // closes cleanly: all changes are durable
};

// For status requests: members that are not served are only read, never written.
Result<std::unique_ptr<ArrayEndpoint>> look_at_array(const ArrayPlace& place);

// Fails with invalid_argument when neither or both are given, or the members are in use.
Result<std::unique_ptr<ArrayEndpoint>> reach_array(const ArrayPlace& place);

}  // namespace calpe::tools
