// SPDX-License-Identifier: Apache-2.0
#include "store/format/shard_header.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/assert.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view magic = "calpe-s1";
constexpr std::size_t checksum_at = header_bytes - 8;
// default_code is never stored, and custom codes are not supported as headers do not hold their
// rows.
constexpr auto family_first = static_cast<std::uint8_t>(CodeFamily::cauchy);
constexpr auto family_last = static_cast<std::uint8_t>(CodeFamily::lrc);

// Copy between header fields and their offsets. One list of offsets serves both directions.
class Writer {
 public:
  explicit Writer(std::span<std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(std::size_t at, const T& value) const {
    store_little(bytes_.data() + at, value);
  }
  // Counts are stored in two bytes; check_code() limits them to byte_shard_count_max.
  void count(std::size_t at, std::uint32_t value) const {
    store_little(bytes_.data() + at, static_cast<std::uint16_t>(value));
  }

 private:
  std::span<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(std::size_t at, T& value) const {
    load_little(bytes_.data() + at, value);
  }
  void count(std::size_t at, std::uint32_t& value) const {
    std::uint16_t stored = 0;
    load_little(bytes_.data() + at, stored);
    value = stored;
  }

 private:
  std::span<const std::byte> bytes_;
};

// All fields except name, magic, sizes and checksum. Enumerations may have invalid values
// afterwards.
template <class Copy, class Header>
void copy_fields(const Copy& copy, Header& header) {
  copy(8, header.version);
  copy(16, header.uuid);
  copy(32, header.generation);
  copy(40, header.shard_index);
  copy(42, header.kind);
  copy(43, header.root_kind);
  copy(44, header.block_bytes);
  copy(48, header.stripe_count);
  copy(56, header.content_bytes);
  copy(64, header.manifest_offset);
  copy(72, header.manifest_bytes);
  copy(80, header.spec.family);
  copy(81, header.spec.layout);
  copy.count(82, header.spec.data_shards);
  copy.count(84, header.spec.parity_shards);
  copy(86, header.spec.word_bits);
  copy(88, header.spec.polynomial);
  copy(92, header.spec.packet_bytes);
  copy.count(96, header.spec.local_groups);
  copy(104, header.spec.matrix_hash);
  copy(112, header.shard_root);
  copy(144, header.set_root);
  copy(176, header.hmac);
  copy(480, header.root_path);
}

constexpr std::size_t name_bytes_at = 208;
constexpr std::size_t name_at = 210;

template <class... Parts>
Error corrupt(const Parts&... parts) {
  return make_error(ErrorCode::corrupt, "header: ", parts...);
}

Status check_range(std::string_view field, std::uint64_t value, std::uint64_t least,
                   std::uint64_t most) {
  if (value >= least && value <= most) return Done{};
  if (least == most) return corrupt(field, " is ", value, "; expected ", least);
  return corrupt(field, " is ", value, "; expected ", least, " .. ", most);
}

Status check_code(const CodeSpec& spec) {
  CALPE_CHECK(check_range("code family", static_cast<std::uint8_t>(spec.family), family_first,
                          family_last));
  CALPE_CHECK(check_range("layout", static_cast<std::uint8_t>(spec.layout), 1, 1));
  CALPE_CHECK(check_range("k", spec.data_shards, 1, byte_shard_count_max - 1));
  CALPE_CHECK(check_range("m", spec.parity_shards, 1, byte_shard_count_max - spec.data_shards));
  CALPE_CHECK(check_range("word bits", spec.word_bits, 8, 8));
  CALPE_CHECK(check_range("polynomial", spec.polynomial, 0x100, 0x1FF));
  CALPE_CHECK(check_range("packet bytes", spec.packet_bytes, 0, 0));
  if (spec.family == CodeFamily::lrc) {
    CALPE_CHECK(check_range("local groups", spec.local_groups, 1, spec.parity_shards));
  } else {
    CALPE_CHECK(check_range("local groups", spec.local_groups, 0, 0));
  }
  // Codec::create() treats 0 as "do not check".
  if (spec.matrix_hash == 0) return corrupt("matrix hash is 0; expected the hash of the code");
  return Done{};
}

// In this order no product overflows.
Status check_sizes(const ShardHeader& header) {
  CALPE_CHECK(check_range("block bytes", header.block_bytes, block_bytes_min, block_bytes_max));
  if (header.block_bytes % block_bytes_min != 0) {
    return corrupt("block bytes is ", header.block_bytes, "; expected a multiple of ",
                   block_bytes_min);
  }
  const std::uint64_t shards = std::uint64_t{header.spec.data_shards} + header.spec.parity_shards;
  if (header.block_bytes > stripe_bytes_max / shards) {
    return corrupt("block bytes is ", header.block_bytes, "; expected at most ",
                   stripe_bytes_max / shards, " with ", shards, " shards");
  }
  const std::uint64_t stripe_bytes = std::uint64_t{header.spec.data_shards} * header.block_bytes;
  CALPE_CHECK(check_range("stripes", header.stripe_count, 0, capacity_max / stripe_bytes));
  const std::uint64_t stripes = header.stripe_count;
  const std::uint64_t least = stripes == 0 ? 0 : (stripes - 1) * stripe_bytes + 1;
  CALPE_CHECK(check_range("content bytes", header.content_bytes, least, stripes * stripe_bytes));
  CALPE_CHECK(check_range("manifest bytes", header.manifest_bytes, 0, manifest_bytes_max));
  if (header.kind == SetKind::originals) {
    const std::uint64_t body_end = geometry_of(header).body_end();
    return check_range("manifest offset", header.manifest_offset, body_end, body_end);
  }
  CALPE_CHECK(check_range("manifest bytes", header.manifest_bytes, 0, header.content_bytes));
  const std::uint64_t offset = header.content_bytes - header.manifest_bytes;
  return check_range("manifest offset", header.manifest_offset, offset, offset);
}

Status check_roots(const ShardHeader& header) {
  if (header.kind == SetKind::originals && header.root_kind != RootKind::none) {
    return corrupt("root kind is ", static_cast<unsigned>(header.root_kind),
                   "; expected 0 with kept originals");
  }
  if (header.root_kind == RootKind::none &&
      (header.shard_root != Digest{} || header.set_root != Digest{})) {
    return corrupt("root is not 0 with root kind 0");
  }
  const std::size_t levels = header.root_kind == RootKind::none ? 0 : root_levels(header.spec);
  for (std::size_t level = levels; level < header.root_path.size(); ++level) {
    if (header.root_path[level] != Digest{}) {
      return corrupt("path of the root has a digest at level ", level, "; expected ", levels,
                     " levels");
    }
  }
  if (header.root_kind != RootKind::hmac && header.hmac != Digest{}) {
    return corrupt("HMAC is not 0 with root kind ", static_cast<unsigned>(header.root_kind));
  }
  return Done{};
}

Status check_frame(std::span<const std::byte> bytes) {
  if (bytes.size() != header_bytes) {
    return corrupt("it has ", bytes.size(), " bytes; expected ", header_bytes);
  }
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    return corrupt("magic is wrong; expected ", magic);
  }
  const Reader read(bytes);
  std::uint32_t found_version = 0;
  std::uint32_t found_bytes = 0;
  std::uint64_t checksum = 0;
  read(8, found_version);
  read(12, found_bytes);
  read(checksum_at, checksum);
  // Checked before the checksum, which a later version may store elsewhere, so that the error names
  // the version.
  CALPE_CHECK(check_range("version", found_version, header_version_usual, header_version_digests));
  CALPE_CHECK(check_range("header bytes", found_bytes, header_bytes, header_bytes));
  if (checksum != plain_checksum(bytes.first(checksum_at))) {
    return corrupt("checksum is ", checksum, "; expected ",
                   plain_checksum(bytes.first(checksum_at)));
  }
  return Done{};
}

}  // namespace

HeaderBytes to_bytes(const ShardHeader& header) {
  CALPE_ASSERT(header.name.size() <= set_name_bytes_max);
  HeaderBytes bytes = {};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  const Writer write(bytes);
  write(12, static_cast<std::uint32_t>(header_bytes));
  copy_fields(write, header);
  write(name_bytes_at, static_cast<std::uint16_t>(header.name.size()));
  std::memcpy(bytes.data() + name_at, header.name.data(), header.name.size());
  write(checksum_at, plain_checksum(std::span(bytes).first(checksum_at)));
  return bytes;
}

ShardIndex first_file_shard(const ShardHeader& header) noexcept {
  return header.kind == SetKind::originals ? static_cast<ShardIndex>(header.spec.data_shards)
                                           : ShardIndex{0};
}

Status check_set_name(std::string_view name) {
  if (name.size() > set_name_bytes_max) {
    return corrupt("name has ", name.size(), " bytes; expected at most ", set_name_bytes_max);
  }
  const bool is_one_part = name.find('/') == name.npos && name.find('\0') == name.npos;
  if (!is_one_part || name == "." || name == "..") {
    return corrupt("name contains a slash or zero byte; expected a plain file name");
  }
  return Done{};
}

Result<ShardHeader> parse_header(std::span<const std::byte> bytes) {
  CALPE_CHECK(check_frame(bytes));
  ShardHeader header;
  const Reader read(bytes);
  copy_fields(read, header);
  std::uint16_t name_bytes = 0;
  read(name_bytes_at, name_bytes);
  CALPE_CHECK(check_range("bytes of the name", name_bytes, 0, set_name_bytes_max));
  const auto name = bytes.subspan(name_at, name_bytes);
  header.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  CALPE_CHECK(check_set_name(header.name));

  if (header.generation == 0) return corrupt("generation is 0; expected at least 1");
  CALPE_CHECK(check_range("kind", static_cast<std::uint8_t>(header.kind), 0, 1));
  if (header.kind == SetKind::shards) {
    CALPE_CHECK(check_range("version", header.version, header_version_usual, header_version_usual));
  }
  CALPE_CHECK(check_range("root kind", static_cast<std::uint8_t>(header.root_kind), 0, 2));
  CALPE_CHECK(check_code(header.spec));
  const std::uint64_t shards =
      std::uint64_t{header.spec.data_shards} + header.spec.parity_shards;  // at most 256
  // Data of kept originals is not in shard files.
  const std::uint64_t first = header.kind == SetKind::originals ? header.spec.data_shards : 0;
  CALPE_CHECK(check_range("shard index", header.shard_index, first, shards - 1));
  CALPE_CHECK(check_sizes(header));
  CALPE_CHECK(check_roots(header));
  // Re-encode and compare: every byte outside the fields must be 0.
  const HeaderBytes expected = to_bytes(header);
  if (std::memcmp(bytes.data(), expected.data(), expected.size()) == 0) return header;
  const auto [got, wanted] = std::mismatch(bytes.begin(), bytes.end(), expected.begin());
  return corrupt("byte ", got - bytes.begin(), " is ", std::to_integer<unsigned>(*got),
                 "; expected ", std::to_integer<unsigned>(*wanted));
}

std::optional<std::uint32_t> newer_version(std::span<const std::byte> bytes) {
  if (bytes.size() != header_bytes) return std::nullopt;
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) return std::nullopt;
  // Without the checksum, damage to the version would look like a newer one.
  const auto checksum = load_little<std::uint64_t>(bytes.data() + checksum_at);
  if (checksum != plain_checksum(bytes.first(checksum_at))) return std::nullopt;
  const auto version = load_little<std::uint32_t>(bytes.data() + 8);
  return version > header_version_digests ? std::optional(version) : std::nullopt;
}

std::size_t root_levels(const CodeSpec& spec) noexcept {
  const unsigned shards = unsigned{spec.data_shards} + spec.parity_shards;
  return static_cast<std::size_t>(std::bit_width(shards - 1U));
}

bool is_same_set(const ShardHeader& a, const ShardHeader& b) {
  ShardHeader other = b;
  other.shard_index = a.shard_index;
  other.shard_root = a.shard_root;
  other.root_path = a.root_path;
  return a == other;
}

std::uint64_t next_generation(std::uint64_t generation) {
  const Uuid random = random_uuid();
  std::uint32_t step = 0;  // the first four bytes of a UUID have no fixed bits
  std::memcpy(&step, random.data(), sizeof(step));
  using std::chrono::duration_cast;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = duration_cast<std::chrono::microseconds>(since_1970).count();
  const auto by_clock = microseconds < 0 ? 0 : static_cast<std::uint64_t>(microseconds) * 4;
  const std::uint64_t now = by_clock + step % 4;
  return now > generation ? now : generation + 1 + step;
}

}  // namespace calpe::store
