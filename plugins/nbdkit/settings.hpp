// SPDX-License-Identifier: Apache-2.0
// The plugin's parameters, as nbdkit hands them over: key by key.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "array/service/service.hpp"

namespace calpe::nbd {

struct Settings {
  std::vector<std::string> members;  // absolute: nbdkit changes its folder
  std::string control;               // of the socket; empty: none
  array::ServiceOptions service;
};

// Fails with invalid_argument, naming the key, what was got and what was expected.
Status set(Settings& settings, std::string_view key, const char* value);
Status check(const Settings& settings);

}  // namespace calpe::nbd
