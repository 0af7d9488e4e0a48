// SPDX-License-Identifier: Apache-2.0
#include "array/format/superblock.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::array {

namespace {

constexpr std::string_view magic = "calpe-a1";
constexpr std::uint32_t version = 1;
constexpr std::size_t checksum_at = block_bytes - 8;
constexpr std::size_t roles_at = 512;
constexpr std::size_t role_bytes = 48;
constexpr std::size_t host_at = 224;
constexpr std::size_t host_bytes = 48;
constexpr std::size_t successor_at = 274;
constexpr std::size_t past_at = 304;
constexpr std::size_t past_bytes = 16;
static_assert(successor_at + 30 == past_at);
static_assert(past_at + past_sessions_max * past_bytes <= roles_at);

template <class T>
void put(SuperblockBytes& bytes, std::size_t at, T value) {
  store_little(bytes.data() + at, value);
}

template <class T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  return load_little<T>(bytes.data() + at);
}

template <class... Parts>
Error corrupt(const Parts&... parts) {
  return make_error(ErrorCode::corrupt, "superblock: ", parts...);
}

void put_spec(SuperblockBytes& bytes, const CodeSpec& spec) {
  put(bytes, 128, spec.family);
  put(bytes, 129, spec.layout);
  put(bytes, 130, static_cast<std::uint16_t>(spec.data_shards));
  put(bytes, 132, static_cast<std::uint16_t>(spec.parity_shards));
  put(bytes, 134, spec.word_bits);
  put(bytes, 136, spec.polynomial);
  put(bytes, 140, spec.packet_bytes);
  put(bytes, 144, static_cast<std::uint16_t>(spec.local_groups));
  put(bytes, 152, spec.matrix_hash);
}

CodeSpec get_spec(std::span<const std::byte> bytes) {
  CodeSpec spec;
  spec.family = get<decltype(spec.family)>(bytes, 128);
  spec.layout = get<decltype(spec.layout)>(bytes, 129);
  spec.data_shards = get<std::uint16_t>(bytes, 130);
  spec.parity_shards = get<std::uint16_t>(bytes, 132);
  spec.word_bits = get<decltype(spec.word_bits)>(bytes, 134);
  spec.polynomial = get<decltype(spec.polynomial)>(bytes, 136);
  spec.packet_bytes = get<decltype(spec.packet_bytes)>(bytes, 140);
  spec.local_groups = get<std::uint16_t>(bytes, 144);
  spec.matrix_hash = get<decltype(spec.matrix_hash)>(bytes, 152);
  return spec;
}

void put_lease(SuperblockBytes& bytes, const Lease& lease) {
  put(bytes, 168, lease.id);
  put(bytes, 176, lease.renewals);
  put(bytes, 184, lease.holder.boot);
  put(bytes, 200, lease.holder.pid_namespace);
  put(bytes, 208, lease.holder.pid);
  put(bytes, 212, lease.holder.renewal_milliseconds);
  put(bytes, 216, lease.holder.started);
  std::memcpy(bytes.data() + host_at, lease.holder.host.data(),
              std::min(lease.holder.host.size(), host_bytes - 1));
  put(bytes, 272, static_cast<std::uint8_t>(lease.is_held ? 1 : 0));
}

Lease get_lease(std::span<const std::byte> bytes) {
  Lease lease;
  lease.id = get<std::uint64_t>(bytes, 168);
  lease.renewals = get<std::uint64_t>(bytes, 176);
  lease.holder.boot = get<Uuid>(bytes, 184);
  lease.holder.pid_namespace = get<std::uint64_t>(bytes, 200);
  lease.holder.pid = get<std::uint32_t>(bytes, 208);
  lease.holder.renewal_milliseconds = get<std::uint32_t>(bytes, 212);
  lease.holder.started = get<std::uint64_t>(bytes, 216);
  for (std::size_t i = 0; i < host_bytes - 1 && bytes[host_at + i] != std::byte{0}; ++i) {
    lease.holder.host += static_cast<char>(bytes[host_at + i]);
  }
  lease.is_held = get<std::uint8_t>(bytes, 272) != 0;
  return lease;
}

// Older versions write zeros, which mean none.
void put_successor(SuperblockBytes& bytes, const Successor& successor) {
  if (successor.role == no_role) return;
  put(bytes, successor_at, static_cast<std::uint16_t>(successor.role + 1));
  put(bytes, successor_at + 2, static_cast<std::uint32_t>(successor.slots_done));
  put(bytes, successor_at + 6, successor.uuid);
}

Result<Successor> get_successor(std::span<const std::byte> bytes, unsigned roles) {
  const unsigned number = get<std::uint16_t>(bytes, successor_at);
  if (number == 0) return Successor{};
  if (number > roles) {
    return corrupt("a successor of member ", number - 1, " is listed; expected less than ", roles);
  }
  return Successor{.uuid = get<Uuid>(bytes, successor_at + 6),
                   .role = number - 1,
                   .slots_done = get<std::uint32_t>(bytes, successor_at + 2)};
}

Result<std::vector<RoleRecord>> get_roles(std::span<const std::byte> bytes, unsigned count) {
  std::vector<RoleRecord> roles(count);
  for (unsigned role = 0; role < count; ++role) {
    const std::size_t at = roles_at + role * role_bytes;
    RoleRecord& to = roles[role];
    to.uuid = get<Uuid>(bytes, at);
    to.watermark = get<std::uint64_t>(bytes, at + 16);
    to.out_epoch = get<std::uint64_t>(bytes, at + 24);
    const auto state = get<std::uint8_t>(bytes, at + 32);
    const auto flags = get<std::uint8_t>(bytes, at + 33);
    if (state > static_cast<std::uint8_t>(MemberState::rebuilding) || flags > 3) {
      return corrupt("member ", role, " has state ", unsigned{state}, " and flags ",
                     unsigned{flags}, "; expected at most 2 and 3");
    }
    to.state = static_cast<MemberState>(state);
    const auto slots = get<std::uint32_t>(bytes, at + 36);
    if (slots != 0) to.slots_done = slots - 1;
    to.by_missed = (flags & 1U) != 0;
    to.needs_full = (flags & 2U) != 0;
    const auto on_request = get<std::uint8_t>(bytes, at + 34);
    if (on_request > 1) {
      return corrupt("member ", role, " has on request ", unsigned{on_request},
                     "; expected 0 or 1");
    }
    to.on_request = on_request != 0;
    for (unsigned other = 0; other < role; ++other) {
      if (roles[other].uuid != to.uuid) continue;
      return corrupt("members ", other, " and ", role, " have the same uuid");
    }
  }
  return roles;
}

Status check_fields(const Superblock& read) {
  const Status settings = check_settings(read.settings);
  if (!settings) return corrupt(settings.error().message);
  if (read.settings.bytes == 0 || read.settings.log_bytes == 0 || read.settings.spare_slots == 0) {
    return corrupt("a size is 0; expected all sizes to be set");
  }
  if (read.settings.spec.matrix_hash == 0) return corrupt("the code has no matrix hash");
  const unsigned roles = read.settings.spec.data_shards + read.settings.spec.parity_shards;
  if (read.shape.rotated == 0 || read.shape.rotated > roles || read.shape.members_max < roles ||
      read.shape.members_max > members_most) {
    return corrupt("parity rotates over ", read.shape.rotated, " members and there is room for ",
                   read.shape.members_max, "; the array has ", roles);
  }
  if (read.settings.log_bytes < log_least(read.settings, read.shape)) {
    return corrupt("log bytes is ", read.settings.log_bytes, "; expected at least ",
                   log_least(read.settings, read.shape));
  }
  if (read.role != no_role && read.role >= roles) {
    return corrupt("member is ", read.role, "; expected less than ", roles);
  }
  if (read.index_copy > 1) return corrupt("index copy is ", read.index_copy, "; expected 0 or 1");
  if (read.epoch == 0 || read.previous >= read.epoch) {
    return corrupt("epoch is ", read.epoch, " after ", read.previous, "; expected it to increase");
  }
  return Done{};
}

}  // namespace

bool Superblock::operator==(const Superblock& other) const {
  return to_bytes(*this) == to_bytes(other);
}

SuperblockBytes to_bytes(const Superblock& from) {
  SuperblockBytes bytes = {};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  put(bytes, 8, version);
  put(bytes, 16, from.array);
  put(bytes, 32, from.epoch);
  put(bytes, 40, from.previous);
  put(bytes, 48, from.generation);
  put(bytes, 56, from.member);
  put(bytes, 72, static_cast<std::uint16_t>(from.role));
  put(bytes, 74, static_cast<std::uint8_t>(from.is_clean ? 1 : 0));
  put(bytes, 75, static_cast<std::uint8_t>(from.index_copy));
  put(bytes, 76, static_cast<std::uint16_t>(from.shape.rotated));
  put(bytes, 78, static_cast<std::uint16_t>(from.shape.members_max));
  put(bytes, 80, from.index_root);
  put(bytes, 88, from.settings.bytes);
  put(bytes, 96, from.settings.log_bytes);
  put(bytes, 104, from.settings.chunk_bytes);
  put(bytes, 108, from.settings.spare_slots);
  put_spec(bytes, from.settings.spec);
  for (std::size_t role = 0; role < from.roles.size(); ++role) {
    const std::size_t at = roles_at + role * role_bytes;
    const RoleRecord& record = from.roles[role];
    put(bytes, at, record.uuid);
    put(bytes, at + 16, record.watermark);
    put(bytes, at + 24, record.out_epoch);
    put(bytes, at + 32, record.state);
    put(bytes, at + 33,
        static_cast<std::uint8_t>((record.by_missed ? 1U : 0U) | (record.needs_full ? 2U : 0U)));
    put(bytes, at + 34, static_cast<std::uint8_t>(record.on_request ? 1 : 0));
    if (record.slots_done) {
      put(bytes, at + 36, static_cast<std::uint32_t>(*record.slots_done + 1));
    }
  }
  put(bytes, 160, from.session);
  put_lease(bytes, from.lease);
  put_successor(bytes, from.successor);
  for (std::size_t i = 0; i < std::min(from.past.size(), past_sessions_max); ++i) {
    put(bytes, past_at + i * past_bytes, from.past[i].session);
    put(bytes, past_at + i * past_bytes + 8, from.past[i].last_epoch);
  }
  put(bytes, checksum_at, store::plain_checksum(std::span(bytes).first(checksum_at)));
  return bytes;
}

Result<Superblock> parse_superblock(std::span<const std::byte> bytes) {
  if (bytes.size() != block_bytes) return corrupt("has ", bytes.size(), " bytes; expected 4096");
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    return corrupt("no magic \"", magic, "\": not a member of an array");
  }
  if (get<std::uint64_t>(bytes, checksum_at) != store::plain_checksum(bytes.first(checksum_at))) {
    return corrupt("the checksum does not match");
  }
  const auto written = get<std::uint32_t>(bytes, 8);
  if (written != version) return corrupt("version is ", written, "; expected ", version);
  Superblock to;
  to.array = get<Uuid>(bytes, 16);
  to.epoch = get<std::uint64_t>(bytes, 32);
  to.previous = get<std::uint64_t>(bytes, 40);
  to.generation = get<std::uint64_t>(bytes, 48);
  to.member = get<Uuid>(bytes, 56);
  to.role = get<std::uint16_t>(bytes, 72);
  to.is_clean = get<std::uint8_t>(bytes, 74) != 0;
  to.index_copy = get<std::uint8_t>(bytes, 75);
  to.shape.rotated = get<std::uint16_t>(bytes, 76);
  to.shape.members_max = get<std::uint16_t>(bytes, 78);
  to.index_root = get<std::uint64_t>(bytes, 80);
  to.settings.bytes = get<std::uint64_t>(bytes, 88);
  to.settings.log_bytes = get<std::uint64_t>(bytes, 96);
  to.settings.chunk_bytes = get<std::uint32_t>(bytes, 104);
  to.settings.spare_slots = get<std::uint32_t>(bytes, 108);
  to.settings.spec = get_spec(bytes);
  to.session = get<std::uint64_t>(bytes, 160);
  to.lease = get_lease(bytes);
  for (std::size_t i = 0; i < past_sessions_max; ++i) {
    const PastSession past{get<std::uint64_t>(bytes, past_at + i * past_bytes),
                           get<std::uint64_t>(bytes, past_at + i * past_bytes + 8)};
    if (past.last_epoch == 0) break;
    to.past.push_back(past);
  }
  CALPE_CHECK(check_fields(to));
  const unsigned roles = to.settings.spec.data_shards + unsigned{to.settings.spec.parity_shards};
  CALPE_TRY(to.roles, get_roles(bytes, roles));
  CALPE_TRY(to.successor, get_successor(bytes, roles));
  return to;
}

Uuid member_uuid(const Uuid& array, std::uint64_t epoch, unsigned place) {
  const store::BlockName first{.uuid = array, .generation = epoch, .stripe = place, .shard = 1};
  const store::BlockName second{.uuid = array, .generation = epoch, .stripe = place, .shard = 2};
  Uuid uuid = {};
  store_little(uuid.data(), store::block_mask(first));
  store_little(uuid.data() + 8, store::block_mask(second));
  return uuid;
}

}  // namespace calpe::array
