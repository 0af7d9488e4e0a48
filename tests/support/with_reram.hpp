// SPDX-License-Identifier: Apache-2.0
// Adds the backend "reram" to a test program, as the command does in main().
#pragma once
#include "reram/device/reram_device.hpp"

namespace calpe::tests {

inline const bool has_reram = [] {
  backend::reram::add_reram();
  return true;
}();

}  // namespace calpe::tests
