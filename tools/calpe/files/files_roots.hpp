// SPDX-License-Identifier: Apache-2.0
// Options of the verbs for files about roots and keys, and what is said about them.
#pragma once
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "store/read/root_check.hpp"

namespace calpe::tools {

struct RootArguments {
  std::string key_file;
  std::string expected;   // 64 hexadecimal digits
  bool is_asked = false;  // --root-check

  // What they ask for: a key that comes from a pipe can be read once only.
  mutable std::optional<store::RootDemand> demand = {};

  bool is_any() const { return is_asked || !key_file.empty() || !expected.empty(); }
};

void add_key_option(CLI::App& verb, RootArguments& arguments, const std::string& what);
void add_expect_option(CLI::App& verb, RootArguments& arguments);

// All bytes of the file or pipe, as they are. Fails with io, and with invalid_argument when there
// are too few or too many, or when others than the owner may read or change the file.
Result<store::Key> read_key_file(const std::string& path);
// Reads the key when it is first called.
Result<store::RootDemand> demand_of(const RootArguments& arguments);

// "none", "sha256", "hmac"
const char* root_kind_name(store::RootKind kind);
const char* root_state_name(store::RootState state);
// "good", "not checked", "none": with a key that does not fit nobody gets so far.
const char* hmac_state_name(const store::ShardHeader& header, const RootArguments& arguments);
// "root 0b9a..., HMAC of this key"; empty for a set without.
std::string root_text(const store::ShardHeader& header, const RootArguments& arguments);

}  // namespace calpe::tools
