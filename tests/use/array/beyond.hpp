// SPDX-License-Identifier: Apache-2.0
// Runs one array with one seed: operations, a power cut with m+1 or m+2 faulty members, then opens
// the rest. Every block must be right or an error. If the array is refused, members come back and
// it is checked again.
#pragma once
#include <iostream>

#include "array/judged_array.hpp"
#include "beyond_model.hpp"

namespace calpe::tests {

class BeyondFaults {
 public:
  struct Counts {
    std::uint64_t operations = 0;
    std::uint64_t errors = 0;  // of operations
    std::uint64_t cuts = 0;
    std::uint64_t faults = 0;
    std::uint64_t opened = 0;
    std::uint64_t refused = 0;
    std::uint64_t gaps = 0;        // refused because of a gap in the log
    std::uint64_t reopened = 0;    // opened when members came back after a refusal
    std::uint64_t right = 0;       // blocks
    std::uint64_t unreadable = 0;  // blocks
  };

  BeyondFaults(std::uint64_t seed, bool is_told);
  // Returns "" or the first failure.
  std::string run();
  const Counts& counts() const { return counts_; }

 private:
  using MemberState = array::MemberState;
  using Bytes = std::vector<std::byte>;
  static constexpr std::uint64_t block = 4096;
  static constexpr std::uint64_t member_bytes = 320 * 1024;

  struct Shape {
    unsigned data;
    unsigned parity;
    std::uint32_t chunk_bytes;
    std::uint64_t stripes;
    std::uint64_t log_bytes;
    unsigned roles() const { return data + parity; }
    std::uint64_t stripe_blocks() const { return data * (chunk_bytes / block); }
  };
  static Shape random_shape(Random& random);

  // --- in use
  void work(unsigned operations);
  void operate();
  void write(std::uint64_t first, std::uint64_t count, bool is_zero);
  void trim();
  void read();
  void scrub();
  void change_members();
  void hurt_in_use();
  void acknowledge(std::uint64_t first, std::uint64_t count);
  BatchPosition latest_batch() const;
  void keep_image(unsigned place);
  // --- power cut, faults
  void cut_power();
  void spread_faults();
  void give_fault(unsigned place);
  void damage(unsigned place);
  void restore(unsigned place);
  // --- opening
  bool open();
  void open_interrupted();
  void judge_all(const Witness& witness);
  void open_or_bring_back();

  Witness witness() const { return witness_of(members_, uuid_, shape_.log_bytes, shape_.roles()); }
  void tell(const std::string& what) const {
    if (is_told_) std::cout << counts_.operations << ": " << what << std::endl;
  }
  void wrong(const std::string& what) {
    if (wrong_.empty())
      wrong_ =
          text(shape_.data, "+", shape_.parity, ", operation ", counts_.operations, ": ", what);
  }

  Random random_;
  bool is_told_;
  Shape shape_;
  SimulatedMembers members_;
  BeyondModel model_;
  Uuid uuid_;
  std::unique_ptr<Array> array_;
  std::vector<Bytes> earlier_;    // by place: its bytes at an earlier time
  std::vector<Bytes> after_cut_;  // by place: empty without a later fault
  std::uint64_t next_tag_ = 1;
  std::uint64_t epoch_ = 0;  // durable epoch
  bool is_sound_ = true;     // no member had another fault than the power cut
  Counts counts_;
  std::string wrong_;
};

inline BeyondFaults::Shape BeyondFaults::random_shape(Random& random) {
  static constexpr std::pair<unsigned, unsigned> codes[] = {{4, 2}, {2, 1}, {3, 2}, {2, 2},
                                                            {3, 1}, {1, 2}, {4, 1}};
  const auto [data, parity] = random.pick(std::span<const std::pair<unsigned, unsigned>>(codes));
  const auto chunk = 4096 * random.between<std::uint32_t>(1, 2);
  return {.data = data,
          .parity = parity,
          .chunk_bytes = chunk,
          .stripes = random.between<std::uint64_t>(2, 8),
          .log_bytes = 2 * chunk + 4096 * random.between<std::uint64_t>(4, 30)};
}

inline BeyondFaults::BeyondFaults(std::uint64_t seed, bool is_told)
    : random_(seed),
      is_told_(is_told),
      shape_(random_shape(random_)),
      members_(shape_.roles(), member_bytes),
      model_(shape_.stripes * shape_.stripe_blocks()),
      uuid_(uuid_of(seed)) {}

// --- in use ---

inline BatchPosition BeyondFaults::latest_batch() const {
  BatchPosition latest;
  for (unsigned place = 0; place < members_.count(); ++place) {
    for (const HeaderOnDisk& one : headers_in(members_[place], uuid_, shape_.log_bytes)) {
      latest = std::max(latest, one.position);
    }
  }
  return latest;
}

inline void BeyondFaults::acknowledge(std::uint64_t first, std::uint64_t count) {
  model_.acknowledged(first, count, latest_batch());
}

inline void BeyondFaults::write(std::uint64_t first, std::uint64_t count, bool is_zero) {
  const Durability durability = random_.one_in(3) ? Durability::durable : Durability::cached;
  std::vector<std::byte> bytes(count * block);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t tag = is_zero ? 0 : next_tag_++;
    fill_block(tag, std::span(bytes).subspan(i * block, block));
    model_.write(first + i, tag);
  }
  const Status done = is_zero ? array_->zero(first * block, count * block, durability)
                              : array_->write(first * block, bytes, durability);
  tell(text(is_zero ? "zero " : "write ", first, " +", count,
            durability == Durability::durable ? " durable" : "",
            done ? "" : ": " + done.error().message));
  for (std::uint64_t i = first; i < first + count; ++i) {
    model_.written(i, done.has_value());
  }
  if (!done) ++counts_.errors;
  if (done && durability == Durability::durable) acknowledge(first, count);
}

inline void BeyondFaults::trim() {
  const std::uint64_t first = random_.below(shape_.stripes) * shape_.stripe_blocks();
  for (std::uint64_t i = first; i < first + shape_.stripe_blocks(); ++i) {
    model_.write(i, 0);
  }
  const Status done =
      array_->trim(first * block, shape_.stripe_blocks() * block, Durability::cached);
  tell(text("trim ", first, " +", shape_.stripe_blocks()));
  for (std::uint64_t i = first; i < first + shape_.stripe_blocks(); ++i) {
    model_.written(i, done.has_value());
  }
}

inline void BeyondFaults::read() {
  const std::uint64_t first = random_.below(model_.blocks());
  const std::uint64_t count =
      random_.between<std::uint64_t>(1, std::min<std::uint64_t>(6, model_.blocks() - first));
  std::vector<std::byte> bytes(count * block);
  if (!array_->read(first * block, bytes)) {
    ++counts_.errors;
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string why =
        model_.judge_in_use(first + i, std::span(bytes).subspan(i * block, block));
    if (!why.empty()) return wrong("in use: " + why);
    ++counts_.right;
  }
}

inline void BeyondFaults::scrub() {
  const auto step = array_->scrub_step(random_.below(array_->bytes()), array_->bytes());
  tell(text("scrub", step ? "" : ": " + step.error().message));
  if (step && step->columns_contradicting != 0) wrong("scrub: parity does not match the data");
}

inline void BeyondFaults::change_members() {
  const auto role = static_cast<unsigned>(random_.below(shape_.roles()));
  const auto status = array_->status().now.members;
  switch (random_.below(4)) {
    case 0:
      tell(text("fail role ", role));
      static_cast<void>(array_->fail(role));
      return;
    case 1: {
      const Status done = array_->readd(role);
      tell(text("re-add role ", role, done ? "" : ": " + done.error().message));
      return;
    }
    case 2: {
      if (status[role].state != MemberState::out || members_.count() > shape_.roles() + 3) return;
      const unsigned place = members_.add({.disk = SimulatedDisk(member_bytes)});
      tell(text("a new disk at place ", place, " for role ", role));
      static_cast<void>(array_->replace(role, place));
      return;
    }
    default:
      const auto step = array_->rebuild_step(4 * shape_.chunk_bytes);
      tell(text("rebuild", step ? "" : ": " + step.error().message));
  }
}

inline void BeyondFaults::hurt_in_use() {
  const auto place = static_cast<unsigned>(random_.below(members_.count()));
  is_sound_ = false;
  ++counts_.faults;
  switch (random_.below(4)) {
    case 0:
      tell(text("place ", place, " fails"));
      members_[place].fails_after = random_.below(6);
      return;
    case 1:
      tell(text("place ", place, " is dead"));
      members_[place].is_dead = true;
      return;
    case 2:
      tell(text("place ", place, " loses flushes"));
      members_[place].loses_flushes = true;
      return;
    default:
      damage(place);
  }
}

inline void BeyondFaults::keep_image(unsigned place) {
  earlier_.resize(members_.count());
  const auto content = members_[place].disk.content();
  earlier_[place].assign(content.begin(), content.end());
}

inline void BeyondFaults::operate() {
  ++counts_.operations;
  const std::uint64_t kind = random_.below(40);
  if (kind < 14) {
    const std::uint64_t first = random_.below(model_.blocks());
    write(first,
          random_.between<std::uint64_t>(1, std::min<std::uint64_t>(4, model_.blocks() - first)),
          kind == 0);
  } else if (kind < 18) {
    write(random_.below(shape_.stripes) * shape_.stripe_blocks(), shape_.stripe_blocks(), false);
  } else if (kind < 19) {
    trim();
  } else if (kind < 26) {
    const Status done = array_->flush();
    tell(text("flush", done ? "" : ": " + done.error().message));
    if (done) acknowledge(0, model_.blocks());
  } else if (kind < 28) {
    const Status done = array_->checkpoint();
    tell(text("checkpoint", done ? "" : ": " + done.error().message));
    if (done) acknowledge(0, model_.blocks());
  } else if (kind < 32) {
    if (!members_.is_off()) read();
  } else if (kind < 34) {
    scrub();
  } else if (kind < 37) {
    change_members();
  } else if (kind < 39) {
    keep_image(static_cast<unsigned>(random_.below(members_.count())));
  } else if (random_.one_in(3)) {
    hurt_in_use();
  }
}

inline void BeyondFaults::work(unsigned operations) {
  for (unsigned i = 0; i < operations && wrong_.empty(); ++i) {
    operate();
    if (!members_.is_off()) epoch_ = array_->status().now.epoch;
  }
}

// --- power cut, faults ---

inline void BeyondFaults::cut_power() {
  ++counts_.cuts;
  if (random_.coin()) {
    members_.power_off_after(random_.below(40));
    work(6);
  }
  tell("power is cut");
  array_.reset();
  for (unsigned place = 0; place < members_.count(); ++place) {
    if (!members_[place].loses_flushes) continue;
    members_[place].disk.cut_power([](std::size_t, std::size_t) { return false; });
    members_[place].loses_flushes = false;
  }
  members_.cut_power_at_random(random_);
  members_.power_on();
  members_.forget_synced();
}

// Wrong or unreadable blocks in one of the parts of a member.
inline void BeyondFaults::damage(unsigned place) {
  SimulatedMembers::Slot& slot = members_[place];
  const std::uint64_t log_end = log_on_disk_at + shape_.log_bytes;
  struct Part {
    std::uint64_t from;
    std::uint64_t to;
  };
  const Part parts[] = {{0, log_on_disk_at},         {log_on_disk_at, log_end},
                        {log_on_disk_at, log_end},   {log_end, log_end + 8 * block},
                        {log_end, slot.disk.size()}, {0, slot.disk.size()}};
  const Part part = random_.pick(std::span<const Part>(parts));
  const std::uint64_t most = (part.to - part.from) / block;
  const bool is_all = random_.one_in(6);
  const std::uint64_t count = is_all ? most : random_.between<std::uint64_t>(1, 12);
  const std::uint64_t manner = random_.below(3);
  tell(text("place ", place, ": ", count, " blocks of [", part.from, ", ", part.to, ") damaged, ",
            manner));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = part.from + block * (is_all ? i : random_.below(most));
    const std::span<std::byte> bytes = slot.disk.content().subspan(at, block);
    if (manner == 0) {
      slot.unreadable.insert(at / sector_bytes + random_.below(block / sector_bytes));
    } else if (manner == 1) {
      bytes[random_.below(block)] ^= std::byte{0x10};
    } else if (place < earlier_.size() && !earlier_[place].empty() && random_.coin()) {
      std::ranges::copy(std::span(earlier_[place]).subspan(at, block), bytes.begin());
    } else {
      std::ranges::fill(bytes, std::byte{0});
    }
  }
}

inline void BeyondFaults::give_fault(unsigned place) {
  ++counts_.faults;
  const auto content = members_[place].disk.content();
  after_cut_[place].assign(content.begin(), content.end());
  const std::uint64_t kind = random_.below(8);
  if (kind < 2) {
    tell(text("place ", place, " is lost"));
    members_[place].is_there = false;
  } else if (kind < 4 && !earlier_[place].empty()) {
    tell(text("place ", place, " is reset to an earlier state"));
    std::ranges::copy(earlier_[place], content.begin());
  } else {
    damage(place);
  }
}

// Restores the disk to its state after the power cut.
inline void BeyondFaults::restore(unsigned place) {
  if (after_cut_[place].empty()) return;
  tell(text("place ", place, " is back"));
  members_[place].is_there = true;
  members_[place].unreadable.clear();
  std::ranges::copy(after_cut_[place], members_[place].disk.content().begin());
  after_cut_[place].clear();
}

// At least one member must keep the newest superblock. If all members were reset to an earlier
// state, none could detect it.
inline void BeyondFaults::spread_faults() {
  earlier_.resize(members_.count());
  after_cut_.assign(members_.count(), {});
  const unsigned count =
      std::min(members_.count(), shape_.parity + random_.between<unsigned>(1, 2));
  const Roles order = random_set(random_, members_.count(), count);
  for (const unsigned place : order) {
    give_fault(place);
  }
  for (const unsigned place : order) {
    if (witness().epoch >= epoch_) break;
    restore(place);
  }
}

// --- opening ---

inline void BeyondFaults::judge_all(const Witness& witness) {
  std::vector<std::byte> bytes(block);
  for (std::uint64_t i = 0; i < model_.blocks() && wrong_.empty(); ++i) {
    const bool is_read = array_->read(i * block, bytes).has_value();
    const bool is_whole = is_sound_ && std::ranges::all_of(after_cut_, &Bytes::empty);
    if (is_read && is_whole && !model_.has_acknowledged(i, bytes)) {
      return wrong("opened: an acknowledged write is lost");
    }
    if (!is_read && is_whole) return wrong(text("opened: block ", i, " cannot be read"));
    std::optional<std::span<const std::byte>> read;
    if (is_read) read = bytes;
    const std::string why = model_.judge_opened(i, read, witness);
    if (!why.empty())
      wrong(text("opened: ", why, "; witnessed ", witness.generation, ", ",
                 witness.latest.generation, ".", witness.latest.sequence));
    ++(is_read ? counts_.right : counts_.unreadable);
  }
}

inline bool BeyondFaults::open() {
  const Witness before = witness();
  auto opened = Array::open(members_);
  if (!members_.complaint().empty()) wrong(members_.complaint());
  if (!opened) {
    const std::string& why = opened.error().message;
    tell("refused: " + why);
    ++counts_.refused;
    if (why.find("the log has a gap") != std::string::npos) ++counts_.gaps;
    if (witness().epoch != before.epoch) model_.doubt(before);
    return false;
  }
  tell("opened");
  ++counts_.opened;
  array_ = *std::move(opened);
  judge_all(before);
  members_.forget_synced();
  return true;
}

// Cuts the power during recovery.
inline void BeyondFaults::open_interrupted() {
  const Witness before = witness();
  members_.power_off_after(random_.below(60));
  auto opened = Array::open(members_);
  opened = Error{};
  is_sound_ = false;  // members that come back may have missed its writes
  if (witness().epoch != before.epoch) model_.doubt(before);
  members_.cut_power_at_random(random_);
  members_.power_on();
  members_.forget_synced();
  tell("recovery is interrupted");
}

inline void BeyondFaults::open_or_bring_back() {
  if (random_.one_in(4)) open_interrupted();
  if (open() || !wrong_.empty()) return;
  for (unsigned place = 0; place < members_.count(); ++place) {
    if (random_.coin()) restore(place);
  }
  if (open()) {
    ++counts_.reopened;
    return;
  }
  for (unsigned place = 0; place < members_.count(); ++place) {
    restore(place);
  }
  if (open()) ++counts_.reopened;
}

inline std::string BeyondFaults::run() {
  const array::Settings settings = {
      .spec = {.data_shards = static_cast<std::uint16_t>(shape_.data),
               .parity_shards = static_cast<std::uint16_t>(shape_.parity)},
      .bytes = model_.blocks() * block,
      .chunk_bytes = shape_.chunk_bytes,
      .log_bytes = shape_.log_bytes,
      .spare_slots = random_.between<std::uint32_t>(2, 4)};
  tell(text(shape_.data, "+", shape_.parity, ", ", shape_.stripes, " stripes of chunks of ",
            shape_.chunk_bytes, ", log ", shape_.log_bytes));
  if (const Status made = array::create(members_, settings, uuid_); !made) {
    return "create: " + made.error().message;
  }
  if (!open()) return "open: a new array is refused";
  members_.shuffle_with(&random_);
  for (unsigned life = 0; life < 2 && array_ != nullptr && wrong_.empty(); ++life) {
    work(random_.between<unsigned>(4, 24));
    cut_power();
    spread_faults();
    if (witness().epoch >= epoch_ && wrong_.empty()) open_or_bring_back();
    is_sound_ = false;
    if (array_ != nullptr && wrong_.empty()) work(random_.between<unsigned>(2, 8));
  }
  return wrong_;
}

}  // namespace calpe::tests
