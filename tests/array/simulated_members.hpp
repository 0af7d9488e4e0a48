// SPDX-License-Identifier: Apache-2.0
// Members of an array on simulated disks with faults: errors, unreadable sectors, lost flushes,
// reordered requests, and disks that are missing, swapped or back from an earlier time. Also checks
// that the array keeps the contract of array/format/members.hpp; complaint() returns a violation.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "array/format/members.hpp"
#include "array/simulated_disk.hpp"
#include "base/text.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

using conformance::Random;

// Eight bytes at a time, as most of the simulation time goes into random contents.
inline void fill_fast(Random& random, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t word = random.below(~std::uint64_t{0});
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(bytes.data(), &word, count);
    bytes = bytes.subspan(count);
  }
}

using array::MemberCall;
using array::MemberRequest;

class SimulatedMembers final : public array::Members {
 public:
  struct Slot {
    SimulatedDisk disk;
    bool is_there = true;
    bool is_dead = false;        // every request fails
    bool is_unreadable = false;  // every read fails
    bool loses_flushes = false;  // reports success, but keeps writes in its cache
    std::optional<std::uint64_t> fails_after = {};  // after this many more writes
    std::set<std::uint64_t> unreadable = {};        // sectors, until they are rewritten
  };
  struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t epochs = 0;  // batches that make something durable
    std::uint64_t errors = 0;  // caused by faults
  };

  SimulatedMembers(unsigned slots, std::uint64_t bytes) {
    for (unsigned i = 0; i < slots; ++i) {
      slots_.push_back({.disk = SimulatedDisk(bytes)});
    }
  }

  unsigned count() const override { return static_cast<unsigned>(slots_.size()); }
  std::uint64_t bytes(unsigned member) const override {
    return slots_[member].is_there ? slots_[member].disk.size() : 0;
  }
  void run(std::span<MemberRequest> batch) override;

  unsigned add(Slot slot) {
    slots_.push_back(std::move(slot));
    return count() - 1;
  }
  Slot& operator[](unsigned member) { return slots_[member]; }
  const Slot& operator[](unsigned member) const { return slots_[member]; }
  const Counts& counts() const { return counts_; }
  const std::string& complaint() const { return complaint_; }
  // Reorders the requests of a batch with this generator; without it, keeps their order.
  void shuffle_with(Random* random) { random_ = random; }
  // Called when the writes of a batch are done but not durable yet. In a batch that makes something
  // durable, this is the end of an epoch.
  void at_epoch_end(std::function<void()> call) { at_epoch_end_ = std::move(call); }

  // After this many more requests that change something, every request fails.
  void power_off_after(std::uint64_t changes) { changes_left_ = changes; }
  void power_on() { changes_left_.reset(); }
  bool is_off() const { return changes_left_ == 0; }

  // Used to make crash states.
  std::vector<std::size_t> marks() const {
    std::vector<std::size_t> all;
    for (const Slot& slot : slots_) {
      all.push_back(slot.disk.writes());
    }
    return all;
  }
  void undo_to(const std::vector<std::size_t>& marks) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].disk.undo_to(marks[i]);
    }
  }
  void forget_synced() {
    for (Slot& slot : slots_) {
      slot.disk.forget_synced();
    }
  }
  // Each member keeps its first `sectors[member]` unsynced sectors.
  void cut_power(std::span<const std::size_t> sectors) {
    for (unsigned i = 0; i < count(); ++i) {
      slots_[i].disk.cut_power(
          [&](std::size_t number, std::size_t) { return number < sectors[i]; });
    }
  }
  // Each unsynced write is whole, lost, or torn at any of its sectors.
  void cut_power_at_random(Random& random);

 private:
  void serve(MemberRequest& request);
  void check_contract(std::span<const MemberRequest> batch);
  std::optional<Error> fault(Slot& slot, const MemberRequest& request);

  std::vector<Slot> slots_;
  Counts counts_;
  std::string complaint_;
  Random* random_ = nullptr;
  std::optional<std::uint64_t> changes_left_;
  std::function<void()> at_epoch_end_;
};

// State of a write that a power cut may undo.
enum class Fate : std::uint8_t { stays, lost, torn };
inline Fate random_fate(Random& random, std::uint64_t staying_of_eight) {
  if (random.below(8) < staying_of_eight) return Fate::stays;
  return random.coin() ? Fate::lost : Fate::torn;
}

inline void SimulatedMembers::check_contract(std::span<const MemberRequest> batch) {
  for (const MemberRequest& request : batch) {
    if (request.member >= count()) {
      complaint_ = text("member ", request.member, " of ", count());
      return;
    }
    const std::uint64_t bytes = request.bytes.size();
    if (request.call != MemberCall::flush && slots_[request.member].is_there &&
        request.offset + bytes > slots_[request.member].disk.size()) {
      complaint_ =
          text("member ", request.member, ": [", request.offset, ", +", bytes, ") is past the end");
    }
    if (request.offset % 4096 != 0 || bytes % 4096 != 0) {
      complaint_ = text("member ", request.member, ": [", request.offset, ", +", bytes,
                        ") is not whole blocks");
    }
    if (request.call == MemberCall::flush || request.call == MemberCall::read) continue;
    // The order within a batch is undefined, so no request may overlap a write of another.
    for (const MemberRequest& other : batch) {
      if (&other == &request || other.member != request.member || other.call == MemberCall::flush) {
        continue;
      }
      if (request.offset < other.offset + other.bytes.size() &&
          other.offset < request.offset + bytes) {
        complaint_ = text("member ", request.member, ": two requests of a batch at ",
                          request.offset, ", one of them writes");
      }
    }
  }
}

inline void SimulatedMembers::run(std::span<MemberRequest> batch) {
  check_contract(batch);
  if (!complaint_.empty()) return;
  const bool ends_epoch = std::ranges::any_of(batch, [](const MemberRequest& request) {
    return request.call == MemberCall::flush || request.is_durable;
  });
  std::vector<std::size_t> before;
  if (ends_epoch) before = marks();
  std::vector<std::pair<Slot*, std::size_t>> durable;
  const auto serve_one = [&](MemberRequest& request) {
    serve(request);
    Slot& slot = slots_[request.member];
    if (request.is_durable && !request.error && !slot.loses_flushes && !request.bytes.empty()) {
      durable.emplace_back(&slot, slot.disk.writes() - 1);
    }
  };
  if (random_ != nullptr && batch.size() > 1) {
    std::vector<MemberRequest*> order;
    for (MemberRequest& request : batch) {
      order.push_back(&request);
    }
    random_->shuffle(std::span(order));
    std::ranges::for_each(order, [&](MemberRequest* request) { serve_one(*request); });
  } else {
    std::ranges::for_each(batch, serve_one);
  }
  if (!ends_epoch) return;
  ++counts_.epochs;
  if (at_epoch_end_) at_epoch_end_();
  for (const auto& [slot, write] : durable) {
    slot->disk.make_durable(write);
  }
  for (const MemberRequest& request : batch) {
    Slot& slot = slots_[request.member];
    if (request.call == MemberCall::flush && !request.error && !slot.loses_flushes) {
      slot.disk.sync_first(before[request.member]);
    }
  }
}

inline std::optional<Error> SimulatedMembers::fault(Slot& slot, const MemberRequest& request) {
  const auto failed = [&](const char* why) {
    ++counts_.errors;
    return make_error(ErrorCode::io, "member ", request.member, ": ", why);
  };
  if (is_off()) return failed("no power");
  if (request.call != MemberCall::read && changes_left_) --*changes_left_;
  if (!slot.is_there) return failed("is missing");
  if (slot.is_dead) return failed("is dead");
  if (request.call != MemberCall::read && slot.fails_after) {
    if (*slot.fails_after == 0) return failed("input/output error");
    --*slot.fails_after;
  }
  if (request.call == MemberCall::read && slot.is_unreadable) return failed("cannot be read");
  if (request.call != MemberCall::read || slot.unreadable.empty()) return {};
  const auto bad = slot.unreadable.lower_bound(request.offset / sector_bytes);
  if (bad == slot.unreadable.end() || *bad * sector_bytes >= request.offset + request.bytes.size())
    return {};
  return failed("unreadable sector");
}

inline void SimulatedMembers::serve(MemberRequest& request) {
  Slot& slot = slots_[request.member];
  request.error = fault(slot, request);
  if (request.error) return;
  switch (request.call) {
    case MemberCall::read:
      ++counts_.reads;
      slot.disk.read(request.offset, request.bytes);
      break;
    case MemberCall::write:
      ++counts_.writes;
      slot.disk.write(request.offset, request.bytes);
      slot.unreadable.erase(
          slot.unreadable.lower_bound(request.offset / sector_bytes),
          slot.unreadable.lower_bound((request.offset + request.bytes.size()) / sector_bytes));
      break;
    case MemberCall::flush:
      break;
  }
}

inline void SimulatedMembers::cut_power_at_random(Random& random) {
  const std::uint64_t manner = random.below(8);
  for (Slot& slot : slots_) {
    const std::uint64_t staying = random.below(9);  // out of eight
    Fate fate = Fate::stays;
    slot.disk.cut_power([&](std::size_t, std::size_t in_write) {
      if (manner < 2) return manner == 0;
      if (in_write == 0) fate = random_fate(random, staying);
      return fate == Fate::stays || (fate == Fate::torn && random.coin());
    });
  }
}

}  // namespace calpe::tests
