// SPDX-License-Identifier: Apache-2.0
// Options of the file verbs for roots and keys, and their output.
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

  // Parsed arguments; cached because a key from a pipe can be read only once.
  mutable std::optional<store::RootDemand> demand = {};

  bool is_any() const { return is_asked || !key_file.empty() || !expected.empty(); }
};

void add_key_option(CLI::App& verb, RootArguments& arguments, const std::string& what);
void add_expect_option(CLI::App& verb, RootArguments& arguments);

// Reads all bytes of the file or pipe. Fails with io, and with invalid_argument if there are too
// few or too many, or if users other than the owner can read or write the file.
Result<store::Key> read_key_file(const std::string& path);
// Reads the key on the first call.
Result<store::RootDemand> demand_of(const RootArguments& arguments);

// "none", "sha256", "hmac"
const char* root_kind_name(store::RootKind kind);
const char* root_state_name(store::RootState state);
// "good", "not checked", "none"; sets that do not match the key were refused earlier.
const char* hmac_state_name(const store::ShardHeader& header, const RootArguments& arguments);
// "root 0b9a..., HMAC matches the key"; empty for a set without a root.
std::string root_text(const store::ShardHeader& header, const RootArguments& arguments);

}  // namespace calpe::tools
