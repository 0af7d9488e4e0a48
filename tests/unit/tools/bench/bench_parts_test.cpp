// SPDX-License-Identifier: Apache-2.0
// Parts of the benchmark harness that need no clock.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "bench/harness/energy.hpp"
#include "bench/harness/latency.hpp"
#include "bench/harness/patterns.hpp"
#include "bench/harness/report_json.hpp"
#include "bench/harness/roof.hpp"
#include "bench/harness/sections.hpp"

namespace calpe::bench {
namespace {

TEST(Latency, percentiles_of_known_calls) {
  std::vector<double> seconds;
  for (int i = 10'000; i >= 0; --i)
    seconds.push_back(i * 1e-6);
  const Latency latency = summarize_latency(seconds);
  EXPECT_EQ(latency.calls, 10'001U);
  EXPECT_DOUBLE_EQ(latency.best, 0);
  EXPECT_NEAR(latency.p50, 5000e-6, 1e-9);
  EXPECT_NEAR(latency.p99, 9900e-6, 1e-9);
  EXPECT_NEAR(latency.p999, 9990e-6, 1e-9);
  EXPECT_DOUBLE_EQ(latency.worst, 1e-2);
  EXPECT_DOUBLE_EQ(latency.cdf.back().second, 1);
}

TEST(Latency, no_per_mille_percentile_of_few_calls) {
  EXPECT_EQ(summarize_latency(std::vector<double>(1999, 1.0)).p999, 0);
  EXPECT_EQ(summarize_latency(std::vector<double>(2000, 1.0)).p999, 1);
}

class FakePowercap : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder);
    folder_.emplace(*std::move(folder));
  }
  void write(const std::string& counter, const std::string& file, const std::string& content) {
    const auto place = std::filesystem::path(folder_->path()) / counter;
    std::filesystem::create_directories(place);
    std::ofstream(place / file) << content;
  }
  std::optional<TemporaryFolder> folder_;
};

TEST_F(FakePowercap, only_packages_are_added) {
  for (const char* package : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"}) {
    write(package, "energy_uj", "1000000");
    write(package, "max_energy_range_uj", "9000000");
  }
  auto counters = EnergyCounters::open(folder_->path());
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->count(), 2U);
  write("intel-rapl:0", "energy_uj", "3500000");
  write("intel-rapl:0:0", "energy_uj", "8000000");
  auto joules = counters->joules();
  ASSERT_TRUE(joules);
  EXPECT_DOUBLE_EQ(*joules, 2.5);
  write("intel-rapl:0", "energy_uj", "500000");  // wrapped at 9 J
  joules = counters->joules();
  ASSERT_TRUE(joules);
  EXPECT_DOUBLE_EQ(*joules, 6.0);
}

TEST_F(FakePowercap, without_counters_there_is_a_reason) {
  const auto counters = EnergyCounters::open(folder_->path());
  ASSERT_FALSE(counters);
  EXPECT_NE(counters.error().message.find(folder_->path()), std::string::npos);
  EXPECT_FALSE(EnergyCounters::open(folder_->path() + "/nowhere"));
}

TEST(RunText, rows_have_a_line_each_and_nothing_is_lost) {
  Json json = {{"a", 1},
               {"rows", Json::array({{{"operation", "encode"}, {"x", {1, 2}}},
                                     {{"operation", "decode"}, {"m", {{"k", 2}}}}})}};
  const std::string text = json_text(json);
  EXPECT_EQ(Json::parse(text), json);
  EXPECT_EQ(text,
            "{\n  \"a\": 1,\n  \"rows\": [\n    {\"operation\":\"encode\",\"x\":[1,2]},\n"
            "    {\"operation\":\"decode\",\"m\":{\"k\":2}}\n  ]\n}\n");
}

TEST(StripeBuffers, contiguous_shards_have_no_gaps) {
  const auto stripes =
      StripeBuffers::create({3, 2}, 1000, {.layout = ShardLayout::contiguous, .stripe_count = 2});
  ASSERT_TRUE(stripes);
  const StripeView first = stripes->view(0);
  for (std::size_t i = 1; i < first.shards.size(); ++i)
    EXPECT_EQ(first.shards[i] - first.shards[i - 1], 1000);
  EXPECT_EQ(first.rebuilt[0] - first.shards[4], 1000);
  EXPECT_EQ(stripes->view(1).shards[0] - first.shards[0], 7000);
}

TEST(Patterns, few_of_wide_codes_and_many_of_others) {
  EXPECT_EQ(draw_patterns({223, 32}, 32)->size(), 1024U);
  const auto wide = draw_patterns({32768, 32768}, 32768);
  EXPECT_EQ(wide->size(), 1U) << "all data shards are one pattern";
  EXPECT_EQ(draw_patterns({10000, 2000}, 2000)->size(), 104U);
}

TEST(Roof, has_outputs_without_limit) {
  const auto stripes =
      StripeBuffers::create({100, 300}, 32768, {.layout = ShardLayout::contiguous});
  ASSERT_TRUE(stripes);
  const StripeView stripe = stripes->view();
  const std::vector<const std::byte*> sources(stripe.data().begin(), stripe.data().end());
  std::byte sum{};
  for (const std::byte* source : sources)
    sum ^= source[32767];
  for (const RoofStores stores : {RoofStores::plain, RoofStores::non_temporal}) {
    roof_kernel(stores, sources.size(), 32768)(sources, stripe.parity(), 32768);
    EXPECT_EQ(stripe.parity().back()[32767], sum);
    stripe.parity().back()[32767] = {};
  }
}

TEST(Sections, a_quick_run_fits_its_time) {
  double seconds = quick_grid().seconds;
  for (const Section& section : grid_sections(Extent::quick, 2)) {
    for (const SectionGrid& grid : section.grids)
      seconds += grid.options.seconds;
  }
  for (const LatencyCell& cell : latency_cells(Extent::quick))
    seconds += cell.seconds;
  EXPECT_LT(seconds, 72) << "the rest of the 90 s is for checks, compilers and devices";
}

}  // namespace
}  // namespace calpe::bench
