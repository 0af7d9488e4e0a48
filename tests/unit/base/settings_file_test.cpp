// SPDX-License-Identifier: Apache-2.0
#include "base/settings_file.hpp"

#include <gtest/gtest.h>
#include <limits>

#include "base/files.hpp"

namespace calpe {
namespace {

std::string message_of(std::string_view content) {
  const auto settings = split_settings(content, "some.file");
  return settings ? "" : settings.error().message;
}

TEST(SettingsFile, lines_become_keys_and_values) {
  const auto settings =
      split_settings("# all\n\n a = 1 \r\nb=two words # why\nc =\nd = x = y", "some.file");
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->size(), 4U);
  const std::vector<Setting> expected = {
      {"a", "1", 3}, {"b", "two words", 4}, {"c", "", 5}, {"d", "x = y", 6}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*settings)[i].key, expected[i].key);
    EXPECT_EQ((*settings)[i].value, expected[i].value);
    EXPECT_EQ((*settings)[i].line, expected[i].line);
  }
  EXPECT_EQ(place_of(expected[1], "some.file"), "some.file:4: ");
}

TEST(SettingsFile, empty_files_have_no_settings) {
  for (const std::string_view content : {"", "\n\n", "# a = 1", "   \t\r\n"}) {
    const auto settings = split_settings(content, "some.file");
    ASSERT_TRUE(settings) << content;
    EXPECT_TRUE(settings->empty()) << content;
  }
}

TEST(SettingsFile, malformed_lines_are_refused) {
  EXPECT_EQ(message_of("a = 1\nfast"), "some.file:2: line is \"fast\"; expected key = value");
  EXPECT_EQ(message_of("\n = 1"), "some.file:2: line is \"= 1\"; expected key = value");
  EXPECT_EQ(message_of("a # = 1"), "some.file:1: line is \"a\"; expected key = value");
}

TEST(SettingsFile, duplicate_keys_are_refused) {
  EXPECT_EQ(message_of("a = 1\nb = 2\n\na = 1"), "some.file:4: a is given twice, first in line 1");
  EXPECT_EQ(message_of("a = 1\nA = 1"), "");
}

TEST(SettingsFile, numbers_must_be_the_whole_text) {
  EXPECT_EQ(parse_number("512"), 512);
  EXPECT_EQ(parse_number("-2.5e-3"), -0.0025);
  for (const std::string_view text :
       {"", "many", "1.7 GHz", "inf", "nan", "1e999", " 1", "1 ", "0x10", "1,5", "+1"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

TEST(SettingsFile, numbers_are_read_back) {
  for (const double number :
       {0.0, 512.0, 1e9, 36.3365, 1.0 / 3, -1e-300, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::lowest()}) {
    EXPECT_EQ(parse_number(number_text(number)), number) << number_text(number);
  }
  EXPECT_EQ(number_text(512), "512");
  EXPECT_EQ(number_text(36.3365), "36.3365");
}

TEST(SettingsFile, reads_files_but_not_directories) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/some.file";
  ASSERT_TRUE(replace_file(path, "a = 1\n"));
  const auto content = read_settings(path, "a file");
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, "a = 1\n");
  for (const std::string& wrong : {folder->path(), folder->path() + "/none"}) {
    const auto nothing = read_settings(wrong, "a chip");
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, ErrorCode::io);
    EXPECT_EQ(nothing.error().message, "cannot read " + wrong + "; expected a chip");
  }
}

}  // namespace
}  // namespace calpe
