// SPDX-License-Identifier: Apache-2.0
#include "store/write/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <openssl/evp.h>

#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view magic = "calpe-r1";
constexpr std::uint32_t version = 1;
constexpr std::size_t checksum_at = header_bytes - 8;
constexpr std::size_t name_bytes_at = 88;
constexpr std::size_t name_at = 90;

// One list of offsets for both directions: copy(offset, field).
template <class Copy, class Record>
void copy_fields(const Copy& copy, Record& record) {
  copy(12, record.block_bytes);
  copy(16, record.uuid);
  copy(32, record.groups);
  copy(40, record.shard_index);
  copy(42, record.shard_count);
  copy(48, record.what);
}

}  // namespace

HeaderBytes to_bytes(const Checkpoint& checkpoint) {
  HeaderBytes bytes = {};
  const auto put = [&](std::size_t at, const auto& value) {
    store_little(bytes.data() + at, value);
  };
  std::memcpy(bytes.data(), magic.data(), magic.size());
  put(8, version);
  copy_fields(put, checkpoint);
  const std::size_t name_bytes = std::min(checkpoint.name.size(), set_name_bytes_max);
  put(name_bytes_at, static_cast<std::uint16_t>(name_bytes));
  std::memcpy(bytes.data() + name_at, checkpoint.name.data(), name_bytes);
  put(checksum_at, plain_checksum(std::span(bytes).first(checksum_at)));
  return bytes;
}

Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes) {
  const auto corrupt = [](const auto&... parts) {
    return make_error(ErrorCode::corrupt, "checkpoint: ", parts...);
  };
  if (bytes.size() != header_bytes) {
    return corrupt(bytes.size(), " bytes; expected ", header_bytes);
  }
  const auto get = [&](std::size_t at, auto& value) { load_little(bytes.data() + at, value); };
  std::uint64_t checksum = 0;
  get(checksum_at, checksum);
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    return corrupt("magic is not ", magic);
  }
  if (checksum != plain_checksum(bytes.first(checksum_at))) return corrupt("checksum is wrong");
  std::uint16_t name_bytes = 0;
  get(name_bytes_at, name_bytes);
  if (name_bytes > set_name_bytes_max) {
    return corrupt("the name has ", name_bytes, " bytes; expected at most ", set_name_bytes_max);
  }
  Checkpoint checkpoint;
  copy_fields(get, checkpoint);
  checkpoint.name.assign(reinterpret_cast<const char*>(bytes.data() + name_at), name_bytes);
  // Also checks the version and that unused bytes are 0.
  if (!std::ranges::equal(to_bytes(checkpoint), bytes)) {
    return corrupt("an unknown field is not 0");
  }
  return checkpoint;
}

Digest digest_of(ShardHeader header, const ContentSource& content) {
  Digest digest = {};
  const std::vector<std::byte> identity = content.identity();
  if (identity.empty() || !content.bytes_expected()) return digest;
  header.uuid = {};
  header.shard_index = 0;
  header.content_bytes = *content.bytes_expected();
  const HeaderBytes front = to_bytes(header);
  std::vector<std::byte> all(front.begin(), front.end());
  all.insert(all.end(), identity.begin(), identity.end());
  const int is_done =
      EVP_Digest(all.data(), all.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                 EVP_sha256(), nullptr);
  return is_done == 1 ? digest : Digest{};
}

Status Checkpoints::write() {
  Checkpoint record = at_;
  for (std::size_t shard = 0; shard < shards_.count(); ++shard) {
    record.shard_index = static_cast<ShardIndex>(shard);
    CALPE_CHECK(shards_.file(shard).write_at(to_bytes(record), 0));
  }
  return Done{};
}

Status Checkpoints::reached(std::uint64_t groups) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_time =
      (groups - at_.groups) * group_bytes_ >= pace_.content_bytes || now - last_ >= pace_.time;
  if (groups <= at_.groups || !is_time || at_.what == Digest{}) return Done{};
  CALPE_CHECK(shards_.sync(jobs_));
  if (!are_names_synced_) CALPE_CHECK(shards_.sync_folders());
  are_names_synced_ = true;
  at_.groups = groups;
  // Start the interval after the sync, which may take long.
  last_ = std::chrono::steady_clock::now();
  return write();
}

}  // namespace calpe::store
