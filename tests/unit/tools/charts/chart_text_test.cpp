// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/chart_text.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace calpe::tools {
namespace {

TEST(ChartText, escapes_entities_and_invalid_characters) {
  EXPECT_EQ(escape_xml("a<b & \"c\">'d'"), "a&lt;b &amp; &quot;c&quot;&gt;&apos;d&apos;");
  EXPECT_EQ(escape_xml("µ 10⁹ 🙂"), "µ 10⁹ 🙂");
  EXPECT_EQ(escape_xml(std::string_view("x\0y\x1b\n", 5)), "x?y??");
  EXPECT_EQ(escape_xml("\xB5m"), "?m");          // Latin-1
  EXPECT_EQ(escape_xml("\xC0\xAF"), "??");       // overlong encoding of a slash
  EXPECT_EQ(escape_xml("\xED\xA0\x80"), "???");  // unpaired surrogate
  EXPECT_EQ(escape_xml("\xF4\x90\x80\x80"), "????");
  EXPECT_EQ(escape_xml("\xEF\xBF\xBF"), "???");
  EXPECT_EQ(escape_xml("a\xE2\x82"), "a??");  // truncated
}

TEST(ChartText, width_grows_with_text_and_size_and_counts_characters) {
  EXPECT_GT(text_width("mm", 10), text_width("m", 10));
  EXPECT_GT(text_width("m", 10), text_width("i", 10));
  EXPECT_DOUBLE_EQ(text_width("abc", 20), 2 * text_width("abc", 10));
  EXPECT_DOUBLE_EQ(text_width("⁹", 10), text_width("9", 10));
}

TEST(ChartText, lines_hold_all_words_and_are_not_too_wide) {
  const std::string text = "the conditions of a measurement take more than one line of small print";
  const std::vector<std::string> lines = wrap_text(text, 10, 150);
  EXPECT_GT(lines.size(), 2U);
  std::string together;
  for (const std::string& line : lines) {
    EXPECT_LE(text_width(line, 10), 150) << line;
    together += (together.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(together, text);
  EXPECT_EQ(wrap_text("", 10, 150).size(), 0U);
  EXPECT_EQ(wrap_text("  a   b ", 10, 150), std::vector<std::string>{"a b"});
  EXPECT_EQ(wrap_text("averyveryverylongword b", 10, 20),
            (std::vector<std::string>{"averyveryverylongword", "b"}));
}

TEST(ChartText, labels_with_room_stay) {
  const std::vector<double> wanted = {100, 20, 60};
  EXPECT_EQ(spread(wanted, 16, 0, 200), wanted);
}

TEST(ChartText, labels_are_pushed_apart_about_their_middle) {
  EXPECT_EQ(spread({50, 50, 50}, 10, 0, 200), (std::vector<double>{40, 50, 60}));
  EXPECT_EQ(spread({52, 50}, 10, 0, 200), (std::vector<double>{56, 46}));
}

TEST(ChartText, labels_stay_inside_and_apart) {
  // Pseudo-random positions: crowded at the top, the bottom and in between.
  unsigned state = 1;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> wanted;
    for (int i = 0; i < 12; ++i) {
      state = state * 1'664'525U + 1'013'904'223U;
      wanted.push_back(static_cast<double>(state >> 24) * (trial % 3 == 0 ? 0.05 : 1) +
                       (trial % 3 == 1 ? 150 : 0));
    }
    std::vector<double> places = spread(wanted, 16, 8, 250);
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = 0; b < places.size(); ++b)
        EXPECT_TRUE(wanted[a] >= wanted[b] || places[a] < places[b]);
    }
    std::sort(places.begin(), places.end());
    EXPECT_GE(places.front(), 8 - 1e-9);
    EXPECT_LE(places.back(), 250 + 1e-9);
    for (std::size_t i = 1; i < places.size(); ++i)
      ASSERT_GE(places[i] - places[i - 1], 16 - 1e-9) << "trial " << trial;
  }
}

}  // namespace
}  // namespace calpe::tools
