// SPDX-License-Identifier: Apache-2.0
// Hostile headers: parse_header() accepts no contradictory bytes, and an accepted header prints to
// the same bytes. The input is flags, then the first bytes of a header. The checksum is mostly
// corrected, because otherwise the code after it would not be reached.
#include <algorithm>
#include <cstring>
#include <span>

#include "base/little_endian.hpp"
#include "fuzz/property.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "store/format/shard_header.hpp"

namespace calpe::fuzz {

namespace {

constexpr std::uint8_t flag_checksum_as_it_is = 1;
constexpr std::uint8_t flag_cut_off = 2;
constexpr std::uint8_t flag_sizes_agree = 4;
__extension__ using Wide = unsigned __int128;

// Computes sizes with wider numbers and without the functions of the store.
void check_places(const store::ShardHeader& header) {
  const Wide stripes = header.stripe_count;
  const Wide block_bytes = header.block_bytes;
  const bool is_originals = header.kind == store::SetKind::originals;
  const Wide pages = is_originals ? Wide{header.spec.data_shards} + 2 : 1;
  const Wide body = 4096 + stripes * block_bytes + (stripes + 511) / 512 * pages * 4096;
  Wide all = body + 4096 + (is_originals ? header.manifest_bytes : 0);
  if (header.version == 2) all += Wide{4096} + header.manifest_bytes;
  require(all >> 63U == 0, "a shard file has less than 2^63 bytes");
  require(store::shard_file_bytes(header) == all, "bytes of the file");
  const store::Geometry geometry = store::geometry_of(header);
  require(geometry.body_end() == body, "end of the groups");
  if (stripes == 0) return;
  const std::uint64_t last = header.stripe_count - 1;
  require(geometry.block_offset(last) + block_bytes <= body, "the last block is in the file");
  require(geometry.checksum_offset(last) + Wide{8} <= body, "the last checksum is in the file");
}

void check_fields(const store::ShardHeader& header) {
  const CodeSpec& spec = header.spec;
  require(spec.data_shards >= 1 && spec.parity_shards >= 1, "k and m are at least 1");
  require(spec.data_shards + spec.parity_shards <= 256, "k + m is at most 256");
  require(header.shard_index < spec.data_shards + spec.parity_shards, "shard index");
  require(header.version == 1 || header.version == 2, "version");
  require(header.version == 1 || header.kind == store::SetKind::originals, "version of shards");
  require(header.block_bytes >= 64 && header.block_bytes <= 1U << 24U, "block bytes");
  require(header.block_bytes % 64 == 0, "block bytes are a multiple of 64");
  require(header.name.size() <= 255, "the name is short");
  require(header.name.find('/') == std::string::npos, "the name has no directory");
  require(header.manifest_bytes <= Wide{1} << 32U, "the manifest is short");
  const Wide stripe_bytes = Wide{spec.data_shards} * header.block_bytes;
  require(header.content_bytes <= header.stripe_count * stripe_bytes, "the content fits");
  if (header.kind == store::SetKind::originals) return;
  require(Wide{header.manifest_offset} + header.manifest_bytes == header.content_bytes,
          "the manifest ends the content");
}

// Three consistent 64-bit numbers, overflowing or not, are not found by chance. Stripes are 16
// bits, shifted.
void make_sizes_agree(store::HeaderBytes& bytes) {
  const std::uint64_t stripes = std::uint64_t{load_little<std::uint16_t>(bytes.data() + 48)}
                                << load_little<std::uint8_t>(bytes.data() + 50) % 64U;
  store_little(bytes.data() + 48, stripes);
  const std::uint64_t stripe_bytes = std::uint64_t{load_little<std::uint32_t>(bytes.data() + 44)} *
                                     load_little<std::uint16_t>(bytes.data() + 82);
  const std::uint64_t content = stripes * stripe_bytes;
  const std::uint64_t manifest_offset = content - load_little<std::uint64_t>(bytes.data() + 72);
  store_little(bytes.data() + 56, content);
  store_little(bytes.data() + 64, manifest_offset);
}

void run(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::uint8_t flags = input[0];
  const auto start = input.subspan(1, std::min(input.size() - 1, store::header_bytes));
  store::HeaderBytes bytes = {};
  std::memcpy(bytes.data(), start.data(), start.size());
  if ((flags & flag_sizes_agree) != 0) make_sizes_agree(bytes);
  if ((flags & flag_checksum_as_it_is) == 0) {
    constexpr std::size_t checked = store::header_bytes - 8;
    const std::uint64_t checksum = store::plain_checksum(std::span(bytes).first(checked));
    store_little(bytes.data() + checked, checksum);
  }
  std::span<const std::byte> seen(bytes);
  if ((flags & flag_cut_off) != 0) seen = seen.first(start.size());
  const auto header = store::parse_header(seen);
  if (!header) {
    require(header.error().code == ErrorCode::corrupt, "a bad header is corrupt");
    return;
  }
  require(seen.size() == bytes.size(), "a truncated header is refused");
  check_fields(*header);
  check_places(*header);
  require(store::to_bytes(*header) == bytes, "a parsed header prints to the same bytes");
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
