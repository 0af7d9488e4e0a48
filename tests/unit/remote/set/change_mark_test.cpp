// SPDX-License-Identifier: Apache-2.0
// Marks of commands that change a set, and whether their process has ended.
#include "remote/format/change_mark.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/format/object_names.hpp"
#include "remote/set/process_identity.hpp"

namespace calpe::remote {
namespace {

TEST(ChangeMark, IsReadAsWritten) {
  ChangeMark mark = mark_of_this_process();
  mark.verb = "update";
  mark.place = 3;
  mark.host = "two\nlines";
  const ChangeMark read = parse_change_mark(to_bytes(mark));
  EXPECT_EQ(read.verb, "update");
  EXPECT_EQ(read.place, 3U);
  EXPECT_EQ(read.host, "two lines");
  EXPECT_EQ(read.process, mark.process);
  EXPECT_EQ(read.started, mark.started);
  EXPECT_EQ(read.system, mark.system);
  EXPECT_EQ(read.seconds, mark.seconds);
}

TEST(ChangeMark, OfAnyBytesIsRead) {
  const std::vector<std::byte> bytes = to_bytes(mark_of_this_process());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    (void)parse_change_mark(std::span(bytes).first(size));
  EXPECT_EQ(parse_change_mark({}).process, 0U);
  const std::string words = "calpe-c1\nprocess 12x\nverb\n \nplace 99999999999999999999\n";
  const ChangeMark read = parse_change_mark(std::as_bytes(std::span(words)));
  EXPECT_EQ(read.process, 0U);
  EXPECT_EQ(read.place, 0U);
  EXPECT_EQ(read.verb, "");
}

TEST(ChangeMark, OfALivingProcessHasNotEnded) {
  const ChangeMark mark = mark_of_this_process();
  ASSERT_FALSE(mark.system.empty());
  EXPECT_FALSE(has_ended(mark));
  ChangeMark of_init = mark;
  of_init.process = 1;
  of_init.started = 0;
  EXPECT_FALSE(has_ended(of_init));
}

TEST(ChangeMark, OfAProcessThatIsGoneHasEnded) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  ChangeMark mark = mark_of_this_process();
  mark.process = static_cast<std::uint64_t>(child);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(has_ended(mark));
  // Another computer, or another namespace, may have such a process.
  mark.system += "x";
  EXPECT_FALSE(has_ended(mark));
  mark.system.clear();
  EXPECT_FALSE(has_ended(mark));
}

TEST(ChangeMark, OfAProcessWhoseNumberWasGivenAgainHasEnded) {
  ChangeMark mark = mark_of_this_process();
  ASSERT_NE(mark.started, 0U);
  ++mark.started;
  EXPECT_TRUE(has_ended(mark));
  mark.process = 0;
  EXPECT_FALSE(has_ended(mark));
}

TEST(ChangeMark, HasANameOfItsOwn) {
  const Uuid uuid = random_uuid();
  const std::string name = mark_name(uuid, 0x0123456789abcdef);
  EXPECT_TRUE(name.ends_with(".c0123456789abcdef"));
  const auto parsed = parse_top_name(name);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->uuid, uuid);
  EXPECT_EQ(parsed->mark, 0x0123456789abcdefU);
  EXPECT_FALSE(parsed->generation);
  EXPECT_FALSE(parse_top_name(name.substr(0, name.size() - 1)));
}

}  // namespace
}  // namespace calpe::remote
