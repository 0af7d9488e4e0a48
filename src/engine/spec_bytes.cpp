// SPDX-License-Identifier: Apache-2.0
// Resolved specs as bytes (docs/codes.md, "Stored spec"). decode_spec() accepts untrusted input.
#include <algorithm>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <calpe/code_spec.hpp>

#include "base/allocation_guard.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "code/spec_rules.hpp"

namespace calpe {

namespace {

// The frame and the order of the fields are those of shard headers (docs/format.md).
constexpr std::string_view magic = "calpe-c1";
constexpr std::uint32_t version = 1;
constexpr std::size_t version_at = 8;
constexpr std::size_t length_at = 12;
constexpr std::size_t checksum_at = spec_bytes - 8;

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), checksum_at);
}

SpecBytes to_bytes(const CodeSpec& spec) noexcept {
  SpecBytes bytes = {};
  const auto put = [&](std::size_t at, auto value) { store_little(bytes.data() + at, value); };
  const auto put_count = [&](std::size_t at, std::uint32_t value) {
    put(at, static_cast<std::uint16_t>(value));  // at most shard_count_max
  };
  std::ranges::transform(magic, bytes.begin(), [](char letter) { return std::byte(letter); });
  put(version_at, version);
  put(length_at, static_cast<std::uint32_t>(spec_bytes));
  put(16, spec.family);
  put(17, spec.layout);
  put_count(18, spec.data_shards);
  put_count(20, spec.parity_shards);
  put(22, spec.word_bits);
  put(24, spec.polynomial);
  put(28, spec.packet_bytes);
  put_count(32, spec.local_groups);
  put(40, spec.matrix_hash);
  put(checksum_at, checksum_of(bytes));
  return bytes;
}

// Enumerations may have invalid values afterwards.
CodeSpec fields_of(std::span<const std::byte> bytes) noexcept {
  const std::byte* const from = bytes.data();
  return {.family = load_little<CodeFamily>(from + 16),
          .layout = load_little<Layout>(from + 17),
          .data_shards = load_little<std::uint16_t>(from + 18),
          .parity_shards = load_little<std::uint16_t>(from + 20),
          .word_bits = load_little<std::uint8_t>(from + 22),
          .polynomial = load_little<std::uint32_t>(from + 24),
          .packet_bytes = load_little<std::uint32_t>(from + 28),
          .local_groups = load_little<std::uint16_t>(from + 32),
          .matrix_hash = load_little<std::uint64_t>(from + 40)};
}

template <class... Parts>
Error corrupt(const Parts&... parts) {
  return make_error(ErrorCode::corrupt, "spec bytes: ", parts...);
}

Status check_frame(std::span<const std::byte> bytes) {
  if (bytes.size() != spec_bytes) {
    return corrupt("there are ", bytes.size(), "; expected ", spec_bytes);
  }
  const auto is_same = [](std::byte byte, char letter) { return byte == std::byte(letter); };
  if (!std::ranges::equal(bytes.first(magic.size()), magic, is_same)) {
    return corrupt("magic is wrong; expected ", magic);
  }
  // Before the checksum, so that the error names the version.
  if (const auto found = load_little<std::uint32_t>(bytes.data() + version_at); found != version) {
    return corrupt("version is ", found, "; expected ", version);
  }
  const auto found = load_little<std::uint64_t>(bytes.data() + checksum_at);
  if (const std::uint64_t expected = checksum_of(bytes); found != expected) {
    return corrupt("checksum is ", found, "; expected ", expected);
  }
  return Done{};
}

// Resolving must change nothing, or a later version could resolve the spec to another code.
Status check_resolved(const CodeSpec& spec) {
  CALPE_TRY(const CodeSpec resolved, code::resolve(spec));
  if (spec.family != resolved.family) return invalid("family is default; expected a resolved one");
  if (spec.polynomial == 0) return invalid("polynomial is 0; expected ", resolved.polynomial);
  if (!(spec == resolved)) return invalid("packet_bytes is 0; expected ", resolved.packet_bytes);
  if (spec.matrix_hash == 0) return invalid("matrix_hash is 0; expected the hash of the code");
  return Done{};
}

}  // namespace

Result<SpecBytes> encode_spec(const CodeSpec& spec) {
  return guarded([&]() -> Result<SpecBytes> {
    if (const Status checked = check_resolved(spec); !checked) {
      return invalid(checked.error().message, "; pass the spec of a codec");
    }
    return to_bytes(spec);
  });
}

Result<CodeSpec> decode_spec(std::span<const std::byte> bytes) {
  return guarded([&]() -> Result<CodeSpec> {
    CALPE_CHECK(check_frame(bytes));
    const CodeSpec spec = fields_of(bytes);
    if (const Status checked = check_resolved(spec); !checked) {
      return corrupt(checked.error().message);
    }
    // Equal specs have equal bytes, so every byte outside the fields must be 0.
    const SpecBytes expected = to_bytes(spec);
    const auto [got, wanted] = std::ranges::mismatch(bytes, expected);
    if (wanted == expected.end()) return spec;
    return corrupt("byte ", got - bytes.begin(), " is ", std::to_integer<unsigned>(*got),
                   "; expected ", std::to_integer<unsigned>(*wanted));
  });
}

}  // namespace calpe
