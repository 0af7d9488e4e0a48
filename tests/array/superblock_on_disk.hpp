// SPDX-License-Identifier: Apache-2.0
// A second reader of superblocks, written from docs/array-format.md alone: what the simulation
// expects of members that come back does not rest on the code that it judges.
#pragma once
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "array/simulated_members.hpp"
#include "store/block_checksum.hpp"

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
  store::Uuid member() const { return at<store::Uuid>(56); }
  store::Uuid uuid_of_role(unsigned role) const { return at<store::Uuid>(512 + 48 * role); }
  std::uint64_t out_epoch(unsigned role) const { return at<std::uint64_t>(536 + 48 * role); }
  bool is_out(unsigned role) const { return at<std::uint8_t>(544 + 48 * role) == 1; }
  bool missed_unknown(unsigned role) const { return (at<std::uint8_t>(545 + 48 * role) & 2U) != 0; }
};

// The valid one of a disk's two copies, if it can be read.
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

// Of a role that is out, with all superblocks durable: it can come back when its own disk is
// there, was not out for longer than the bitmap of what it missed is, and is as old as is known.
// Where that disk is; nothing: it must be refused.
inline std::optional<unsigned> returning_place(SimulatedMembers& members, unsigned role) {
  std::optional<SuperblockOnDisk> newest;
  std::vector<std::optional<SuperblockOnDisk>> all;
  for (unsigned place = 0; place < members.count(); ++place) {
    all.push_back(superblock_of(members[place]));
    if (all.back() && (!newest || all.back()->epoch() > newest->epoch())) newest = all.back();
  }
  if (!newest || !newest->is_out(role) || newest->missed_unknown(role)) return std::nullopt;
  for (unsigned place = 0; place < members.count(); ++place) {
    if (!all[place] || all[place]->member() != newest->uuid_of_role(role)) continue;
    if (all[place]->epoch() < newest->out_epoch(role)) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

}  // namespace calpe::tests
