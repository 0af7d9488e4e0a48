// SPDX-License-Identifier: Apache-2.0
// States that a power cut can leave, one flush epoch at a time. An epoch is what was written
// between two batches that made something durable: S(i) sectors on member i, T in total. Its
// prefix-torn states are each prefix of each member's sectors, while the others have none or all of
// theirs. These are 2 T + 2 different states if at least three members were written to.
#pragma once
#include <functional>

#include "array/simulated_members.hpp"

namespace calpe::tests {

// One state: how many of its unsynced sectors each member keeps.
using KeptSectors = std::vector<std::size_t>;

inline std::uint64_t prefix_torn_states(std::span<const std::size_t> sectors) {
  std::uint64_t all = 0;
  std::size_t written = 0;
  for (const std::size_t s : sectors) {
    all += s;
    written += s > 0 ? 1 : 0;
  }
  if (written == 0) return 0;
  if (written == 1) return all + 1;
  return written == 2 ? 2 * all : 2 * all + 2;
}

// Calls `visit` once for each state.
template <class Visit>
void each_prefix_torn_state(const KeptSectors& sectors, Visit visit) {
  const std::size_t members = sectors.size();
  const auto written =
      static_cast<std::size_t>(std::ranges::count_if(sectors, [](std::size_t s) { return s > 0; }));
  if (written == 0) return;
  const KeptSectors none(members);
  visit(none);
  visit(sectors);
  for (std::size_t i = 0; i < members; ++i) {
    KeptSectors kept = none;
    // "All of its sectors and none of the others" is a distinct state only if there are others.
    const std::size_t last = written == 1 ? sectors[i] - 1 : sectors[i];
    for (kept[i] = 1; sectors[i] > 0 && kept[i] <= last; ++kept[i]) {
      visit(kept);
    }
    if (written == 1) continue;
    kept = sectors;
    // With two members, "none of one and all of the other" was visited above.
    for (kept[i] = written == 2 ? 1 : 0; kept[i] < sectors[i]; ++kept[i]) {
      visit(kept);
    }
  }
}

// Follows the members of an array, and builds on its own disks what a power cut could leave.
class CrashedMembers {
 public:
  explicit CrashedMembers(SimulatedMembers& live)
      : live_(live),
        disks_(live.count(), live.bytes(0)),
        followed_(live.count()),
        epoch_from_(live.count()) {}

  SimulatedMembers& disks() { return disks_; }

  // Makes synced writes of the live members permanent here.
  void follow() {
    for (unsigned i = 0; i < live_.count(); ++i) {
      const SimulatedDisk& from = live_[i].disk;
      for (; followed_[i] < from.unsynced_from(); ++followed_[i]) {
        const SimulatedDisk::Seen write = from.seen(followed_[i]);
        disks_[i].disk.write(write.offset, write.bytes);
      }
      disks_[i].disk.sync_first(disks_[i].disk.writes());
    }
    disks_.forget_synced();
  }
  // The sectors of each member that were written in this epoch.
  KeptSectors sectors() const {
    KeptSectors sectors;
    for (unsigned i = 0; i < live_.count(); ++i) {
      std::size_t bytes = 0;
      for (std::size_t w = epoch_from_[i]; w < live_[i].disk.writes(); ++w) {
        bytes += live_[i].disk.seen(w).bytes.size();
      }
      sectors.push_back(bytes / sector_bytes);
    }
    return sectors;
  }
  void next_epoch() { epoch_from_ = live_.marks(); }

  // Keeps the first `kept` sectors of this epoch. Of older ones that are neither durable nor
  // synced, keeps those for which `older(number in its write)` is true.
  template <class Older>
  void put(const KeptSectors& kept, Older older) {
    put_those([&](unsigned member, std::size_t number, std::size_t in_write, bool is_older) {
      return is_older ? older(in_write) : number < kept[member];
    });
  }
  // Keeps any sectors of any writes.
  void put_at_random(Random& random) {
    Fate fate = Fate::stays;
    std::uint64_t staying = 0;  // out of eight
    unsigned last = live_.count();
    put_those([&](unsigned member, std::size_t, std::size_t in_write, bool) {
      if (member != last) staying = random.below(9);
      last = member;
      if (in_write == 0) fate = random_fate(random, staying);
      return fate == Fate::stays || (fate == Fate::torn && random.coin());
    });
  }
  // Undoes the state and later writes.
  void take_back() { disks_.undo_to(std::vector<std::size_t>(disks_.count())); }

 private:
  // stays(member, number in the epoch, number in its write, written before the epoch)
  template <class Stays>
  void put_those(Stays stays) {
    for (unsigned i = 0; i < live_.count(); ++i) {
      const SimulatedDisk& from = live_[i].disk;
      SimulatedDisk& to = disks_[i].disk;
      std::size_t number = 0;
      for (std::size_t w = from.unsynced_from(); w < from.writes(); ++w) {
        const SimulatedDisk::Seen write = from.seen(w);
        const bool is_older = w < epoch_from_[i];
        for (std::size_t at = 0; at < write.bytes.size();) {
          std::size_t end = at;
          while (end < write.bytes.size() &&
                 (write.is_durable || stays(i, number, end / sector_bytes, is_older))) {
            end += sector_bytes;
            number += is_older ? 0 : 1;
          }
          if (end > at) to.write(write.offset + at, write.bytes.subspan(at, end - at));
          number += end < write.bytes.size() && !is_older ? 1 : 0;
          at = end + sector_bytes;
        }
      }
      to.sync_first(to.writes());
    }
  }

  SimulatedMembers& live_;
  SimulatedMembers disks_;
  std::vector<std::size_t> followed_;
  std::vector<std::size_t> epoch_from_;
};

}  // namespace calpe::tests
