// SPDX-License-Identifier: Apache-2.0
// Runs one array with one seed: random operations, faults, power cuts and recovery, compared with
// the model. At most m members at a time are out, incomplete or faulty, so that the model is exact.
#pragma once
#include <iostream>

#include "array/judged_array.hpp"

namespace calpe::tests {

class Simulation {
 public:
  struct Counts {
    std::uint64_t operations = 0;
    std::uint64_t cuts = 0;
    std::uint64_t cuts_in_recovery = 0;
    std::uint64_t faults = 0;
    std::uint64_t rebuilds = 0;  // completed
    std::uint64_t returns = 0;   // members that came back
    std::uint64_t refusals = 0;  // of members that tried to come back
    std::uint64_t grown = 0;     // parity members added
    std::uint64_t enlarged = 0;  // times that the capacity grew
    std::uint64_t replaced = 0;  // members that were in until their successors took over
  };

  Simulation(std::uint64_t seed, bool is_told);
  // Returns "" or the first failure.
  std::string run(unsigned operations);
  const Counts& counts() const { return counts_; }
  bool is_sound() const { return wrong_.empty(); }

 private:
  using MemberState = array::MemberState;
  using MemberStatus = array::MemberStatus;

  // Faults of the disk at a place that the array may not have found yet.
  struct Suspicion {
    bool is_latent = false;  // unreadable sectors, until they are rewritten
    bool is_wrong = false;   // wrong or missing bytes, until a full rebuild
  };
  bool is_suspect(unsigned place) const {
    if (place >= suspicions_.size()) return false;
    const SimulatedMembers::Slot& slot = members_[place];
    return suspicions_[place].is_latent || suspicions_[place].is_wrong || slot.is_dead ||
           !slot.is_there || slot.fails_after.has_value();
  }

  // operations
  void read();
  void write();
  void zero_or_trim();
  void flush();
  void extents();
  void checkpoint();
  void rebuild();
  void scrub();
  void fail_member();
  void bring_back();
  void replace_live();
  void cancel_replacement();
  void readd(unsigned role);
  void close_and_open();
  void grow();
  void grow_capacity();
  void cut_power();
  // faults
  void hurt_member();
  void corrupt(unsigned place);

  void open(const char* after);
  bool remove_diverged();
  void swap_disks();
  void revive(unsigned place);
  void revive_some();
  void cut_in_recovery();
  void note_capacity(std::uint64_t bytes);
  void check_all_after_cut();
  void work_until_power_is_off();
  void tell_superblocks();
  void write_range(std::uint64_t offset, std::uint64_t bytes);

  unsigned places() { return members_.count(); }
  std::vector<MemberStatus> roles() const;
  unsigned impaired() const;
  bool has_budget() const { return impaired() < shape_.parity; }
  std::uint64_t any_length(std::uint64_t most);
  void tell(const std::string& what) const {
    if (is_told_) std::cout << counts_.operations << ": " << what << std::endl;
  }
  void wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = text("operation ", counts_.operations, ": ", what);
  }
  // With power on, every call must succeed, as faults are within the budget.
  bool done(const Status& status, const char* what) {
    if (status) return true;
    if (!members_.is_off()) wrong(text(what, ": ", status.error().message));
    return false;
  }

  struct Shape {
    unsigned data;
    unsigned parity;
    std::uint32_t chunk_bytes;
    std::uint64_t stripes;
    unsigned spares;
    unsigned members() const { return data + parity; }
    std::uint64_t stripe_bytes() const { return std::uint64_t{data} * chunk_bytes; }
    std::uint64_t bytes() const { return stripes * stripe_bytes(); }
  };
  static Shape random_shape(Random& random);

  Random random_;
  std::uint64_t seed_;
  bool is_told_;
  Shape shape_;
  SimulatedMembers members_;
  ArrayModel model_;
  std::unique_ptr<Array> array_;
  std::vector<Suspicion> suspicions_;  // by place
  std::uint64_t scrubbed_ = 0;
  Counts counts_;
  std::string wrong_;
};

inline constexpr std::uint64_t simulated_member_bytes = 400 * 1024;

inline Simulation::Shape Simulation::random_shape(Random& random) {
  static constexpr std::pair<unsigned, unsigned> codes[] = {{4, 2}, {2, 1}, {3, 2}, {2, 3},
                                                            {5, 3}, {1, 2}, {6, 2}};
  const auto [data, parity] = random.pick(std::span<const std::pair<unsigned, unsigned>>(codes));
  return {.data = data,
          .parity = parity,
          .chunk_bytes = 4096 * random.between<std::uint32_t>(1, 3),
          .stripes = random.between<std::uint64_t>(2, 10),
          .spares = random.between<unsigned>(0, 2)};
}

inline Simulation::Simulation(std::uint64_t seed, bool is_told)
    : random_(seed),
      seed_(seed),
      is_told_(is_told),
      shape_(random_shape(random_)),
      members_(shape_.members() + shape_.spares, simulated_member_bytes),
      model_(shape_.bytes()),
      suspicions_(members_.count()) {}

inline std::vector<array::MemberStatus> Simulation::roles() const {
  std::vector<MemberStatus> all = array_->status().now.members;
  all.resize(shape_.members());
  return all;
}

inline unsigned Simulation::impaired() const {
  unsigned count = 0;
  for (const MemberStatus& role : roles()) {
    const bool is_successor_suspect = role.successor_place && is_suspect(*role.successor_place);
    count +=
        role.state != MemberState::in || is_suspect(role.place) || is_successor_suspect ? 1 : 0;
  }
  return count;
}

inline std::uint64_t Simulation::any_length(std::uint64_t most) {
  const std::uint64_t blocks = random_.between<std::uint64_t>(1, random_.one_in(6) ? 12 : 3);
  std::uint64_t length = blocks * 4096;
  if (random_.one_in(6)) length = 1 + random_.below(3 * 4096);
  return std::min(length, most);
}

inline void Simulation::write_range(std::uint64_t offset, std::uint64_t bytes) {
  const Durability durability = random_.one_in(4) ? Durability::durable : Durability::cached;
  std::vector<std::byte> content(bytes);
  fill_fast(random_, content);
  tell(text("write ", offset, " +", bytes, durability == Durability::durable ? " durable" : ""));
  model_.write(offset, content);
  if (done(array_->write(offset, content, durability), "write") &&
      durability == Durability::durable) {
    model_.settle(offset, bytes);
  }
}

inline void Simulation::write() {
  if (random_.one_in(4)) {  // whole stripes
    const std::uint64_t first = random_.below(shape_.stripes);
    const std::uint64_t count =
        random_.between<std::uint64_t>(1, std::min<std::uint64_t>(2, shape_.stripes - first));
    return write_range(first * shape_.stripe_bytes(), count * shape_.stripe_bytes());
  }
  std::uint64_t offset = random_.below(model_.bytes());
  if (!random_.one_in(5)) offset -= offset % 4096;
  write_range(offset, any_length(model_.bytes() - offset));
}

inline void Simulation::zero_or_trim() {
  std::uint64_t offset = random_.below(model_.bytes());
  std::uint64_t bytes = any_length(model_.bytes() - offset);
  if (random_.coin()) {
    const std::uint64_t stripe = shape_.stripe_bytes();
    offset -= offset % stripe;
    bytes = std::min(model_.bytes() - offset, stripe * random_.between<std::uint64_t>(1, 3));
  }
  const Durability durability = random_.one_in(4) ? Durability::durable : Durability::cached;
  std::uint64_t first = offset;
  std::uint64_t end = offset + bytes;
  const bool trims = random_.coin();
  tell(text(trims ? "trim " : "zero ", offset, " +", bytes,
            durability == Durability::durable ? " durable" : ""));
  if (trims) {  // only whole stripes change
    first = (offset + shape_.stripe_bytes() - 1) / shape_.stripe_bytes() * shape_.stripe_bytes();
    end = std::max(first, end / shape_.stripe_bytes() * shape_.stripe_bytes());
  }
  model_.zero(first, end - first);
  const bool is_done = trims ? done(array_->trim(offset, bytes, durability), "trim")
                             : done(array_->zero(offset, bytes, durability), "zero");
  if (is_done && durability == Durability::durable) model_.settle(first, end - first);
}

inline void Simulation::read() {
  const std::uint64_t offset = random_.below(model_.bytes());
  std::vector<std::byte> bytes(any_length(model_.bytes() - offset));
  tell(text("read ", offset, " +", bytes.size()));
  if (!done(array_->read(offset, bytes), "read") || members_.is_off()) return;
  const std::string differs = model_.compare(offset, bytes);
  if (!differs.empty()) wrong("read: " + differs);
}

inline void Simulation::flush() {
  tell("flush");
  if (done(array_->flush(), "flush")) model_.settle_all();
}

inline void Simulation::checkpoint() {
  tell("checkpoint");
  if (done(array_->checkpoint(), "checkpoint")) model_.settle_all();
}

inline void Simulation::extents() {
  const auto found = array_->extents(0, model_.bytes());
  if (!found) return wrong("extents: " + found.error().message);
  std::uint64_t at = 0;
  for (const array::Extent& extent : *found) {
    if (extent.offset != at || extent.bytes == 0) return wrong("extents are not contiguous");
    at += extent.bytes;
    const std::vector<std::byte> zeros(extent.is_data ? 0 : extent.bytes);
    const std::string differs = model_.compare(extent.offset, zeros);
    if (!differs.empty()) return wrong("a hole is not zeros: " + differs);
  }
  if (at != model_.bytes()) wrong(text("extents end at ", at));
}

inline void Simulation::scrub() {
  tell(text("scrub from ", scrubbed_));
  const auto step = array_->scrub_step(scrubbed_, 1 + random_.below(4 * shape_.stripe_bytes()));
  if (!step) {
    done(step.error(), "scrub");
    return;
  }
  if (step->columns_lost + step->columns_contradicting > 0 && !members_.is_off()) {
    wrong(text("scrub: ", step->columns_lost, " columns lost, ", step->columns_contradicting,
               " contradicting"));
  }
  scrubbed_ = step->next >= model_.bytes() ? 0 : step->next;
}

}  // namespace calpe::tests
