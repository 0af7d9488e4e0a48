// SPDX-License-Identifier: Apache-2.0
#include "array/format/superblock.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::array {

namespace {

constexpr std::string_view magic = "calpe-a1";
constexpr std::uint32_t version_first = 1;
constexpr std::uint32_t version_with_features = 2;  // older versions refuse it
constexpr std::uint32_t feature_grown = 1;          // incompatible
constexpr std::uint32_t features_known = feature_grown;
constexpr std::size_t epoch_at = 32;
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
constexpr std::size_t features_at = 112;
constexpr std::size_t repaired_at = roles_at + members_most * role_bytes;
constexpr std::size_t write_errors_at = repaired_at + members_most * 4;
constexpr std::size_t scrub_at = write_errors_at + members_most * 2;
constexpr std::size_t grown_at = 4032;
static_assert(scrub_at == 3968 && grown_at + growths_max * 8 == checksum_at);

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

// The largest number stands for itself and all larger ones.
template <class T>
void put_most(SuperblockBytes& bytes, std::size_t at, std::uint64_t value) {
  put(bytes, at, static_cast<T>(std::min<std::uint64_t>(value, std::numeric_limits<T>::max())));
}

void put_errors(SuperblockBytes& bytes, unsigned role, const MemberErrors& errors) {
  const std::size_t at = roles_at + role * role_bytes + 40;
  put_most<std::uint32_t>(bytes, at, errors.reads);
  put_most<std::uint32_t>(bytes, at + 4, errors.blocks_wrong);
  put_most<std::uint32_t>(bytes, repaired_at + role * 4, errors.blocks_repaired);
  put_most<std::uint16_t>(bytes, write_errors_at + role * 2, errors.writes);
}

MemberErrors get_errors(std::span<const std::byte> bytes, unsigned role) {
  const std::size_t at = roles_at + role * role_bytes + 40;
  return {.reads = get<std::uint32_t>(bytes, at),
          .writes = get<std::uint16_t>(bytes, write_errors_at + role * 2),
          .blocks_wrong = get<std::uint32_t>(bytes, at + 4),
          .blocks_repaired = get<std::uint32_t>(bytes, repaired_at + role * 4)};
}

void put_found(SuperblockBytes& bytes, std::size_t at, const ScrubHistory::Found& found) {
  put_most<std::uint32_t>(bytes, at, found.wrong);
  put_most<std::uint32_t>(bytes, at + 4, found.repaired);
  put_most<std::uint32_t>(bytes, at + 8, found.lost);
}

ScrubHistory::Found get_found(std::span<const std::byte> bytes, std::size_t at) {
  return {.wrong = get<std::uint32_t>(bytes, at),
          .repaired = get<std::uint32_t>(bytes, at + 4),
          .lost = get<std::uint32_t>(bytes, at + 8)};
}

void put_scrub(SuperblockBytes& bytes, const ScrubHistory& scrub) {
  put(bytes, scrub_at, static_cast<std::uint64_t>(scrub.begun));
  put(bytes, scrub_at + 8, scrub.next);
  put_found(bytes, scrub_at + 16, scrub.found);
  put(bytes, scrub_at + 28, scrub.complete);
  put(bytes, scrub_at + 32, static_cast<std::uint64_t>(scrub.last_begun));
  put(bytes, scrub_at + 40, static_cast<std::uint64_t>(scrub.last_end));
  put_found(bytes, scrub_at + 48, scrub.last_found);
}

ScrubHistory get_scrub(std::span<const std::byte> bytes) {
  return {.begun = static_cast<std::int64_t>(get<std::uint64_t>(bytes, scrub_at)),
          .next = get<std::uint64_t>(bytes, scrub_at + 8),
          .found = get_found(bytes, scrub_at + 16),
          .complete = get<std::uint32_t>(bytes, scrub_at + 28),
          .last_begun = static_cast<std::int64_t>(get<std::uint64_t>(bytes, scrub_at + 32)),
          .last_end = static_cast<std::int64_t>(get<std::uint64_t>(bytes, scrub_at + 40)),
          .last_found = get_found(bytes, scrub_at + 48)};
}

bool is_grown(const Shape& shape) {
  return shape.grown_from[0].stripes != 0;
}

// A superblock without features that older versions must know has the version that they read.
void put_features(SuperblockBytes& bytes, const Superblock& from) {
  const std::uint32_t incompatible = is_grown(from.shape) ? feature_grown : 0;
  const bool has_any = incompatible != 0 || from.unknown_features != 0;
  put(bytes, 8, has_any ? version_with_features : version_first);
  put(bytes, features_at, incompatible);
  put(bytes, features_at + 4, from.unknown_features);
  for (std::size_t i = 0; i < growths_max; ++i) {
    put(bytes, grown_at + i * 8, from.shape.grown_from[i].stripes);
    put(bytes, grown_at + i * 8 + 4, from.shape.grown_from[i].spare_slots);
  }
}

// Fails if the array cannot even be read without knowing a feature.
Status get_features(std::span<const std::byte> bytes, Superblock& to) {
  const auto written = get<std::uint32_t>(bytes, 8);
  if (written != version_first && written != version_with_features) {
    return corrupt("version is ", written, "; expected at most ", version_with_features,
                   ": use a newer version of Calpe");
  }
  if (written == version_first) return Done{};
  const auto incompatible = get<std::uint32_t>(bytes, features_at);
  if ((incompatible & ~features_known) != 0) {
    return corrupt("the array uses features ", incompatible & ~features_known,
                   " that this version does not know; use a newer version of Calpe");
  }
  to.unknown_features = get<std::uint32_t>(bytes, features_at + 4);
  if ((incompatible & feature_grown) == 0) return Done{};
  for (std::size_t i = 0; i < growths_max; ++i) {
    to.shape.grown_from[i] = {.stripes = get<std::uint32_t>(bytes, grown_at + i * 8),
                              .spare_slots = get<std::uint32_t>(bytes, grown_at + i * 8 + 4)};
  }
  if (!is_grown(to.shape)) return corrupt("the array has grown from 0 stripes");
  return Done{};
}

// Each size has more stripes and slots than the one before.
Status check_growth(const Superblock& read) {
  const std::uint64_t stripe =
      std::uint64_t{read.settings.chunk_bytes} * read.settings.spec.data_shards;
  std::uint64_t stripes = 0;
  std::uint64_t slots = 0;
  bool is_end = false;
  for (std::size_t i = 0; i <= growths_max; ++i) {
    GrownFrom size = i == growths_max ? GrownFrom{} : read.shape.grown_from[i];
    const bool is_last = size.stripes == 0;
    if (is_end) {
      if (is_last && size.spare_slots == 0) continue;
      return corrupt("the list of earlier sizes has a gap");
    }
    const std::uint64_t now =
        is_last ? divide_up(read.settings.bytes, stripe) : std::uint64_t{size.stripes};
    const std::uint64_t spare = is_last ? read.settings.spare_slots : size.spare_slots;
    if (now <= stripes || spare < 2 || now + spare <= slots || now + spare >= no_slot) {
      return corrupt("the array has grown from ", stripes, " to ", now, " stripes with ", spare,
                     " spare slots; expected more");
    }
    stripes = now;
    slots = now + spare;
    is_end = is_last;
  }
  return Done{};
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
    to.errors = get_errors(bytes, role);
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
  CALPE_CHECK(check_growth(read));
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
  put_features(bytes, from);
  put(bytes, 16, from.array);
  put(bytes, epoch_at, from.epoch);
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
    put_errors(bytes, static_cast<unsigned>(role), record.errors);
  }
  put(bytes, 160, from.session);
  put_lease(bytes, from.lease);
  put_successor(bytes, from.successor);
  put_scrub(bytes, from.scrub);
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
  Superblock to;
  CALPE_CHECK(get_features(bytes, to));
  to.array = get<Uuid>(bytes, 16);
  to.epoch = get<std::uint64_t>(bytes, epoch_at);
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
  to.scrub = get_scrub(bytes);
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

std::optional<std::uint64_t> epoch_for_newer_version(std::span<const std::byte> bytes) {
  const bool is_whole =
      bytes.size() == block_bytes && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0 &&
      get<std::uint64_t>(bytes, checksum_at) == store::plain_checksum(bytes.first(checksum_at));
  Superblock unused;
  if (!is_whole || get_features(bytes, unused)) return std::nullopt;
  return get<std::uint64_t>(bytes, epoch_at);
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
