// SPDX-License-Identifier: Apache-2.0
// Runs operations on an array. At the end of every flush epoch it cuts the power in all prefix-torn
// ways and some random ones; each state is recovered, checked and undone.
#pragma once
#include <gtest/gtest.h>
#include <iostream>

#include "array/crash_states.hpp"
#include "array/judged_array.hpp"

namespace calpe::tests {

struct CrashShape {
  unsigned data = 4;
  unsigned parity = 2;
  std::uint32_t chunk_bytes = 8192;
  std::uint64_t stripes = 4;
  std::uint64_t member_bytes = 400 * 1024;
  std::uint64_t log_bytes = 128 * 1024;  // holds a round of the script without a checkpoint
  unsigned spares = 0;
  bool completes_rebuilds = false;  // before members are lost; otherwise most of them
  unsigned members() const { return data + parity; }
  unsigned places() const { return members() + spares; }
  std::uint64_t stripe_bytes() const { return std::uint64_t{data} * chunk_bytes; }
  std::uint64_t bytes() const { return stripes * stripe_bytes(); }
};

// Most steps make their progress durable, so that crashes between them differ.
inline array::Progress random_progress(Random& random) {
  return random.one_in(3) ? array::Progress::when_due : array::Progress::now;
}

class CrashRun {
 public:
  struct Counts {
    std::uint64_t epochs = 0;
    std::uint64_t sectors = 0;
    std::uint64_t prefix_torn = 0;
    std::uint64_t random = 0;
    std::uint64_t crashed_twice = 0;
    std::uint64_t sets = 0;
    std::uint64_t older_versions = 0;  // states that one can open
  };

  CrashRun(const CrashShape& shape, std::uint64_t seed)
      : shape_(shape),
        seed_(seed),
        random_(seed),
        live_(shape.places(), shape.member_bytes),
        crashed_(live_),
        model_(shape.bytes()),
        settled_bytes_(shape.bytes()) {
    only_ = number_from("CALPE_ARRAY_STATE");
  }
  ~CrashRun() { live_.at_epoch_end({}); }
  CrashRun(const CrashRun&) = delete;
  CrashRun& operator=(const CrashRun&) = delete;

  // Creates an array.
  void start() {
    const array::Settings settings = {
        .spec = {.data_shards = static_cast<std::uint16_t>(shape_.data),
                 .parity_shards = static_cast<std::uint16_t>(shape_.parity)},
        .bytes = shape_.bytes(),
        .chunk_bytes = shape_.chunk_bytes,
        .log_bytes = shape_.log_bytes,
        .spare_slots = 2};
    expect(array::create(live_, settings, uuid_of(seed_)), "create");
    open();
  }
  // Starts making crash states.
  void begin() {
    has_begun_ = true;
    crashed_.follow();
    crashed_.next_epoch();
    live_.at_epoch_end([this] { end_epoch(); });
  }
  void open() {
    auto opened = Array::open(live_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    array_ = std::move(*opened);
  }

  // --- operations; each updates the model -------------------------------------------------------
  void write(std::uint64_t offset, std::uint64_t bytes, Durability durability) {
    std::vector<std::byte> content(bytes);
    fill_fast(random_, content);
    model_.write(offset, content);
    expect(array_->write(offset, content, durability), "write");
    if (durability == Durability::durable) model_.settle(offset, bytes);
  }
  void zero(std::uint64_t offset, std::uint64_t bytes, Durability durability) {
    model_.zero(offset, bytes);
    expect(array_->zero(offset, bytes, durability), "zero");
    if (durability == Durability::durable) model_.settle(offset, bytes);
  }
  void trim(std::uint64_t offset, std::uint64_t bytes, Durability durability) {
    const std::uint64_t stripe = shape_.stripe_bytes();
    const std::uint64_t first = (offset + stripe - 1) / stripe * stripe;
    const std::uint64_t end = (offset + bytes) / stripe * stripe;
    if (first < end) model_.zero(first, end - first);
    expect(array_->trim(offset, bytes, durability), "trim");
    if (durability == Durability::durable && first < end) model_.settle(first, end - first);
  }
  void flush() {
    expect(array_->flush(), "flush");
    model_.settle_all();
  }
  void checkpoint() {
    expect(array_->checkpoint(), "checkpoint");
    model_.settle_all();
  }
  void close() {
    expect(array_->close(), "close");
    model_.settle_all();
    array_.reset();
  }
  // The states are those of before or after; each must also be as before for an older version.
  void grow(std::uint64_t bytes) {
    model_.grow(bytes);
    is_growing_ = true;
    expect(array_->grow(bytes), "grow");
    if (has_begun_) end_epoch();
    is_growing_ = false;
    ASSERT_EQ(array_->bytes(), bytes);
    settled_bytes_ = bytes;
    model_.settle_all();
  }
  void fail(unsigned role) { expect(array_->fail(role), "fail"); }
  void replace(unsigned role, unsigned place) {
    expect(array_->replace(role, place), "replace");
    model_.settle_all();
  }
  // Returns whether nothing is left to do.
  bool rebuild_step() {
    const auto step = array_->rebuild_step(shape_.chunk_bytes, random_progress(random_));
    EXPECT_TRUE(step.has_value()) << step.error().message;
    model_.settle_all();
    return !step || step->is_complete;
  }
  void finish() {
    end_epoch();
    live_.at_epoch_end({});
    ASSERT_EQ(live_.complaint(), "");
  }

  Array& array() { return *array_; }
  const Counts& counts() const { return counts_; }
  std::uint64_t sectors_since_epoch() const {
    const KeptSectors sectors = crashed_.sectors();
    return std::accumulate(sectors.begin(), sectors.end(), std::uint64_t{0});
  }
  const CrashShape& shape() const { return shape_; }
  Random& random() { return random_; }

 private:
  static std::uint64_t number_from(const char* variable) {
    const char* given = std::getenv(variable);
    return given != nullptr ? std::strtoull(given, nullptr, 0) : 0;
  }
  static void expect(const Status& status, const char* what) {
    ASSERT_TRUE(status.has_value()) << what << ": " << status.error().message;
  }

  void end_epoch() {
    crashed_.follow();
    const KeptSectors sectors = crashed_.sectors();
    const std::uint64_t states = prefix_torn_states(sectors);
    if (states > 0 && !testing::Test::HasFatalFailure()) {
      ++counts_.epochs;
      counts_.sectors += std::accumulate(sectors.begin(), sectors.end(), std::uint64_t{0});
      each_prefix_torn_state(sectors, [this](const KeptSectors& kept) {
        ++counts_.prefix_torn;
        judge([&](Random& random) {
          const std::uint64_t older = random.below(3);
          crashed_.put(kept, [&](std::size_t) { return older == 2 ? random.coin() : older == 1; });
        });
      });
      for (std::uint64_t i = 0; i < states; i += 8) {
        ++counts_.random;
        judge([&](Random& random) { crashed_.put_at_random(random); });
      }
    }
    crashed_.next_epoch();
  }

  template <class Put>
  void judge(Put put) {
    ++state_;
    if (testing::Test::HasFatalFailure() || (only_ != 0 && only_ != state_)) return;
    Random random(seed_ * 1'000'003 + state_);
    put(random);
    const std::string wrong = judge_state(random);
    crashed_.take_back();
    ASSERT_EQ(wrong, "") << "state " << state_ << ", epoch " << counts_.epochs
                         << "; repeat with CALPE_ARRAY_SEED=" << seed_
                         << " CALPE_ARRAY_STATE=" << state_;
  }

  std::string judge_state(Random& random) {
    SimulatedMembers& disks = crashed_.disks();
    std::string wrong = is_growing_ ? judge_older_version(disks) : std::string();
    if (!wrong.empty()) return wrong;
    if (random.one_in(8)) crash_in_recovery(random);
    wrong = recover(random);
    if (!wrong.empty()) return wrong;
    wrong = model_.compare_after_cut(read_);
    if (!wrong.empty()) return wrong;
    // The bytes that were read are durable: another power cut does not revert them.
    disks.cut_power(KeptSectors(disks.count()));
    return read_without_some(random);
  }
  std::string recover(Random& random) {
    const bool scrubs = random.one_in(4);
    const auto array = Array::open(crashed_.disks());
    if (!array) return "open: " + array.error().message;
    std::string wrong = check_size((*array)->bytes());
    if (!wrong.empty()) return wrong;
    read_.resize((*array)->bytes());
    const Status read = (*array)->read(0, read_);
    if (!read) return "read: " + read.error().message;
    // A replacement that was interrupted is completed, so that the copy is checked, too.
    while (shape_.spares != 0 && (shape_.completes_rebuilds || random.below(16) != 0)) {
      const auto step = (*array)->rebuild_step(shape_.chunk_bytes, random_progress(random));
      if (!step) return "rebuild: " + step.error().message;
      if (step->is_complete) break;
    }
    if (scrubs) wrong = scrub_all(**array);
    return wrong.empty() ? crashed_.disks().complaint() : wrong;
  }
  std::string check_size(std::uint64_t bytes) const {
    const bool is_right = bytes == model_.bytes() || (is_growing_ && bytes == settled_bytes_);
    return is_right ? std::string() : text("has ", bytes, " bytes");
  }
  // An older version sees only the superblocks of version 1. It refuses the array, or finds it as
  // it was.
  std::string judge_older_version(SimulatedMembers& disks) {
    const std::vector<std::size_t> marks = disks.marks();
    std::vector<std::byte> superblock(4096);
    const std::vector<std::byte> zeros(4096);
    for (unsigned place = 0; place < disks.count(); ++place) {
      for (std::uint64_t at = 0; at < 8192; at += 4096) {
        disks[place].disk.read(at, superblock);
        if (superblock[8] == std::byte{2}) disks[place].disk.write(at, zeros);
      }
    }
    std::string wrong;
    if (const auto array = Array::open(disks)) {
      ++counts_.older_versions;
      if ((*array)->bytes() != settled_bytes_) wrong = text("has ", (*array)->bytes(), " bytes");
      read_.resize((*array)->bytes());
      const Status read = (*array)->read(0, read_);
      if (!read) wrong = read.error().message;
      if (wrong.empty()) wrong = model_.compare_after_cut(read_);
    }
    disks.undo_to(marks);
    return wrong.empty() ? wrong : "for an older version: " + wrong;
  }
  void crash_in_recovery(Random& random) {
    SimulatedMembers& disks = crashed_.disks();
    ++counts_.crashed_twice;
    disks.power_off_after(1 + random.below(3 * disks.count()));
    std::vector<std::byte> ignored(model_.bytes());
    open_and_read(disks, ignored);
    disks.cut_power_at_random(random);
    disks.power_on();
  }
  std::string read_without_some(Random& random) {
    if (state_ % 100 == 0) return read_without_each_set(random.below(reopened_every));
    ++counts_.sets;
    return read_without(crashed_.disks(), random_set(random, shape_.places(), shape_.parity),
                        read_);
  }
  // Tries all sets of m members. If there are many, most are tried on one open array.
  std::string read_without_each_set(std::uint64_t number) {
    SimulatedMembers& disks = crashed_.disks();
    const std::vector<std::size_t> marks = disks.marks();
    const auto array = Array::open(disks);
    if (!array) return "open: " + array.error().message;
    std::string wrong = scrub_all(**array);  // also loads all checksums into memory
    if (!wrong.empty()) return wrong;
    Roles lost(shape_.parity);
    std::iota(lost.begin(), lost.end(), 0U);
    do {
      ++counts_.sets;
      const bool reopens = shape_.places() <= members_reopened || number++ % reopened_every == 0;
      wrong = reopens ? read_without(disks, lost, read_) : read_around(**array, disks, lost, read_);
    } while (wrong.empty() && next_set(lost, shape_.places()));
    disks.undo_to(marks);
    return wrong;
  }

  static constexpr unsigned members_reopened = 11;     // up to 165 sets
  static constexpr std::uint64_t reopened_every = 64;  // a different 64th in each state

  CrashShape shape_;
  std::uint64_t seed_;
  Random random_;
  SimulatedMembers live_;
  CrashedMembers crashed_;
  ArrayModel model_;
  std::vector<std::byte> read_ = {};
  std::uint64_t settled_bytes_;  // that the array has for certain
  bool is_growing_ = false;
  bool has_begun_ = false;
  std::unique_ptr<Array> array_;
  Counts counts_;
  std::uint64_t state_ = 0;
  std::uint64_t only_ = 0;  // check only this state
};

}  // namespace calpe::tests
