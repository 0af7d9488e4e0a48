// SPDX-License-Identifier: Apache-2.0
// Makes every allocation of a call that writes fail once. Afterwards each acknowledged write is
// read back, or the array refuses and says that it needs a restart. The same holds after a power
// cut.
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "array/array.hpp"
#include "array/array_model.hpp"
#include "array/format/layout.hpp"
#include "support/failing_new.hpp"
#include "support/memory_members.hpp"

namespace calpe::tests {
namespace {

using array::Array;
using array::Durability;
using array::MemberState;
using array::MemoryMembers;

constexpr std::uint64_t block = ArrayModel::block_bytes;
constexpr std::uint32_t chunk_bytes = 8192;
constexpr std::uint64_t stripes = 12;

// An array, and the contents that it may have after a power cut.
class Stage {
 public:
  explicit Stage(unsigned data)
      : data_(data),
        members(data + 2, std::uint64_t{1} << 20U),
        model_(stripes * stripe_bytes()),
        visible_(stripes * stripe_bytes()) {
    const array::Settings settings = {
        .spec = {.data_shards = static_cast<std::uint16_t>(data), .parity_shards = 2},
        .bytes = stripes * stripe_bytes(),
        .chunk_bytes = chunk_bytes,
        .log_bytes = 65536,
        .spare_slots = 3};
    Uuid uuid = {};
    uuid[0] = std::byte{7};
    const Status created = array::create(members, settings, uuid);
    EXPECT_TRUE(created) << created.error().message;
    open();
  }

  std::uint64_t stripe_bytes() const { return std::uint64_t{data_} * chunk_bytes; }

  void open() {
    array.reset();
    auto opened = Array::open(members);
    ASSERT_TRUE(opened) << opened.error().message;
    array = *std::move(opened);
  }

  // --- calls; each updates the model ---
  Status write(std::uint64_t offset, std::uint64_t bytes, char content, Durability durability) {
    const std::vector<std::byte> all(bytes, static_cast<std::byte>(content));
    return changed(offset, all, durability,
                   [&](auto how) { return array->write(offset, all, how); });
  }
  Status zero(std::uint64_t offset, std::uint64_t bytes, Durability durability) {
    const std::vector<std::byte> all(bytes);
    return changed(offset, all, durability,
                   [&](auto how) { return array->zero(offset, bytes, how); });
  }
  Status flush() {
    return settled(run([&] { return array->flush(); }));
  }
  Status checkpoint() {
    return settled(run([&] { return array->checkpoint(); }));
  }
  Status close() {
    return settled(run([&] { return array->close(); }));
  }

  // From allocation n of the next call on.
  void fail_from(long n, bool goes_on) {
    n_ = n;
    goes_on_ = goes_on;
  }
  bool has_failed() const { return has_failed_; }

  // Runs a call, in which the chosen allocation fails. It returns Done, or refuses.
  template <class Call>
  Status run(const Call& call) {
    const bool was_stopped = !refusal_.empty();
    if (n_ != 0) allocations::fail_from(n_, goes_on_);
    Status done = call();
    const bool failed_now = n_ != 0 && allocations::stop_failing();
    n_ = 0;
    has_failed_ = has_failed_ || failed_now;
    if (done) {
      EXPECT_FALSE(was_stopped) << "works after it stopped";
      return done;
    }
    const bool is_memory = done.error().code == ErrorCode::out_of_memory && failed_now;
    if (!is_memory) refusal_ = done.error().message;
    EXPECT_TRUE(is_memory || refusal_.find("restart its server") != std::string::npos)
        << done.error().message;
    return done;
  }

  // Whole array, by the newest contents that were acknowledged.
  void expect_readable() {
    std::vector<std::byte> all(model_.bytes());
    if (!run([&] { return array->read(0, all); })) return;
    for (std::uint64_t i = 0; i < visible_.bytes() / block; ++i) {
      const auto read = std::span(all).subspan(i * block, block);
      EXPECT_EQ(visible_.compare_block_after_cut(i, read), "");
    }
  }
  // Everything that is not durable is lost, or any part of it.
  void cut_power(bool loses_all, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    if (!loses_all) members.lose_power(random);
    for (MemoryMembers::Disk& disk : members.disks) {
      disk.now = disk.durable;
      disk.is_failing = false;
    }
    refusal_.clear();
    open();
    if (array == nullptr) return;
    std::vector<std::byte> all(model_.bytes());
    const Status read = array->read(0, all);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(model_.compare_after_cut(all), "");
    model_.settle_after_cut(all);
    visible_ = model_;
  }

 private:
  unsigned data_;

 public:
  MemoryMembers members;
  std::unique_ptr<Array> array;

 private:
  template <class Call>
  Status changed(std::uint64_t offset, std::span<const std::byte> bytes, Durability durability,
                 const Call& call) {
    model_.write(offset, bytes);
    visible_.write(offset, bytes);
    Status done = run([&] { return call(durability); });
    if (!done) return done;
    visible_.settle(offset, bytes.size());
    if (durability == Durability::durable) model_ = visible_;
    return done;
  }
  Status settled(Status done) {
    if (done) model_ = visible_;
    return done;
  }

  ArrayModel model_;    // after a power cut
  ArrayModel visible_;  // to reads: more than one content after a write that failed
  std::string refusal_;
  long n_ = 0;
  bool goes_on_ = false;
  bool has_failed_ = false;
};

struct Case {
  const char* name;
  std::function<void(Stage&)> before;  // with enough memory
  std::function<void(Stage&)> call;
};

void begin(Stage& stage) {
  static_cast<void>(stage.write(0, block, '0', Durability::durable));
  static_cast<void>(stage.checkpoint());
}
void begin_with_change(Stage& stage) {
  begin(stage);
  static_cast<void>(stage.write(0, block, 'A', Durability::cached));
}
void begin_with_stripe(Stage& stage) {
  begin(stage);
  static_cast<void>(stage.write(0, stage.stripe_bytes(), 'A', Durability::cached));
}
void begin_with_log(Stage& stage) {
  begin(stage);
  for (const char content : {'1', '2', '3'})
    static_cast<void>(stage.write(0, block, content, Durability::durable));
  static_cast<void>(stage.write(stage.stripe_bytes(), block, 'A', Durability::cached));
}
// Until the next part has no room.
void begin_with_full_log(Stage& stage) {
  begin(stage);
  while (stage.array->status().log_bytes_used + 4 * block < 65536)
    static_cast<void>(stage.write(0, 2 * block, 'F', Durability::durable));
}
void begin_without_a_member(Stage& stage) {
  begin(stage);
  static_cast<void>(stage.array->fail(0));
  static_cast<void>(stage.write(0, block, 'A', Durability::cached));
}

const std::vector<Case>& cases() {
  using enum Durability;
  static const std::vector<Case> all = {
      {"flush", begin_with_change, [](Stage& s) { static_cast<void>(s.flush()); }},
      {"flush of a stripe", begin_with_stripe, [](Stage& s) { static_cast<void>(s.flush()); }},
      {"flush without a member", begin_without_a_member,
       [](Stage& s) { static_cast<void>(s.flush()); }},
      {"flush while a member fails", begin_with_change,
       [](Stage& s) {
         s.members.disks[0].is_failing = true;
         static_cast<void>(s.flush());
       }},
      {"cached write", begin_with_change,
       [](Stage& s) { static_cast<void>(s.write(0, 3 * block, 'C', cached)); }},
      {"durable write", begin_with_change,
       [](Stage& s) { static_cast<void>(s.write(block, 2 * block, 'C', durable)); }},
      {"durable write to a hole", begin_with_change,
       [](Stage& s) { static_cast<void>(s.write(3 * s.stripe_bytes(), block, 'C', durable)); }},
      {"durable write of a stripe", begin_with_change,
       [](Stage& s) { static_cast<void>(s.write(0, s.stripe_bytes(), 'C', durable)); }},
      {"durable write with a full log", begin_with_full_log,
       [](Stage& s) { static_cast<void>(s.write(0, 2 * block, 'C', durable)); }},
      {"durable write larger than a batch", begin_with_change,
       [](Stage& s) { static_cast<void>(s.write(block, 7 * s.stripe_bytes(), 'C', durable)); }},
      {"durable zeros", begin_with_stripe,
       [](Stage& s) { static_cast<void>(s.zero(0, s.stripe_bytes() + block, durable)); }},
      {"checkpoint", begin_with_log, [](Stage& s) { static_cast<void>(s.checkpoint()); }},
      {"checkpoint while a member fails", begin_with_log,
       [](Stage& s) {
         s.members.disks[1].is_failing = true;
         static_cast<void>(s.checkpoint());
       }},
  };
  return all;
}

// What follows the failure.
enum class Then : std::uint8_t { cut, same_block, other_block, same_stripe };

void use_on(Stage& stage, Then then, std::uint64_t seed) {
  stage.expect_readable();
  if (then != Then::cut) {
    const std::uint64_t at = then == Then::other_block ? 5 * stage.stripe_bytes() : 0;
    const std::uint64_t bytes = then == Then::same_stripe ? stage.stripe_bytes() : block;
    static_cast<void>(stage.write(at, bytes, 'B', Durability::durable));
    stage.expect_readable();
    static_cast<void>(stage.flush());
    static_cast<void>(stage.write(at, block, 'D', Durability::cached));
    stage.expect_readable();
  }
  stage.cut_power(seed % 2 == 0, seed);
}

// Returns the number of allocations.
long try_case(const Case& one, unsigned data, Then then, bool goes_on) {
  for (long n = 1;; ++n) {
    SCOPED_TRACE(testing::Message()
                 << one.name << ", " << data << "+2, allocation " << n
                 << (goes_on ? " and all later ones" : "") << ", then " << static_cast<int>(then));
    Stage stage(data);
    one.before(stage);
    stage.fail_from(n, goes_on);
    one.call(stage);
    const bool has_failed = stage.has_failed();
    use_on(stage, then, static_cast<std::uint64_t>(n));
    if (testing::Test::HasFailure()) return n;
    // It works again after the restart.
    EXPECT_TRUE(stage.write(block, block, 'E', Durability::durable));
    stage.expect_readable();
    EXPECT_TRUE(stage.close());
    stage.cut_power(true, 0);
    if (!has_failed || testing::Test::HasFailure()) return n - 1;
  }
}

TEST(ArrayOutOfMemory, KeepsAcknowledgedWritesOrStops) {
  long failures = 0;
  for (const unsigned data : {4U, 3U}) {
    for (const Case& one : cases()) {
      for (const Then then : {Then::cut, Then::same_block, Then::other_block, Then::same_stripe}) {
        for (const bool goes_on : {false, true}) {
          const long count = try_case(one, data, then, goes_on);
          if (HasFailure()) return;
          EXPECT_GT(count, 0) << one.name << " allocates nothing";
          failures += count;
        }
      }
    }
  }
  std::cout << "failed allocations: " << failures << "\n";
}

// A log that counts bytes which no request wrote has a hole in front of the next batch.
TEST(ArrayOutOfMemory, LogsCountOnlyTheBatchesThatWereSent) {
  for (const unsigned data : {4U, 3U}) {
    for (long n = 1;; ++n) {
      Stage stage(data);
      begin_with_stripe(stage);
      static_cast<void>(
          stage.write(2 * stage.stripe_bytes(), data * block, 'A', Durability::cached));
      std::uint64_t end = array::log_at;
      stage.members.on_request = [&](const array::MemberRequest& request) {
        const bool is_log = request.call == array::MemberCall::write &&
                            request.offset >= array::log_at &&
                            request.offset < array::log_at + 65536;
        if (is_log) end = std::max(end, request.offset + request.bytes.size());
      };
      stage.fail_from(n, false);
      static_cast<void>(stage.flush());
      ASSERT_EQ(stage.array->status().log_bytes_used, end - array::log_at) << "allocation " << n;
      if (!stage.has_failed()) break;
    }
  }
}

// The superblocks that record it may need memory, too; a later commit then writes them.
TEST(ArrayOutOfMemory, RecordsAMemberThatLeft) {
  for (long n = 1;; ++n) {
    SCOPED_TRACE(n);
    Stage stage(4);
    begin(stage);
    stage.fail_from(n, false);
    static_cast<void>(stage.run([&] { return stage.array->fail(0); }));
    const bool is_out = stage.array->status().now.members[0].state == MemberState::out;
    static_cast<void>(stage.write(0, block, 'A', Durability::durable));
    stage.expect_readable();
    const bool was_acknowledged = bool(stage.flush());
    stage.cut_power(true, 0);
    ASSERT_FALSE(HasFailure());
    if (is_out && was_acknowledged) {
      EXPECT_EQ(stage.array->status().now.members[0].state, MemberState::out);
    }
    if (!stage.has_failed()) break;
  }
}

}  // namespace
}  // namespace calpe::tests
