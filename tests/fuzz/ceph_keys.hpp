// SPDX-License-Identifier: Apache-2.0
// The store's reader of Ceph profiles for ceph_fuzz.cpp, which is C++17 because of Ceph's headers.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace calpe::fuzz {

struct KeysResult {
  bool is_read = false;
  std::map<std::string, std::string> keys = {};
  bool has_code = false;
  bool is_calpe = false;
  std::uint32_t family = 0;
  std::uint32_t data_shards = 0;
  std::uint32_t parity_shards = 0;
};

// Checks the properties common to all readers of such keys, and returns the rest.
KeysResult read_keys(std::string_view text);

}  // namespace calpe::fuzz
