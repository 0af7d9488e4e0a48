// SPDX-License-Identifier: Apache-2.0
// `calpe report` on hostile run files: it refuses them or draws a harmless page. Mutations follow
// the structure of a run: other types, huge numbers, missing keys, escape sequences for terminals,
// browsers and file systems. Some damage the bytes.
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "calpe/report/report_charts.hpp"
#include "calpe/report/report_check.hpp"
#include "calpe/report/report_page.hpp"
#include "calpe/report/report_run.hpp"
#include "calpe/report/report_summary.hpp"
#include "calpe/report/report_tables.hpp"

namespace calpe::tools {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

const std::string hostile =
    "../../x\x1b]0;t\x07\x1b[2J\xc2\x9b"
    "31m\xe2\x80\xae<script>alert(1)</script>\"'-->]]>&";

// The stored run, cut to two rows per list so that thousands of runs take a second.
Json small_run() {
  const auto content = read_file(std::string(CALPE_TEST_DATA) + "/../bench/results/full.json");
  EXPECT_TRUE(content) << "bench/results/full.json";
  Json run = Json::parse(content ? *content : "{}");
  const auto cut = [](const auto& self, Json& value) -> void {
    if (value.is_array() && value.size() > 2) value.erase(value.begin() + 2, value.end());
    if (!value.is_structured()) return;
    for (Json& part : value)
      self(self, part);
  };
  cut(cut, run);
  return run;
}

class Mutator {
 public:
  Mutator(const Json& run, std::uint64_t seed) : run_(run), random_(seed) {
    for (const auto& item : run.at("sections").items())
      sections_.emplace_back(item.key(), item.value());
    run_.erase("sections");
  }

  std::string next() {
    Json run = run_;
    // One or two sections keep each run fast.
    Json kept = Json::object();
    for (std::size_t i = 0; i <= below(2); ++i) {
      const auto& [name, section] = sections_[below(sections_.size())];
      kept[name] = section;
    }
    run["sections"] = std::move(kept);
    for (std::size_t i = 0; i <= below(3); ++i)
      mutate(run);
    std::string text = run.dump();
    if (below(10) == 0) damage(text);
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  Json value() {
    switch (below(14)) {
      case 0:
        return nullptr;
      case 1:
        return 1e308;
      case 2:
        return -1;
      case 3:
        return Json::array();
      case 4:
        return Json::object();
      case 5:
        return hostile;
      case 6:
        return ~std::uint64_t{0};
      case 7:
        return Json::array({Json::array({1})});
      case 8:
        return true;
      case 9:
        return 0;
      case 10:
        return 1e-300;
      case 11:
        return 0.5;
      case 12:
        return std::string(5000, 'W');
      default:
        return below(1U << 20U);
    }
  }

  // Descends at random and changes the value it reaches.
  void mutate(Json& root) {
    Json* at = &root;
    while (at->is_structured() && !at->empty() && below(6) != 0)
      at = &*std::next(at->begin(), static_cast<std::ptrdiff_t>(below(at->size())));
    if (at->is_object() && !at->empty()) {
      const std::string key =
          std::next(at->begin(), static_cast<std::ptrdiff_t>(below(at->size()))).key();
      switch (below(4)) {
        case 0:
          at->erase(key);
          return;
        case 1:
          (*at)[hostile] = at->at(key);
          return;
        case 2:
          (*at)["methods_" + key] = value();
          return;
        default:
          break;
      }
    }
    if (at->is_array() && !at->empty() && below(2) == 0) {
      at->push_back(below(2) == 0 ? at->front() : value());
      return;
    }
    if (at->is_string() && below(2) == 0) {
      *at = at->get<std::string>() + hostile;
      return;
    }
    if (at != &root) *at = value();
  }

  void damage(std::string& text) {
    const std::size_t place = below(text.size());
    switch (below(3)) {
      case 0:
        text[place] = static_cast<char>(below(256));
        return;
      case 1:
        text.resize(place);
        return;
      default:
        text.insert(place, std::string(1 + below(100), '['));
    }
  }

  Json run_;
  std::mt19937_64 random_;
  std::vector<std::pair<std::string, Json>> sections_;
};

// Returns true if the text has no control characters except newlines. ASCII takes a fast path.
bool is_plain(std::string_view text) {
  const bool is_ascii = std::ranges::all_of(
      text, [](char c) { return c == '\n' || (c >= 0x20 && static_cast<signed char>(c) != 0x7f); });
  if (is_ascii) return true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (printable(line) != line) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

struct Counts {
  std::size_t refused = 0;
  std::size_t rendered = 0;
  std::size_t believed = 0;
  std::size_t pages = 0;
};

enum class Depth { tables, page };

testing::AssertionResult is_harmless(const std::string& content, Counts& counts,
                                     Depth depth = Depth::page) {
  const auto failure = [&](const char* what) {
    return testing::AssertionFailure() << what << ": " << printable(content, 4000);
  };
  const Result<Json> run = parse_run(content);
  if (!run) {
    ++counts.refused;
    return is_plain(run.error().message) ? testing::AssertionSuccess() : failure("message");
  }
  const std::vector<std::string> problems = find_impossible(*run);
  for (const std::string& problem : problems)
    if (!is_plain(problem)) return failure("problem");
  if (problems.empty()) ++counts.believed;
  // The command draws no page if there are problems, but drawing must be safe anyway.
  const std::vector<NamedChart> charts = report_charts(*run);
  std::set<std::string> names;
  for (const NamedChart& chart : charts) {
    const bool is_safe = chart.name.ends_with(".svg") && chart.name.size() > 4 &&
                         chart.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                             chart.name.size() - 4;
    if (!is_safe || !names.insert(chart.name).second) return failure("name of a file");
  }
  if (depth == Depth::page) {
    const std::string page = report_page(*run, charts);
    if (!is_plain(page)) return failure("page");
    if (page.find("<script") != std::string::npos) return failure("script in the page");
    ++counts.pages;
  }
  for (const ReportTable& table : report_tables(*run)) {
    for (const auto& row : table.rows)
      for (const std::string& cell : row)
        if (!is_plain(cell)) return failure("table");
  }
  for (const std::string& sentence : summarize(*run))
    if (!is_plain(sentence)) return failure("summary");
  ++counts.rendered;
  return testing::AssertionSuccess();
}

TEST(HostileRun, is_refused_or_drawn) {
  const std::uint64_t seed = number_from("CALPE_TEST_SEED", 1);
  const bool is_nightly = number_from("CALPE_NIGHTLY", 0) != 0;
  const std::uint64_t runs = is_nightly ? 100'000 : 10'000;
  const Json base = small_run();
  Counts counts;
  ASSERT_TRUE(is_harmless(base.dump(), counts));
  ASSERT_EQ(counts.believed, 1U) << "the stored run must pass";
  Mutator mutator(base, seed);
  for (std::uint64_t i = 0; i < runs; ++i) {
    // Drawing takes most of the time, so draw every eighth page only.
    const Depth depth = i % 8 == 0 ? Depth::page : Depth::tables;
    ASSERT_TRUE(is_harmless(mutator.next(), counts, depth))
        << "CALPE_TEST_SEED=" << seed << " run " << i;
  }
  std::cout << runs << " runs of seed " << seed << ": " << counts.refused << " refused, "
            << counts.rendered << " read, " << counts.believed << " believed, " << counts.pages
            << " pages\n";
  // Both outcomes must occur.
  EXPECT_GT(counts.refused, runs / 20);
  EXPECT_GT(counts.pages, runs / 160);
}

TEST(HostileRun, regressions) {
  Counts counts;
  const std::string head = R"({"machine": {}, "rows": [], "sections": )";
  for (const char* sections : {
           R"({"over_k": {"rows": [{}]}}})",
           R"({"over_k": {"rows": [{"operation": "encode", "parity_shards": 1e300}]}}})",
           R"({"emitted": {"rows": [5]}}})",
           R"({"over_bytes": {"rows": [{"data_shards": -1, "parity_shards": "x"}]}}})",
           R"({"cold": {"rows": [{"methods_isal": {"ec": "fast"}, "bytes": 1}]}}})",
       }) {
    EXPECT_TRUE(is_harmless(head + sections, counts));
  }
  EXPECT_TRUE(is_harmless(head + std::string(100'000, '[') + "}", counts));
  EXPECT_GE(counts.refused, 4U);
}

}  // namespace
}  // namespace calpe::tools
