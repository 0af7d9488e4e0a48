// SPDX-License-Identifier: Apache-2.0
#include "reram/parameters.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/settings_file.hpp"

namespace calpe::reram {
namespace {

const std::string needed =
    "read_ns = 20 user\nload_ns_per_byte = 2 fit\nwrite_word_ns = 30 nvsim\n";

std::string message_of(const std::string& line) {
  const auto parameters = parse_parameters(needed + line, "some.reram");
  if (parameters) return "";
  EXPECT_EQ(parameters.error().code, ErrorCode::invalid_argument);
  return parameters.error().message;
}

std::string set_message(std::string_view assignment) {
  Parameters parameters = *find_preset("reraid-fit");
  const Parameters before = parameters;
  const Status done = set_parameter(parameters, assignment);
  if (done) return "";
  EXPECT_EQ(parameters, before) << assignment;
  return done.error().message;
}

TEST(Parameters, a_file_gives_values_and_their_origins) {
  const auto parameters = parse_parameters(
      needed + "name = a chip of mine\nrows = 514 paper # spare\nread_word_pj =\t9.5 \t nvsim\n",
      "some.reram");
  ASSERT_TRUE(parameters) << parameters.error().message;
  Parameters expected;
  expected.name = "a chip of mine";
  expected.read_ns = {20, Origin::user};
  expected.load_ns_per_byte = {2, Origin::fit};
  expected.write_word_ns = {30, Origin::nvsim};
  expected.rows = {514, Origin::paper};
  expected.read_word_pj = Parameter{9.5, Origin::nvsim};
  EXPECT_EQ(*parameters, expected);
}

TEST(Parameters, text_is_read_back) {
  for (const std::string_view name : preset_names()) {
    Parameters parameters = *find_preset(name);
    ASSERT_TRUE(set_parameter(parameters, "variation=0.0333333333333333"));
    ASSERT_TRUE(set_parameter(parameters, "seed=9007199254740991"));
    ASSERT_TRUE(set_parameter(parameters, "endurance=1e15"));
    const std::string text = to_text(parameters);
    const auto again = parse_parameters(text, "text");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, parameters) << text;
  }
  Parameters nameless = *find_preset("nvsim-32nm");
  nameless.name.clear();
  EXPECT_EQ(*parse_parameters(to_text(nameless), "text"), nameless);
}

TEST(Parameters, text_is_aligned_and_commented) {
  const std::string text = to_text(*find_preset("reraid-fit"));
  std::size_t lines = 0;
  for (std::size_t start = 0; start < text.size(); ++lines) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    EXPECT_EQ(line.find('='), text.find('=')) << line;
    if (lines > 0) {
      EXPECT_EQ(line.find('#'), text.find('#') - text.find('\n') - 1) << line;
    }
    start = end + 1;
  }
  EXPECT_EQ(lines, 22U);  // all keys except two for energy, plus the name
}

// Each key with a valid value and the nearest invalid ones.
TEST(Parameters, values_keep_to_their_bounds) {
  const struct {
    std::string_view key, good, low, high, odd, expected;
  } cases[] = {
      {"banks", "16", "0", "4097", "1.5", "a whole number from 1 to 4096"},
      {"subarrays", "4", "-1", "4097", "2.5", "a whole number from 1 to 4096"},
      {"rows", "2", "1", "4097", "512.5", "a whole number from 2 to 4096"},
      {"columns", "4096", "0", "4160", "514", "a multiple of 64 from 64 to 4096"},
      {"packet_bytes", "4096", "0", "1048584", "12", "a multiple of 8 from 8 to 1048576"},
      {"adc_bits", "16", "0", "17", "7.5", "a whole number from 1 to 16"},
      {"read_ns", "0.001", "0", "1000001", "fast", "a number from 0.001 to 1e+06"},
      {"column_mux", "8", "0", "4097", "1.1", "a whole number from 1 to 4096"},
      {"load_ns_per_byte", "0", "-1", "1000001", "", "a number from 0 to 1e+06"},
      {"write_word_ns", "0", "-1", "1000001", "nan", "a number from 0 to 1e+06"},
      {"write_word_bits", "512", "0", "4097", "1.5", "a whole number from 1 to 4096"},
      {"combine_ns", "1.5", "-1", "1000001", "inf", "a number from 0 to 1e+06"},
      {"mode_switch_ns", "1.5", "-1", "1000001", "1ns", "a number from 0 to 1e+06"},
      {"bus_gb_per_s", "0", "0.0001", "1000001", "-0.5", "0 or a number from 0.001 to 1e+06"},
      {"queue_depth", "1", "0", "1000001", "1.5", "a whole number from 1 to 1e+06"},
      {"read_word_pj", "0", "-1", "1e10", "x", "a number from 0 to 1e+09"},
      {"write_word_pj", "5.5", "-1", "1e10", "x", "a number from 0 to 1e+09"},
      {"endurance", "1e12", "0", "1e16", "1.5", "a whole number from 1 to 9007199254740992"},
      {"variation", "1", "-0.1", "1.1", "x", "a number from 0 to 1"},
      {"on_off_ratio", "1.01", "1", "1e13", "0.5", "0 or a number above 1 up to 1e+12"},
      {"stuck_at_0", "1", "-0.1", "1.1", "x", "a number from 0 to 1"},
      {"stuck_at_1", "0.5", "-0.1", "1.1", "x", "a number from 0 to 1"},
      {"seed", "0", "-1", "1e17", "0.5", "a whole number from 0 to 9007199254740992"},
  };
  for (const auto& c : cases) {
    const std::string key(c.key);
    EXPECT_EQ(set_message(key + "=" + std::string(c.good)), "");
    for (const std::string_view wrong : {c.low, c.high, c.odd, std::string_view("1e999")}) {
      EXPECT_EQ(set_message(key + "=" + std::string(wrong)),
                key + " is \"" + std::string(wrong) + "\"; expected " + std::string(c.expected));
    }
  }
  // The table above has every key; unknown keys cannot be set.
  const std::string unknown = set_message("nothing=1");
  EXPECT_EQ(std::count(unknown.begin(), unknown.end(), ',') + 1, std::ssize(cases)) << unknown;
}

TEST(Parameters, files_without_origin_or_with_another_are_refused) {
  EXPECT_EQ(message_of("rows = 512"),
            "some.reram:4: rows is \"512\"; expected a value and its origin, one of "
            "paper, nvsim, fit, user");
  EXPECT_EQ(message_of("rows = 512 guess"),
            "some.reram:4: the origin of rows is \"guess\"; expected one of paper, nvsim, fit, "
            "user");
  EXPECT_EQ(message_of("rows = 512 paper user"),
            "some.reram:4: the origin of rows is \"paper user\"; expected one of paper, nvsim, "
            "fit, user");
  EXPECT_EQ(message_of("rows = 1 paper"),
            "some.reram:4: rows is \"1\"; expected a whole number from 2 to 4096");
}

TEST(Parameters, files_with_other_faults_are_refused) {
  const std::string unknown = "some.reram:4: the key is \"lines\"; expected one of name, banks, ";
  EXPECT_EQ(message_of("lines = 512 user").substr(0, unknown.size()), unknown);
  EXPECT_EQ(message_of("512"), "some.reram:4: line is \"512\"; expected key = value");
  EXPECT_EQ(message_of("read_ns = 1 user"),
            "some.reram:4: read_ns is given twice, first in line 1");
  EXPECT_EQ(message_of("stuck_at_0 = 0.5 user\nstuck_at_1 = 0.75 user"),
            "some.reram: stuck_at_0 + stuck_at_1 is 1.25; expected at most 1: fractions of all "
            "cells");
  EXPECT_EQ(message_of("banks = 4096 user"),
            "some.reram: banks * subarrays * rows * columns is 4294967296; expected at most "
            "1073741824 cells");
  for (const std::string_view key : {"read_ns", "load_ns_per_byte", "write_word_ns"}) {
    std::string content = needed;
    content.insert(content.find(key), "# ");
    const auto parameters = parse_parameters(content, "some.reram");
    ASSERT_FALSE(parameters) << key;
    EXPECT_EQ(parameters.error().message, "some.reram: no " + std::string(key) + "; expected " +
                                              std::string(key) + " = NUMBER ORIGIN");
  }
}

TEST(Parameters, files_are_read) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/some.reram";
  const Parameters parameters = *find_preset("nvsim-32nm");
  ASSERT_TRUE(replace_file(path, to_text(parameters)));
  const auto again = read_parameters_file(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, parameters);
  const auto none = read_parameters_file(path + ".none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::io);
  EXPECT_EQ(none.error().message, "cannot read " + path + ".none; expected parameters of a ReRAM");
}

TEST(Parameters, set_values_have_origin_user) {
  Parameters parameters = *find_preset("nvsim-32nm");
  ASSERT_TRUE(set_parameter(parameters, " read_word_pj = 7.5 "));
  EXPECT_EQ(parameters.read_word_pj, (Parameter{7.5, Origin::user}));
  ASSERT_TRUE(set_parameter(parameters, "read_ns=2"));
  EXPECT_EQ(parameters.read_ns, (Parameter{2, Origin::user}));
  EXPECT_EQ(parameters.write_word_ns.origin, Origin::nvsim);
  EXPECT_EQ(set_message("read_ns"), "the parameter is \"read_ns\"; expected key=value");
  const std::string unknown = "the parameter's key is \"speed\"; expected one of banks, ";
  EXPECT_EQ(set_message("speed=1").substr(0, unknown.size()), unknown);
  EXPECT_EQ(set_message("stuck_at_1=0.5"), "");
  ASSERT_TRUE(set_parameter(parameters, "stuck_at_0=0.75"));
  const Status done = set_parameter(parameters, "stuck_at_1=0.5");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "stuck_at_0 + stuck_at_1 is 1.25; expected at most 1: fractions of all cells");
  EXPECT_EQ(parameters.stuck_at_1.value, 0);
}

TEST(Presets, are_found_by_name) {
  for (const std::string_view name : preset_names()) {
    const auto preset = find_preset(name);
    ASSERT_TRUE(preset);
    EXPECT_EQ(preset->name, name);
    EXPECT_EQ(preset->crossbar_count(), 32U);
    EXPECT_FALSE(preset->is_noisy());
  }
  const auto none = find_preset("prime");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "the preset is \"prime\"; expected one of reraid-fit, nvsim-32nm");
}

// 32 crossbars, each k bytes in read_ns + k * load_ns_per_byte.
TEST(Presets, the_fit_meets_what_it_was_fitted_to) {
  const Parameters fit = *find_preset("reraid-fit");
  const auto mb_per_s = [&](double k) {
    return 32e3 * k / (fit.read_ns.value * fit.column_mux.value + fit.load_ns_per_byte.value * k);
  };
  EXPECT_NEAR(mb_per_s(10) / 258.7, 19, 0.0005);
  EXPECT_NEAR(mb_per_s(40) / mb_per_s(10), 1.72, 0.00005);
  EXPECT_EQ(fit.read_ns.origin, Origin::fit);
  EXPECT_EQ(fit.load_ns_per_byte.origin, Origin::fit);
  EXPECT_EQ(fit.write_word_ns.origin, Origin::nvsim);
  EXPECT_FALSE(fit.read_word_pj);
  EXPECT_FALSE(fit.write_word_pj);
}

// The table in the documentation has a column for each preset.
TEST(Presets, match_the_documentation) {
  const auto document = read_file(CALPE_TEST_DATA "/../docs/reram.md");
  ASSERT_TRUE(document) << document.error().message;
  const auto said_of = [](std::string_view key, const std::string& text) -> std::string {
    const auto settings = split_settings(text, "text");
    for (const Setting& setting : *settings) {
      if (setting.key != key) continue;
      const std::size_t blank = setting.value.find(' ');
      return std::string(setting.value.substr(0, blank)) + " " +
             std::string(trimmed(setting.value.substr(blank)));
    }
    return "none";
  };
  const std::string fit = to_text(*find_preset("reraid-fit"));
  const std::string nvsim = to_text(*find_preset("nvsim-32nm"));
  const auto settings = split_settings(nvsim, "nvsim");  // views: nvsim has every key
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->size(), 24U);
  for (const Setting& setting : *settings) {
    if (setting.key == "name") continue;
    const std::string row = "\n| `" + std::string(setting.key) + "` | " +
                            said_of(setting.key, fit) + " | " + said_of(setting.key, nvsim) + " | ";
    EXPECT_NE(document->find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace calpe::reram
