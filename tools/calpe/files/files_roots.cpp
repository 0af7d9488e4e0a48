// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/files_roots.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex_digits.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/descriptor.hpp"

namespace calpe::tools {

namespace {

Result<Digest> parse_root(const std::string& text) {
  Digest digest = {};
  if (parse_hex_digits(text, digest)) return digest;
  return invalid("--expect-root is \"", text,
                 "\"; expected 64 hexadecimal digits, as printed by calpe info");
}

}  // namespace

void add_key_option(CLI::App& verb, RootArguments& arguments, const std::string& what) {
  verb.add_option("--key-file", arguments.key_file, what + " (16 to 4,096 bytes)")
      ->type_name("FILE");
}

void add_expect_option(CLI::App& verb, RootArguments& arguments) {
  verb.add_option("--expect-root", arguments.expected,
                  "Root that the set must have, as printed by calpe info")
      ->type_name("ROOT");
}

Result<store::Key> read_key_file(const std::string& path) {
  const auto failed = [&] {
    return make_error(ErrorCode::io, "cannot read the key file ", path, ": ", std::strerror(errno));
  };
  const store::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat about = {};
  if (!file || ::fstat(file.get(), &about) != 0) return failed();
  // Check the mode as ssh does. The mode of a pipe means nothing.
  if (S_ISREG(about.st_mode) && (about.st_mode & 077U) != 0) {
    return invalid("key file ", path, " has mode ", fmt::format("{:04o}", about.st_mode & 07777U),
                   ", so other users can use it; run: chmod 600 ", path);
  }
  std::array<std::byte, store::key_bytes_max + 1> bytes = {};
  std::size_t count = 0;
  while (count < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + count, bytes.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed();
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  const auto read = std::span(bytes).first(count);
  const Status checked = store::check_key_bytes(read);
  store::Key key(checked ? read : read.first(0));
  store::wipe(bytes);
  if (!checked) return invalid("key file ", path, ": ", checked.error().message);
  return key;
}

Result<store::RootDemand> demand_of(const RootArguments& arguments) {
  if (arguments.demand) return *arguments.demand;
  store::RootDemand demand = {.has_roots = arguments.is_asked};
  if (!arguments.key_file.empty()) {
    CALPE_TRY(demand.key, read_key_file(arguments.key_file));
  }
  if (!arguments.expected.empty()) {
    CALPE_TRY(demand.expected, parse_root(arguments.expected));
  }
  arguments.demand = demand;
  return demand;
}

const char* root_kind_name(store::RootKind kind) {
  switch (kind) {
    case store::RootKind::none:
      return "none";
    case store::RootKind::sha256:
      return "sha256";
    case store::RootKind::hmac:
      return "hmac";
  }
  return "?";
}

const char* root_state_name(store::RootState state) {
  switch (state) {
    case store::RootState::none:
      return "none";
    case store::RootState::good:
      return "good";
    case store::RootState::unknown:
      return "unknown";
    case store::RootState::wrong:
      return "wrong";
  }
  return "?";
}

const char* hmac_state_name(const store::ShardHeader& header, const RootArguments& arguments) {
  if (header.root_kind != store::RootKind::hmac) return "none";
  return arguments.key_file.empty() ? "not checked" : "good";
}

std::string root_text(const store::ShardHeader& header, const RootArguments& arguments) {
  if (header.root_kind == store::RootKind::none) return {};
  std::string out = fmt::format("root {}", store::to_text(header.set_root));
  if (header.root_kind != store::RootKind::hmac) return out;
  return out + (arguments.key_file.empty() ? ", HMAC not checked (no --key-file)"
                                           : ", HMAC matches the key");
}

}  // namespace calpe::tools
