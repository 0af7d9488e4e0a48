// SPDX-License-Identifier: Apache-2.0
// The parameters of the plugin, which nbdkit passes as key and value.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "array/service/service.hpp"

namespace calpe::nbd {

struct Settings {
  std::vector<std::string> members;  // absolute, as nbdkit changes its directory
  std::string control;               // path of the socket, empty = none
  array::ServiceOptions service;
};

// Fails with invalid_argument; the message gives the key, the value and what was expected.
Status set(Settings& settings, std::string_view key, const char* value);
Status check(const Settings& settings);

}  // namespace calpe::nbd
