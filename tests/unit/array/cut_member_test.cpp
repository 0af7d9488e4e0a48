// SPDX-License-Identifier: Apache-2.0
// A member that was truncated for a while has lost bytes. Even if it is long enough again, it needs
// a full rebuild, and only then may others fail.
#include <gtest/gtest.h>

#include "array/array.hpp"
#include "support/memory_members.hpp"
#include "support/random_choice.hpp"

namespace calpe::array {
namespace {

using conformance::random_bytes;

class CutMember : public testing::Test {
 protected:
  CutMember() {
    Settings settings;
    settings.spec.data_shards = 2;
    settings.spec.parity_shards = 1;
    settings.chunk_bytes = 8192;
    settings.bytes = content.size();
    settings.log_bytes = 65536;
    EXPECT_TRUE(create(members, settings, Uuid{std::byte{5}}));
    const auto array = open();
    EXPECT_TRUE(array->write(0, content, Durability::durable));
    EXPECT_TRUE(array->close());
  }
  std::unique_ptr<Array> open() {
    auto array = Array::open(members);
    EXPECT_TRUE(array) << array.error().message;
    return *std::move(array);
  }
  void resize(unsigned place, std::size_t bytes) {
    members.disks[place].now.resize(bytes);
    members.disks[place].durable.resize(bytes);
  }
  void expect_back_in_full(Array& array) {
    const MemberStatus before = array.status().now.members[2];
    EXPECT_EQ(before.state, MemberState::out);
    EXPECT_FALSE(before.can_return);
    EXPECT_FALSE(array.readd(2)) << "it needs a full rebuild";
    ASSERT_TRUE(array.replace(2, 2));
    while (!array.rebuild_step(1 << 20)->is_complete) {
    }
    EXPECT_EQ(array.status().now.may_fail, 1U);
    members.disks[0].is_failing = true;
    std::vector<std::byte> now(content.size());
    ASSERT_TRUE(array.read(0, now));
    EXPECT_EQ(now, content);
  }

  static constexpr std::size_t member_bytes = 1 << 20;
  const std::vector<std::byte> content = random_bytes(std::size_t{12} * 2 * 8192, 1);
  MemoryMembers members{3, member_bytes};
};

TEST_F(CutMember, IsRebuiltInFullWhenItWasCutBetweenServers) {
  resize(2, 100'000);
  ASSERT_TRUE(open()->close());
  resize(2, member_bytes);
  const auto array = open();
  expect_back_in_full(*array);
}

TEST_F(CutMember, IsRebuiltInFullWhenItWasOutBefore) {
  {
    const auto array = open();
    ASSERT_TRUE(array->fail(2));
    ASSERT_TRUE(array->close());
  }
  resize(2, 100'000);
  ASSERT_TRUE(open()->close());
  resize(2, member_bytes);
  const auto array = open();
  expect_back_in_full(*array);
}

TEST_F(CutMember, IsRebuiltInFullWhenTheServerFoundIt) {
  const auto array = open();
  ASSERT_TRUE(array->lose(2, "it was truncated"));
  EXPECT_EQ(array->status().now.members[2].why, "it was truncated");
  expect_back_in_full(*array);
}

}  // namespace
}  // namespace calpe::array
