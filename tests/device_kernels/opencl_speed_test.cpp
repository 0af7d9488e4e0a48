// SPDX-License-Identifier: Apache-2.0
// Device kernels on PoCL, on one thread, against C of the system's compiler in the same rounds. 64
// KiB per shard, packets of 512 bytes.
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <iomanip>
#include <iostream>
#include <memory>

#include "backend/gpu/device_programs.hpp"
#include "device_kernels/contest.hpp"
#include "device_kernels/native_text.hpp"
#include "emit/emit.hpp"
#include "emit/shards_work.hpp"
#include "ir/cost.hpp"
#include "support/emitted_cases.hpp"
#include "support/opencl_stripes.hpp"

namespace calpe::tests {
namespace {

constexpr std::size_t packet_bytes = 512;
constexpr std::size_t shard_bytes = 64 * 1024;

class OpenClSpeed : public testing::Test {
 protected:
  void SetUp() override {
#ifndef NDEBUG
    GTEST_SKIP() << "not an optimised build";
#endif
    setenv("POCL_DEVICES", "basic", 1);  // works on the calling thread
    runner_ = std::make_unique<OpenClRunner>();
    if (!runner_->missing().empty()) GTEST_SKIP() << runner_->missing();
    if (runner_->device_name().find("basic") == std::string::npos) {
      GTEST_SKIP() << runner_->device_name() << " is not PoCL's device of one thread";
    }
  }

  static emit::DeviceForm form_of(std::size_t unit_stride) {
    return {.word_bytes = 64, .unit_stride = unit_stride, .group_items = 4};
  }

  static DeviceSizes packet_sizes(const emit::DeviceShape& shape) {
    return {.shape = shape,
            .column_bytes = packet_bytes,
            .unit_stride = packet_bytes,
            .group_count = shard_bytes / packet_bytes / shape.unit_count,
            .alignment = 64};
  }
  static double data_bytes(const DeviceSizes& sizes) {
    return static_cast<double>(sizes.shape.input_shards * sizes.shape.unit_count *
                               sizes.column_bytes * sizes.group_count);
  }

  // A kernel on the device, over stripes with the same lifetime.
  struct OnDevice {
    std::unique_ptr<OpenClRunner> runner = std::make_unique<OpenClRunner>();
    emit::DeviceText text;
    emit::DeviceForm form;
    std::unique_ptr<OpenClStripes> stripes;
  };
  Contestant device_contestant(const std::string& name, const emit::DeviceText& text,
                               const emit::DeviceForm& form, DeviceStripes& stripes) {
    OnDevice& device = devices_.emplace_back();
    device.text = text;
    device.form = form;
    EXPECT_TRUE(device.runner->build(text.text));
    device.stripes =
        std::make_unique<OpenClStripes>(*device.runner, stripes, Addressing::addresses);
    const std::size_t bytes = stripes.sizes().column_bytes;
    return {name, [&device, bytes] {
              EXPECT_TRUE(device.stripes->run(device.text, device.form, 0, bytes));
              device.runner->finish();
            }};
  }

  // Other load may cause a miss, so use the best of a few contests.
  double best_ratio(std::vector<Contestant>& pair, double bytes, double bar) {
    double best = 0;
    for (int attempt = 0; attempt < 5 && best < bar; ++attempt) {
      hold_contest(pair, 48, 4);
      best = std::max(best, pair[0].median() / pair[1].median());
      std::cout << std::fixed << std::setprecision(1) << pair[0].name << " "
                << bytes / pair[0].median() / 1e9 << " GB/s, " << pair[1].name << " "
                << bytes / pair[1].median() / 1e9 << " GB/s, ratio " << std::setprecision(2)
                << pair[0].median() / pair[1].median() << '\n';
    }
    return best;
  }

  conformance::Random random_ = conformance::Random::of_test("speed");
  std::unique_ptr<OpenClRunner> runner_;
  std::deque<OnDevice> devices_;
  Workshop workshop_;
};

TEST_F(OpenClSpeed, packets_10_4_reach_0_80_of_native) {
  const code::Code code = cauchy_code({10, 4, 8});
  const ir::Program direct =
      ir::lower_to_xor(ir::build(code.field, plan::encode_recipe(code).coefficients));
  const emit::DeviceShape shape = {10, 4, 8};
  const emit::DeviceForm form = form_of(packet_bytes);
  const auto groups =
      backend::gpu::unit_groups(direct, backend::gpu::limits_for(form, direct.inputs(), false));
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 1U);
  DeviceStripes stripes(random_, packet_sizes(shape));
  stripes.expect_units(direct);

  const auto source = emit::emit((*groups)[0].program, emit::Target::c,
                                 {.name = "native", .form = emit::Form::shards});
  ASSERT_TRUE(source);
  ASSERT_TRUE(compile_native(workshop_, "units", *source));
  const Loaded loaded(workshop_.path("units.so"));
  auto* native = loaded.find<void(const emit::ShardsWork*)>("native");
  std::vector<const unsigned char*> n;
  std::vector<unsigned char*> r;
  for (std::size_t i = 0; i < 14; ++i) {
    const std::size_t at = stripes.table()[i] + stripes.first();
    if (i < 10) n.push_back(stripes.n().data() + at);
    if (i >= 10) r.push_back(stripes.r().data() + at);
  }
  const emit::ShardsWork work = {.n = n.data(),
                                 .r = r.data(),
                                 .unit_bytes = packet_bytes,
                                 .unit_stride = packet_bytes,
                                 .group_stride = stripes.sizes().group_stride(),
                                 .group_count = stripes.sizes().group_count};
  std::vector<Contestant> pair = {
      {"native", [&] { native(&work); }},
      device_contestant("PoCL", *emit::emit_units(shape, *groups, form), form, stripes)};
  std::cout << "packet XOR 10+4: " << ir::cost((*groups)[0].program).xors << " XORs, "
            << ir::cost((*groups)[0].program).xors3 << " of three inputs\n";
  EXPECT_GE(best_ratio(pair, data_bytes(stripes.sizes()), 0.8), 0.8);
  EXPECT_TRUE(stripes.check());
}

TEST_F(OpenClSpeed, planes_10_4_reach_0_90_of_native) {
  const code::Code code = cauchy_code({10, 4, 8});
  const gf::Matrix rows = plan::encode_recipe(code).coefficients;
  const emit::DeviceShape shape = {10, 4, 1};
  const emit::DeviceForm form = form_of(0);
  const auto groups =
      backend::gpu::plane_groups(code.field, rows, backend::gpu::limits_for(form, 10, true));
  ASSERT_TRUE(groups);
  DeviceStripes stripes(
      random_,
      {.shape = shape, .column_bytes = shard_bytes, .unit_stride = shard_bytes, .alignment = 64});
  stripes.expect_product(*code.field, rows);
  const auto text = emit::emit_planes(shape, *groups, form);
  ASSERT_TRUE(text);
  ASSERT_TRUE(compile_native(workshop_, "planes", as_c(*text)));
  const Loaded loaded(workshop_.path("planes.so"));
  auto* native = loaded.find<NativeRun>("run");
  std::vector<Contestant> pair = {{"native",
                                   [&] {
                                     native(stripes.n().data(), stripes.r().data(),
                                            stripes.table().data(), stripes.first(), shard_bytes,
                                            shard_bytes, shard_bytes, 1, 1);
                                   }},
                                  device_contestant("PoCL", *text, form, stripes)};
  std::cout << "plane-Horner 10+4:\n";
  EXPECT_GE(best_ratio(pair, data_bytes(stripes.sizes()), 0.9), 0.9);
  EXPECT_TRUE(stripes.check());
}

// Sobe's 20+10, with every output by itself and with shared sums. w = 5 is the smallest w for 30
// shards. Same compiler, same options. Sums are shared within the row groups of this device;
// sharing over all rows needs fewer XORs, but a compiler would spill hundreds of them.
TEST_F(OpenClSpeed, shared_sums_of_20_10_gain_as_predicted) {
  const code::Code code = cauchy_code({20, 10, 5});
  const ir::Program direct =
      ir::lower_to_xor(ir::build(code.field, plan::encode_recipe(code).coefficients));
  const emit::DeviceShape shape = {20, 10, 5};
  const emit::DeviceForm form = form_of(packet_bytes);
  const auto groups =
      backend::gpu::unit_groups(direct, backend::gpu::limits_for(form, direct.inputs(), false));
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 1U);
  const ir::Program& iterative = (*groups)[0].program;
  const ir::Program shared_by_all = opt::greedy_sharing(direct, ir::bit_map(direct), {});
  DeviceStripes stripes(random_, packet_sizes(shape));
  stripes.expect_units(direct);
  const auto contestant = [&](const std::string& name, const ir::Program& program) {
    const std::vector<emit::RowGroup> one = {{program, 0}};
    return device_contestant(name, *emit::emit_units(shape, one, form), form, stripes);
  };
  std::vector<Contestant> all = {contestant("direct", direct), contestant("iterative", iterative),
                                 contestant("shared by all rows", shared_by_all)};
  const auto xors = [](const ir::Program& program) {
    return static_cast<double>(ir::cost(program).xors);
  };
  const double counts = xors(direct) / xors(iterative);
  const double bytes = data_bytes(stripes.sizes());
  EXPECT_GE(best_ratio(all, bytes, 0.8 * counts), 0.8 * counts);
  std::cout << "20+10, w = 5: direct " << ir::cost(direct).xors << " XORs, iterative "
            << ir::cost(iterative).xors << ", ratio " << counts << "; shared by all rows "
            << ir::cost(shared_by_all).xors << " XORs, " << bytes / all[2].median() / 1e9
            << " GB/s\n";
  EXPECT_TRUE(stripes.check());
}

TEST_F(OpenClSpeed, a_launch_takes_microseconds) {
  DeviceStripes stripes(
      random_, {.shape = {1, 1, 1}, .column_bytes = 64, .unit_stride = 64, .alignment = 64});
  ir::Program copy(conformance::field_of(2),
                   {.dialect = ir::Dialect::xor_, .inputs = 1, .outputs = 1, .unit_count = 1});
  copy.append(1, std::vector<ir::Term>{{.value = 0}});
  const std::vector<emit::RowGroup> groups = {{copy, 0}};
  std::vector<Contestant> one = {device_contestant(
      "launch", *emit::emit_units({1, 1, 1}, groups, form_of(0)), form_of(0), stripes)};
  hold_contest(one, 31, 100);
  std::cout << "a launch and its end: " << one[0].median() * 1e6 << " us\n";
  EXPECT_LT(one[0].median(), 1e-3);
}

}  // namespace
}  // namespace calpe::tests
