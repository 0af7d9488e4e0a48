// SPDX-License-Identifier: Apache-2.0
// Who answers `calpe array`: the server of the array through its control socket, or, where nothing
// serves it, this process, which opens the members and answers in the same words.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::tools {

struct ArrayPlace {
  std::vector<std::string> members;  // or
  std::string control;               // the server's socket
};

class ArrayEndpoint {
 public:
  virtual ~ArrayEndpoint() = default;
  // The answer, which is no error.
  virtual Result<nlohmann::ordered_json> ask(const nlohmann::ordered_json& request) = 0;
  virtual Status close() = 0;  // in good order: what was changed is on the disks
};

// For who only asks how the array is: members that nobody serves are read and never written.
Result<std::unique_ptr<ArrayEndpoint>> look_at_array(const ArrayPlace& place);

// Fails with invalid_argument when neither or both are given, or the members are in use.
Result<std::unique_ptr<ArrayEndpoint>> reach_array(const ArrayPlace& place);

}  // namespace calpe::tools
