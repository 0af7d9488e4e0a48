// SPDX-License-Identifier: Apache-2.0
#include "ceph/pool_flags.hpp"

#include "ceph/decoder.hpp"

namespace calpe::ceph {

namespace {

// Exports of Ceph 12 and newer; in older ones the map is elsewhere.
constexpr std::uint64_t metadata_version = 6;
constexpr std::uint64_t map_version = 7;

// Reads up to the flags; sizes, tiers and options follow.
std::uint64_t read_flags(Decoder& pool) {
  pool.skip(4);   // type, size, CRUSH rule, hash
  pool.skip(20);  // numbers of groups, epoch of the last change
  pool.skip(12);  // newest snapshot
  pool.each([&] {
    pool.skip(8);
    pool.structure();  // a snapshot of the pool
  });
  pool.each([&] { pool.skip(16); });  // removed snapshots
  pool.skip(8);
  return pool.number(8);
}

}  // namespace

std::optional<std::uint64_t> pool_flags(std::span<const std::byte> metadata, std::uint64_t pool) {
  Decoder outer(metadata);
  Decoder section = outer.structure();
  if (section.version() < metadata_version) return std::nullopt;
  section.skip(5);      // version of the group, epoch
  section.structure();  // the group
  section.structure();  // its log
  section.structure();  // its past intervals
  Decoder map = section.structure();
  if (map.version() < map_version) return std::nullopt;
  Decoder clients = map.structure();
  clients.skip(36);  // cluster, epoch, times
  std::optional<std::uint64_t> flags;
  clients.each([&] {
    const std::uint64_t id = clients.number(8);
    Decoder entry = clients.structure();
    const std::uint64_t found = read_flags(entry);
    if (id == pool && entry.is_good()) flags = found;
  });
  return flags;
}

}  // namespace calpe::ceph
