// SPDX-License-Identifier: Apache-2.0
// Hostile files in the cache of compiled programs: unpack() accepts exactly what pack() made. The
// input is flags, then a file without its checksum and magic, which are corrected.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fuzz/input.hpp"
#include "fuzz/property.hpp"
#include "kernel_cache/entry_file.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::fuzz {

namespace {

constexpr std::uint8_t flag_checksum_as_it_is = 1;
constexpr std::uint8_t flag_sizes_agree = 2;
constexpr std::string_view magic = "CalpeK01";

void put_number(std::string& bytes, std::size_t at, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i)
    bytes[at + i] = static_cast<char>(value >> 8 * i);
}

// Two 64-bit numbers with the right sum are not found by chance.
void make_sizes_agree(std::string& bytes) {
  if (bytes.size() < 16) return;
  const std::size_t body = bytes.size() - 16;
  const std::size_t object = body == 0 ? 0 : static_cast<std::uint8_t>(bytes[body]) % (body + 1);
  put_number(bytes, body, object);
  put_number(bytes, body + 8, body - object);
}

void run(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::uint8_t flags = input[0];
  std::string bytes(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  if ((flags & flag_sizes_agree) != 0) make_sizes_agree(bytes);
  if ((flags & flag_checksum_as_it_is) == 0) {
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes.data(), bytes.size()));
    bytes.append(reinterpret_cast<const char*>(checksum.digest), sizeof checksum.digest);
    bytes += magic;
  }
  const auto entry = kernel::unpack(bytes);
  if (entry) {
    require(kernel::pack(*entry) == bytes, "an unpacked entry packs to the same bytes");
    require(entry->object.size() + entry->content.size() + 16 + 16 + 8 == bytes.size(),
            "an entry is all of its file");
    require(kernel::digest(entry->content).size() == 32, "a name for the file");
  }
  // Everything stored can be read back.
  const std::size_t cut = bytes.empty() ? 0 : flags % bytes.size();
  const kernel::Entry stored = {.object = bytes.substr(0, cut), .content = bytes.substr(cut)};
  const auto found = kernel::unpack(kernel::pack(stored));
  require(found && found->object == stored.object && found->content == stored.content,
          "a packed entry unpacks to the same");
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
