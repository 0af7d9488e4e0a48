// SPDX-License-Identifier: Apache-2.0
#include "remote/format/generation_object.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/root_hash.hpp"

namespace calpe::remote {

namespace {

constexpr std::array<char, 8> magic = {'c', 'a', 'l', 'p', 'e', '-', 'g', '1'};
constexpr std::uint32_t version = 1;
constexpr std::size_t fixed_bytes = 64;
constexpr std::size_t tables_offset = fixed_bytes + store::header_bytes;
constexpr std::uint8_t digest_kind = 0x20;  // docs/format.md uses the lower ones
constexpr std::size_t label_bytes_max = 4096;
constexpr std::uint32_t shards_max = 65536;

Error damaged(std::string_view what) {
  return make_error(ErrorCode::corrupt, "the generation object is damaged: ", what);
}

Result<Digest> digest_of(std::span<const std::byte> bytes) {
  store::Sha256 hash;
  return hash.begin(digest_kind).add(bytes).finish();
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::uint64_t stripe_bytes(const store::ShardHeader& header) {
  return std::uint64_t{header.block_bytes} * header.spec.data_shards;
}

struct Counts {
  std::uint64_t data = 0;
  std::uint64_t manifest = 0;
};

Result<Counts> counts_of(const store::ShardHeader& header, std::uint64_t segment_bytes) {
  const bool is_good = segment_bytes != 0 && segment_bytes % stripe_bytes(header) == 0 &&
                       segment_bytes <= store::stripe_bytes_max;
  if (!is_good) return damaged("wrong size of segments");
  const Counts counts = {divide_up(header.manifest_offset, segment_bytes),
                         divide_up(header.manifest_bytes, segment_bytes)};
  if (counts.data + counts.manifest > segments_max) return damaged("too many segments");
  return counts;
}

// Reads length-prefixed labels; returns the number of bytes used.
Result<std::size_t> read_labels(std::span<const std::byte> bytes, Generation& generation) {
  std::size_t at = 0;
  for (std::size_t shard = 0; shard < generation.shard_count(); ++shard) {
    if (bytes.size() - at < 2) return damaged("cut off");
    const std::size_t length = load_little<std::uint16_t>(bytes.data() + at);
    at += 2;
    if (length > label_bytes_max || bytes.size() - at < length) return damaged("cut off");
    generation.labels.emplace_back(reinterpret_cast<const char*>(bytes.data() + at), length);
    at += length;
  }
  return at;
}

}  // namespace

void set_sizes(store::ShardHeader& header, std::uint64_t data_bytes, std::uint64_t manifest_bytes) {
  header.manifest_offset = data_bytes;
  header.manifest_bytes = manifest_bytes;
  header.content_bytes = data_bytes + manifest_bytes;
  header.stripe_count = divide_up(header.content_bytes, stripe_bytes(header));
}

Result<std::vector<std::byte>> to_bytes(const Generation& generation) {
  std::vector<std::byte> out(fixed_bytes);
  std::memcpy(out.data(), magic.data(), magic.size());
  store_little(out.data() + 8, version);
  if (generation.places_may_fail)
    store_little(out.data() + 12, static_cast<std::uint32_t>(*generation.places_may_fail + 1));
  store_little(out.data() + 16, generation.parent);
  store_little(out.data() + 24, generation.segment_bytes);
  append(out, store::to_bytes(generation.header));
  for (const std::string& label : generation.labels) {
    const std::string_view kept = std::string_view(label).substr(0, label_bytes_max);
    std::array<std::byte, 2> length = {};
    store_little(length.data(), static_cast<std::uint16_t>(kept.size()));
    append(out, length);
    append(out, std::as_bytes(std::span(kept)));
  }
  for (const Digest& digest : generation.data)
    append(out, digest);
  for (const Digest& digest : generation.manifest)
    append(out, digest);
  CALPE_TRY(const Digest digest, digest_of(out));
  append(out, digest);
  return out;
}

Result<Generation> parse_generation(std::span<const std::byte> bytes) {
  constexpr std::size_t digest_bytes = sizeof(Digest);
  if (bytes.size() < tables_offset + digest_bytes) return damaged("cut off");
  const auto body = bytes.first(bytes.size() - digest_bytes);
  CALPE_TRY(const Digest digest, digest_of(body));
  if (std::memcmp(digest.data(), bytes.data() + body.size(), digest_bytes) != 0)
    return damaged("its checksum does not match");
  if (std::memcmp(body.data(), magic.data(), magic.size()) != 0) return damaged("wrong magic");
  if (const auto got = load_little<std::uint32_t>(body.data() + 8); got != version) {
    return make_error(ErrorCode::corrupt, "the generation object has version ", got,
                      "; expected 1; use a newer calpe");
  }
  Generation generation;
  const auto losses = load_little<std::uint32_t>(body.data() + 12);
  if (losses > shards_max) return damaged("wrong number of places");
  if (losses != 0) generation.places_may_fail = static_cast<std::uint16_t>(losses - 1);
  load_little(body.data() + 16, generation.parent);
  load_little(body.data() + 24, generation.segment_bytes);
  CALPE_TRY(generation.header, store::parse_header(body.subspan(fixed_bytes, store::header_bytes)));
  CALPE_TRY(const Counts counts, counts_of(generation.header, generation.segment_bytes));
  CALPE_TRY(const std::size_t used, read_labels(body.subspan(tables_offset), generation));
  const auto table = body.subspan(tables_offset + used);
  if (table.size() != (counts.data + counts.manifest) * digest_bytes)
    return damaged("wrong number of segments");
  const auto take = [&](std::uint64_t first, std::uint64_t count, std::vector<Digest>& digests) {
    digests.resize(count);
    if (count != 0)
      std::memcpy(digests.data(), table.data() + first * digest_bytes, count * digest_bytes);
  };
  take(0, counts.data, generation.data);
  take(counts.data, counts.manifest, generation.manifest);
  return generation;
}

std::vector<Segment> segments_of(std::span<const Digest> digests, std::uint64_t bytes,
                                 std::uint64_t segment_bytes) {
  std::vector<Segment> segments;
  segments.reserve(digests.size());
  for (const Digest& digest : digests) {
    const std::uint64_t taken = std::min(bytes, segment_bytes);
    segments.push_back({digest, taken});
    bytes -= taken;
  }
  return segments;
}

std::vector<Segment> all_segments(const Generation& generation) {
  const store::ShardHeader& header = generation.header;
  auto all = segments_of(generation.data, header.manifest_offset, generation.segment_bytes);
  const auto more =
      segments_of(generation.manifest, header.manifest_bytes, generation.segment_bytes);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::uint64_t choose_segment_bytes(const store::ShardHeader& header, std::uint64_t data_bytes) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  const std::uint64_t stripe = stripe_bytes(header);
  const std::uint64_t shards = header.spec.data_shards + header.spec.parity_shards;
  const std::uint64_t fitting = 64 * mib * header.spec.data_shards / shards;
  const std::uint64_t wanted = std::min(std::clamp(data_bytes / 256, mib, 32 * mib), fitting);
  return std::max<std::uint64_t>(wanted / stripe, 1) * stripe;
}

}  // namespace calpe::remote
