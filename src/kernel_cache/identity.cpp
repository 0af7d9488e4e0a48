// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache/identity.hpp"

#include "base/hex_digits.hpp"
#include "base/text.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace calpe::kernel {

namespace {

void add_part(std::string& out, std::string_view name, std::string_view part) {
  out += text(name, " ", part.size(), "\n", part, "\n");
}

}  // namespace

std::string content(const Identity& identity) {
  std::string out;
  add_part(out, "target", identity.target);
  add_part(out, "compiler", identity.compiler);
  for (const std::string& flag : identity.flags)
    add_part(out, "flag", flag);
  add_part(out, "source", identity.source);
  return out;
}

std::string digest(std::string_view content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return hex_number(hash.high64) + hex_number(hash.low64);
}

}  // namespace calpe::kernel
