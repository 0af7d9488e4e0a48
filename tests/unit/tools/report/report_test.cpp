// SPDX-License-Identifier: Apache-2.0
// The parts of `calpe report` on small run files: checks, charts, page and summary.
#include <gtest/gtest.h>

#include "calpe/predict/bank_conflicts.hpp"
#include "calpe/report/report_charts.hpp"
#include "calpe/report/report_check.hpp"
#include "calpe/report/report_page.hpp"
#include "calpe/report/report_summary.hpp"

namespace calpe::tools {
namespace {

// 10 x 65536 bytes in 16.384 us is 40 GB/s.
Json good_row() {
  return Json::parse(R"({"data_shards": 10, "parity_shards": 4, "shard_bytes": 65536,
    "operation": "encode", "profile": "default", "path": "cpu:avx2", "lost_shards": 0,
    "condition": "hot", "threads": 1, "pool_threads": 1, "stripes": 1, "rounds": 9,
    "gb_per_s": 40.0, "gb_per_s_median": 32.0, "bytes": 655360,
    "seconds": 1.6384e-05, "seconds_median": 2.048e-05, "seconds_p10": 1.7e-05,
    "seconds_p90": 2.5e-05, "roof_bytes": 655360, "roof_gb_per_s": 64.0, "roof_seconds": 1.024e-05,
    "fraction_of_roof": 0.625,
    "gb_per_s_isal": 20.0, "seconds_isal": 3.2768e-05, "gb_per_s_isal_median": 20.0,
    "seconds_isal_median": 3.2768e-05, "ratio_isal": 2.0,
    "methods_isal": {"ec": 20.0}, "method_seconds_isal": {"ec": 3.2768e-05}})");
}

Json run_with(const Json& row) {
  Json run = {{"machine", {{"cpu", "a <CPU> & more"}, {"cpu_count", 2}, {"path", "cpu:avx2"}}},
              {"peers", Json::array({{{"name", "isal"}, {"version", "2.30"}, {"library", "x"}}})},
              {"rows", Json::array({row})}};
  run["sections"]["over_k"]["rows"] = Json::array({row});
  return run;
}

TEST(ReportCheck, accepts_rates_that_match_bytes_and_seconds) {
  EXPECT_EQ(find_impossible(run_with(good_row())), std::vector<std::string>());
}

// A wrong field and the text that the message must contain.
struct Wrong {
  const char* key;
  Json value;
  const char* said;
};

TEST(ReportCheck, names_the_row_of_a_wrong_field) {
  const Wrong cases[] = {
      {"gb_per_s", 41.0, "gb_per_s 41"},
      {"gb_per_s_median", 40.0, "gb_per_s_median"},
      {"seconds", nullptr, "without seconds"},
      {"bytes", 655361, "expected 655360 from its shape"},
      {"seconds_isal", 1e-05, "gb_per_s_isal 20"},
      {"roof_seconds", 1e-05, "roof_gb_per_s 64"},
      {"methods_isal", Json{{"ec", 25.0}}, "isal ec 25"},
      {"method_seconds_isal", Json::object(), "without method_seconds_isal"},
      {"roof_gb_per_s", nullptr, "has no memory limit"},
  };
  for (const Wrong& wrong : cases) {
    Json row = good_row();
    row[wrong.key] = wrong.value;
    const auto problems = find_impossible(run_with(row));
    ASSERT_FALSE(problems.empty()) << wrong.key;
    std::string all;
    for (const std::string& each : problems)
      all += each + "\n";
    EXPECT_NE(all.find(wrong.said), std::string::npos) << wrong.key << ": " << all;
    EXPECT_NE(all.find("encode 10+4 64 KiB"), std::string::npos) << all;
    EXPECT_NE(all.find("sections.over_k"), std::string::npos)
        << "sections are checked too: " << all;
  }
}

// Consistent with its seconds, but faster than memory allows.
TEST(ReportCheck, refuses_rates_above_the_memory_limit) {
  const auto with_rate = [](double rate, const char* rate_key, const char* seconds_key) {
    Json row = good_row();
    row[rate_key] = rate;
    row[seconds_key] = 655360 / rate / 1e9;
    return find_impossible(run_with(row));
  };
  EXPECT_TRUE(with_rate(70.0, "gb_per_s", "seconds").empty()) << "within 10 % of 64";
  const auto ours = with_rate(71.0, "gb_per_s", "seconds");
  ASSERT_FALSE(ours.empty());
  EXPECT_NE(ours.front().find("above the memory limit of 64"), std::string::npos) << ours.front();
  Json row = good_row();
  EXPECT_FALSE(with_rate(80.0, "gb_per_s_isal", "seconds_isal").empty());
}

TEST(ReportCheck, a_pool_of_n_threads_may_reach_n_times_the_memory_limit) {
  Json row = good_row();
  row["pool_threads"] = 2;
  row["gb_per_s"] = 100.0;
  row["seconds"] = 655360 / 100e9;
  EXPECT_TRUE(find_impossible(run_with(row)).empty());
  row["gb_per_s"] = 150.0;
  row["seconds"] = 655360 / 150e9;
  EXPECT_FALSE(find_impossible(run_with(row)).empty());
}

TEST(ReportCheck, predictions_need_no_seconds_but_a_formula) {
  Json run = run_with(good_row());
  run["sections"]["predictions"] = {{"predicted", true}, {"formula", "x"}, {"gb_per_s", 2000}};
  EXPECT_TRUE(find_impossible(run).empty());
  run["sections"]["predictions"]["formula"] = "";
  EXPECT_EQ(find_impossible(run).size(), 1U);
  run["sections"]["predictions"] = {{"predicted", false}, {"gb_per_s", 2000}};
  EXPECT_EQ(find_impossible(run).size(), 1U);
}

TEST(ReportCheck, survives_files_that_are_not_runs) {
  EXPECT_TRUE(find_impossible(Json::parse(R"({"rows": 3, "sections": [1, {"a": null}]})")).empty());
  EXPECT_TRUE(report_charts(Json::object()).empty());
  EXPECT_FALSE(report_page(Json::object(), {}).empty());
}

TEST(ReportCharts, medians_are_drawn_with_their_spread) {
  const std::vector<NamedChart> charts = over_k_charts(run_with(good_row()));
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].name, "over_k_encode_m4");
  const Chart& chart = charts[0].chart;
  ASSERT_EQ(chart.series.size(), 3U) << "Calpe, the peer, the memory limit";
  EXPECT_EQ(chart.series[0].points, (std::vector<ChartPoint>{{10, 32}}));
  EXPECT_NEAR(chart.series[0].spread.at(0).low, 655360 / 2.5e-05 / 1e9, 1e-9);
  EXPECT_EQ(chart.series[1].name, "ISA-L 2.30");
  EXPECT_EQ(chart.series[2].points, (std::vector<ChartPoint>{{10, 64}}));
  EXPECT_NE(to_svg(chart).find("class=\"spread\""), std::string::npos);
}

// Rows of three shapes in the order of a run; x is the number of all shards.
TEST(ReportCharts, wide_runs_are_drawn_over_the_number_of_shards) {
  Json run = run_with(good_row());
  run["rows"] = Json::array();
  for (const auto& [data, parity] : {std::pair{1000, 200}, {4, 2}, {32768, 32768}}) {
    Json row = good_row();
    row["data_shards"] = data;
    row["parity_shards"] = parity;
    if (data == 4) row["gb_per_s_isal"] = nullptr;
    run["rows"].push_back(row);
  }
  EXPECT_TRUE(wide_charts(run).empty()) << "only runs of --wide";
  run["extent"] = "wide";
  const std::vector<NamedChart> charts = wide_charts(run);
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_EQ(charts[0].name, "wide_encode");
  EXPECT_TRUE(charts[1].chart.series.empty()) << "no rows of decode";
  const Chart& chart = charts[0].chart;
  EXPECT_TRUE(chart.x.is_log);
  ASSERT_EQ(chart.series.size(), 3U);
  const std::vector<ChartPoint> ours = {{6, 40}, {1200, 40}, {65536, 40}};
  EXPECT_EQ(chart.series[0].points, ours);
  const std::vector<ChartPoint> theirs = {{1200, 20}, {65536, 20}};
  EXPECT_EQ(chart.series[1].points, theirs);
  EXPECT_EQ(chart.series[2].name, "memory limit");
  run["rows"][0]["operation"] = "decode";
  run["rows"][1]["operation"] = "decode-fresh";
  const Chart decode = wide_charts(run)[1].chart;
  ASSERT_EQ(decode.series.size(), 4U);
  EXPECT_EQ(decode.series[1].name, "Calpe, new losses");
  EXPECT_EQ(decode.series[1].points, (std::vector<ChartPoint>{{6, 40}}));
}

TEST(ReportCharts, predictions_are_hollow_and_have_their_formula) {
  Json run = run_with(good_row());
  run["sections"]["predictions"] = {
      {"predicted", true},
      {"formula", "MEM = memory * k / (k + m)"},
      {"gpus", Json::array({{{"gpu", "G"},
                             {"rows", Json::array({{{"data_shards", 10},
                                                    {"parity_shards", 4},
                                                    {"layout", "bytes"},
                                                    {"gb_per_s", 2000}}})}}})}};
  const Chart chart = predictions_chart(run);
  ASSERT_FALSE(chart.series.empty());
  EXPECT_TRUE(chart.series[0].is_hollow);
  EXPECT_EQ(chart.series[0].name, "G, predicted");
  const std::string svg = to_svg(chart);
  EXPECT_NE(svg.find("MEM = memory * k / (k + m)"), std::string::npos);
  EXPECT_NE(svg.find("fill=\"none\""), std::string::npos);
}

TEST(ReportPage, is_self_contained_and_escaped) {
  const Json run = run_with(good_row());
  const std::string page = report_page(run, report_charts(run));
  EXPECT_EQ(page.find("://"), std::string::npos) << "an address";
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("a &lt;CPU&gt; &amp; more"), std::string::npos);
  EXPECT_NE(page.find("<svg viewBox"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

std::string sentence_about_peers(const Json& run) {
  for (const std::string& each : summarize(run))
    if (each.find("other library") != std::string::npos) return each;
  return {};
}

TEST(ReportSummary, names_path_and_rates) {
  const std::vector<std::string> said = summarize(run_with(good_row()));
  ASSERT_GE(said.size(), 2U);
  EXPECT_EQ(said[0],
            "Use cpu:avx2. Rates are in GB/s of data on one core; 2x means twice the rate of that "
            "library.");
  EXPECT_EQ(said[1],
            "10+4, shards of 64 KiB: encodes at 40.0 (62 % of the memory limit, 2x ISA-L 2.30).");
}

// Any ratio below 1 counts, however small the difference.
TEST(ReportSummary, counts_comparisons_that_are_slower_and_names_the_worst) {
  EXPECT_EQ(sentence_about_peers(run_with(good_row())),
            "Another library is faster in 0 of 1 comparisons.");
  Json run = run_with(good_row());
  Json slower = good_row();
  slower["ratio_isal"] = 0.98;
  run["rows"].push_back(slower);
  slower["ratio_isal"] = 0.8;
  slower["operation"] = "decode";
  run["rows"].push_back(slower);
  EXPECT_EQ(sentence_about_peers(run),
            "Another library is faster in 2 of 3 comparisons; worst: decode 10+4 64 KiB at 0.800x "
            "ISA-L 2.30.");
}

// Published: 2.92, 2.25, 3.15, 2.01, 1.32, 1.06. The exact expectations of the same rule, from
// generating functions, are 2.9193, 2.2493, 3.1525, 2.0054, 1.3266 and 1.0586.
TEST(BankConflicts, simulation_matches_the_published_averages) {
  const double exact[] = {2.9193, 2.2493, 3.1525, 2.0054, 1.3266, 1.0586};
  const auto published = published_conflicts();
  ASSERT_EQ(published.size(), std::size(exact));
  for (std::size_t i = 0; i < std::size(exact); ++i) {
    const double simulated = simulate_conflicts(published[i].layout, 100'000, 7);
    EXPECT_NEAR(simulated, exact[i], 0.01) << published[i].meaning;
    EXPECT_NEAR(simulated, published[i].published, 0.015) << published[i].meaning;
  }
  BankLayout words;
  words.serves = BankServes::word;
  EXPECT_LT(simulate_conflicts(words, 20'000, 7), 2.6) << "a different rule gives different values";
  BankLayout threads;
  threads.serves = BankServes::thread;
  EXPECT_GT(simulate_conflicts(threads, 20'000, 7), 3.0);
}

}  // namespace
}  // namespace calpe::tools
