// SPDX-License-Identifier: Apache-2.0
// An independent reader of superblocks, written from docs/array-format.md. What the simulation
// expects of members that come back thus does not depend on the code under test.
#pragma once
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "array/simulated_members.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::tests {

struct SuperblockOnDisk {
  static constexpr std::size_t bytes = 4096;
  std::vector<std::byte> image = {};

  template <class T>
  T at(std::size_t offset) const {
    T value = {};
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
  }
  std::uint64_t epoch() const { return at<std::uint64_t>(32); }
  Uuid member() const { return at<Uuid>(56); }
  Uuid uuid_of_role(unsigned role) const { return at<Uuid>(512 + 48 * role); }
  std::uint64_t out_epoch(unsigned role) const { return at<std::uint64_t>(536 + 48 * role); }
  bool is_out(unsigned role) const { return at<std::uint8_t>(544 + 48 * role) == 1; }
  bool missed_unknown(unsigned role) const { return (at<std::uint8_t>(545 + 48 * role) & 2U) != 0; }
  bool is_in(unsigned role) const { return at<std::uint8_t>(544 + 48 * role) == 0; }
  std::uint64_t previous() const { return at<std::uint64_t>(40); }
  unsigned role_count() const { return unsigned{at<std::uint16_t>(130)} + at<std::uint16_t>(132); }
  std::uint64_t session() const { return at<std::uint64_t>(160); }
};

// "Ancestor" and "diverged" as in docs/array-format.md.
inline bool is_ancestor(const SuperblockOnDisk& old, const SuperblockOnDisk& newest,
                        unsigned role) {
  const std::uint64_t session = old.session();
  if (session != 0 && session == newest.session()) return old.epoch() <= newest.epoch();
  std::size_t listed = 0;
  for (; listed < 12 && newest.at<std::uint64_t>(312 + 16 * listed) != 0; ++listed) {
    if (newest.at<std::uint64_t>(304 + 16 * listed) == session && newest.session() != 0)
      return old.epoch() <= newest.at<std::uint64_t>(312 + 16 * listed);
  }
  if (newest.session() != 0 && listed < 12) return false;
  return old.epoch() <= (newest.is_out(role) ? newest.out_epoch(role) : newest.previous()) + 2;
}
inline bool has_diverged(const SuperblockOnDisk& old, const SuperblockOnDisk& newest,
                         unsigned role) {
  bool is_without_another = false;
  bool is_incomplete = false;
  for (unsigned i = 0; i < std::min(old.role_count(), newest.role_count()); ++i) {
    is_without_another = is_without_another || (old.is_out(i) && !newest.is_out(i));
    is_incomplete = is_incomplete || (i != role && old.is_in(i) && newest.is_in(i) &&
                                      old.uuid_of_role(i) == newest.uuid_of_role(i));
  }
  return is_without_another && !is_incomplete && !is_ancestor(old, newest, role);
}

// The valid copy of a disk, if it can be read.
inline std::optional<SuperblockOnDisk> superblock_of(const SimulatedMembers::Slot& slot) {
  if (!slot.is_there || slot.is_dead || slot.is_unreadable) return std::nullopt;
  std::optional<SuperblockOnDisk> valid;
  constexpr std::size_t sectors = SuperblockOnDisk::bytes / sector_bytes;
  for (std::size_t copy = 0; copy < 2; ++copy) {
    const auto bad = slot.unreadable.lower_bound(copy * sectors);
    if (bad != slot.unreadable.end() && *bad < (copy + 1) * sectors) continue;
    SuperblockOnDisk read;
    read.image.resize(SuperblockOnDisk::bytes);
    slot.disk.read(copy * SuperblockOnDisk::bytes, read.image);
    constexpr std::string_view magic = "calpe-a1";
    constexpr std::size_t checksum_at = 4088;
    if (std::memcmp(read.image.data(), magic.data(), magic.size()) != 0) continue;
    const auto expected = store::plain_checksum(std::span(read.image).first(checksum_at));
    if (read.at<std::uint64_t>(checksum_at) != expected) continue;
    if (!valid || read.epoch() > valid->epoch()) valid = std::move(read);
  }
  return valid;
}

struct SuperblocksOnDisks {
  explicit SuperblocksOnDisks(SimulatedMembers& members) {
    for (unsigned place = 0; place < members.count(); ++place) {
      all.push_back(superblock_of(members[place]));
      if (all.back() && (!newest || all.back()->epoch() > newest->epoch())) newest = all.back();
    }
  }
  std::vector<std::optional<SuperblockOnDisk>> all = {};  // by place
  std::optional<SuperblockOnDisk> newest = {};
};

inline std::vector<unsigned> diverged_places(SimulatedMembers& members) {
  const auto [all, newest] = SuperblocksOnDisks(members);
  std::vector<unsigned> diverged;
  for (unsigned place = 0; place < members.count(); ++place) {
    for (unsigned role = 0; all[place] && role < newest->role_count(); ++role) {
      if (all[place]->member() == newest->uuid_of_role(role) &&
          has_diverged(*all[place], *newest, role)) {
        diverged.push_back(place);
      }
    }
  }
  return diverged;
}

// For a role that is out, with all superblocks durable: the place of its disk if it can come back,
// else nullopt. Its own disk must be present, not older than the missed bitmap and the recorded
// epoch, and not diverged.
inline std::optional<unsigned> returning_place(SimulatedMembers& members, unsigned role) {
  const auto [all, newest] = SuperblocksOnDisks(members);
  if (!newest || !newest->is_out(role) || newest->missed_unknown(role)) return std::nullopt;
  for (unsigned place = 0; place < members.count(); ++place) {
    if (!all[place] || all[place]->member() != newest->uuid_of_role(role)) continue;
    if (all[place]->epoch() < newest->out_epoch(role)) return std::nullopt;
    if (has_diverged(*all[place], *newest, role)) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

}  // namespace calpe::tests
