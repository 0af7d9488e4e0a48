// SPDX-License-Identifier: Apache-2.0
// One job over several devices: bytes, shares and unused devices. Speeds are injected as the
// minimum time of a run, so that a busy machine changes little.
#include "engine/devices/multi_device.hpp"

#include <array>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "engine/devices/device_choice.hpp"
#include "engine/devices/device_split.hpp"
#include "engine/devices/failover_device.hpp"
#include "engine/devices/scratch_job.hpp"
#include "support/device_job.hpp"
#include "support/log_lines.hpp"
#include "support/nightly.hpp"
#include "support/unruly_device.hpp"

namespace calpe::engine {
namespace {

using tests::Behaviour;
using tests::DeviceJob;
using tests::gapped;
using tests::gf_program;
using tests::LogLines;
using tests::plain;
using tests::UnrulyDevice;
using tests::xor_program;
using Way = MultiDevice::Way;

struct Several {
  explicit Several(std::size_t count, bool on_caller = false, double settle_seconds = 1000) {
    std::vector<std::unique_ptr<backend::Device>> devices;
    for (std::size_t i = 0; i < count; ++i) {
      behaviours.push_back(std::make_shared<Behaviour>());
      behaviours.back()->runs_on_caller = on_caller;
      devices.push_back(std::make_unique<UnrulyDevice>(
          *backend::open_device("cpu"), behaviours.back(), "device" + std::to_string(i)));
    }
    device = std::make_unique<MultiDevice>(std::move(devices), settle_seconds);
  }
  void slow(std::size_t which, double seconds_per_byte, double seconds_per_run = 0) {
    behaviours[which]->seconds_per_byte = seconds_per_byte;
    behaviours[which]->seconds_per_run = seconds_per_run;
  }
  std::vector<std::shared_ptr<Behaviour>> behaviours;
  std::unique_ptr<MultiDevice> device;
};

// Under an emulator or a sanitizer, the overhead hides the injected speeds.
#if defined(NDEBUG) && defined(__x86_64__)
constexpr bool times_count = true;
#else
constexpr bool times_count = false;
#endif
constexpr const char* why_not = "times are measured in the nightly run, in an optimised build";

// Measurements depend on the load of the machine, so one success in a few attempts is enough.
template <class Attempt>
bool eventually(const Attempt& attempt) {
  for (int i = 0; i < 10; ++i) {
    if (attempt()) return true;
  }
  return false;
}

// Returns the shorter of two runs.
double seconds_of(MultiDevice& device, const backend::Kernel& kernel, const backend::Batch& batch,
                  std::span<const double> shares) {
  double least = 1e9;
  for (int i = 0; i < 2; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(device.submit_shares(kernel, batch, shares).wait());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count());
  }
  return least;
}

TEST(MultiDevice, AnySharesGiveTheSameBytes) {
  const std::array<std::vector<double>, 4> all_shares = {
      std::vector<double>{0.2, 0.5, 0.3}, {0, 1, 0}, {0.001, 0.001, 0.998}, {0.5, 0, 0.5}};
  for (const bool on_caller : {false, true}) {
    for (const bool accumulate : {false, true}) {
      Several several(3, on_caller);
      const auto check = [&](DeviceJob& job) {
        const auto kernel = *several.device->compile(job.program);
        for (const std::vector<double>& shares : all_shares) {
          job.reset();
          EXPECT_TRUE(several.device->submit_shares(*kernel, job.batch, shares).wait());
          EXPECT_TRUE(job.is_right());
        }
      };
      for (const std::size_t stripes : {1U, 3U, 100U}) {
        DeviceJob bytes(gf_program(), stripes, plain(1001), accumulate);
        check(bytes);
        DeviceJob packets(xor_program(), stripes, gapped(7, 5), accumulate);
        check(packets);
      }
      DeviceJob groups(xor_program(), 1, gapped(9, 200), accumulate);
      check(groups);
      DeviceJob columns(gf_program(), 2, plain(300'001), accumulate);
      check(columns);
    }
  }
}

TEST(MultiDevice, CutsAlongTheLargestDimension) {
  const DeviceJob job(xor_program(), 1, gapped(16, 2));
  const std::array half = {0.5, 0.5};
  backend::Batch batch = job.batch;
  batch.stripe_count = 100;
  auto parts = cut_by_shares(batch, job.shape, half);
  EXPECT_EQ(parts[0].stripe_count, 50U);
  EXPECT_EQ(parts[1].inputs, batch.inputs + 50 * 5);
  EXPECT_EQ(parts[1].outputs, batch.outputs + 50 * 3);
  batch.stripe_count = 3;
  batch.geometry.group_count = 64;
  parts = cut_by_shares(batch, job.shape, half);
  EXPECT_EQ(parts[0].geometry.group_count, 32U);
  EXPECT_EQ(parts[1].geometry.offset, 5 + 32 * batch.geometry.group_stride);
  batch.geometry.group_count = 2;
  batch.geometry.unit_bytes = 1 << 20;
  parts = cut_by_shares(batch, job.shape, std::array{0.3, 0.7});
  EXPECT_EQ(parts[0].geometry.unit_bytes % 4096, 0U);
  EXPECT_NEAR(static_cast<double>(parts[0].geometry.unit_bytes), 0.3 * (1 << 20), 2048);
  EXPECT_EQ(parts[0].geometry.unit_bytes + parts[1].geometry.unit_bytes, std::size_t{1} << 20);
}

struct InjectedSpeeds {
  double first, second, second_run;  // seconds per byte, and per run
};

// How much longer the job takes with the chosen shares than with the best ones tried.
double chosen_over_best(const InjectedSpeeds& speeds) {
  DeviceJob job(gf_program(), 80, plain(6000));  // 4 MB of shards
  Several several(2);
  several.slow(0, speeds.first);
  several.slow(1, speeds.second, speeds.second_run);
  const auto kernel = *several.device->compile(job.program);
  EXPECT_TRUE(several.device->submit(*kernel, job.batch).wait());  // measures
  EXPECT_TRUE(job.is_right());
  const auto choice = *several.device->choice(*kernel, job.batch);
  constexpr double no_split = 1e9;
  if (choice.way != Way::by_bytes) return no_split;
  EXPECT_TRUE(several.device->refusals().empty());
  // In turns, so that load affects both.
  const auto as_chosen = [&] { return several.device->submit(*kernel, job.batch).wait(); };
  double chosen = no_split;
  double best = no_split;
  for (int percent = 0; percent <= 100; percent += 5) {
    const std::array shares = {percent / 100.0, 1 - percent / 100.0};
    best = std::min(best, seconds_of(*several.device, *kernel, job.batch, shares));
    if (percent % 25 == 0) chosen = std::min(chosen, *least_seconds(as_chosen));
  }
  std::cout << "chosen " << chosen * 1e3 << " ms, best of 21 shares " << best * 1e3 << " ms\n";
  return chosen < 0.9 * choice.seconds_alone ? chosen / best : no_split;
}

TEST(MultiDevice, SplitIsWithinFivePercentOfTheMeasuredBest) {
  if (!times_count || !tests::is_nightly()) GTEST_SKIP() << why_not;
  for (const InjectedSpeeds& speeds :
       {InjectedSpeeds{6e-9, 18e-9, 0}, InjectedSpeeds{12e-9, 6e-9, 0.006}}) {
    EXPECT_TRUE(eventually([&] { return chosen_over_best(speeds) <= 1.05; }));
  }
}

TEST(MultiDevice, DeviceSlowedTenTimesIsNotUsed) {
  if (!times_count || !tests::is_nightly()) GTEST_SKIP() << why_not;
  DeviceJob job(gf_program(), 64, plain(2100));
  EXPECT_TRUE(eventually([&] {
    const LogLines log;
    Several several(2);
    several.slow(0, 30e-9);
    several.slow(1, 300e-9);  // could gain a tenth at most
    const auto kernel = *several.device->compile(job.program);
    job.reset();
    EXPECT_TRUE(several.device->submit(*kernel, job.batch).wait());
    EXPECT_TRUE(job.is_right());
    const auto choice = *several.device->choice(*kernel, job.batch);
    if (choice.way != Way::alone) return false;
    EXPECT_EQ(choice.is_used, (std::vector<bool>{true, false}));
    const unsigned asked = several.behaviours[1]->submits;
    for (int i = 0; i < 3; ++i) {
      job.reset();
      EXPECT_TRUE(several.device->submit(*kernel, job.batch).wait());
      EXPECT_TRUE(job.is_right());
    }
    EXPECT_EQ(several.behaviours[1]->submits, asked);
    EXPECT_EQ(several.device->refusals().size(), 1U);
    EXPECT_NE(several.device->refusals().at(0).find("device1 is not used"), std::string::npos);
    EXPECT_EQ(log.lines(), several.device->refusals());
    return true;
  }));
}

TEST(MultiDevice, IsMeasuredOncePerKernelAndSize) {
  DeviceJob job(gf_program(), 64, plain(8192));
  DeviceJob short_job(gf_program(), 1, plain(100));
  Several several(2);
  several.slow(0, 2e-9);
  several.slow(1, 2e-9);
  const auto kernel = *several.device->compile(job.program);
  const auto runs = [&](DeviceJob& each) {
    const unsigned before = several.behaviours[0]->submits + several.behaviours[1]->submits;
    each.reset();
    EXPECT_TRUE(several.device->submit(*kernel, each.batch).wait());
    EXPECT_TRUE(each.is_right());
    return several.behaviours[0]->submits + several.behaviours[1]->submits - before;
  };
  EXPECT_GT(runs(job), 4U);
  EXPECT_LE(runs(job), 2U);
  EXPECT_GT(runs(short_job), 4U);
  EXPECT_LE(runs(short_job), 2U);
  EXPECT_LE(runs(job), 2U);
}

// Its table kernel was slow; now it has a better one.
TEST(MultiDevice, DeviceThatSettlesGetsASecondChance) {
  if (!times_count || !tests::is_nightly()) GTEST_SKIP() << why_not;
  DeviceJob job(gf_program(), 64, plain(2100));
  EXPECT_TRUE(eventually([&] {
    Several several(2, false, 0.001);
    several.slow(0, 20e-9);
    several.slow(1, 400e-9);
    const auto kernel = *several.device->compile(job.program);
    const auto at_first = *several.device->choice(*kernel, job.batch);
    if (at_first.way != Way::alone) return false;
    several.slow(1, 20e-9);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto later = *several.device->choice(*kernel, job.batch);
    several.slow(1, 400e-9);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto at_last = *several.device->choice(*kernel, job.batch);
    EXPECT_EQ(later.way, at_last.way);  // not measured a third time
    EXPECT_EQ(several.device->refusals().empty(), later.way == Way::by_bytes);
    return later.way == Way::by_bytes;
  }));
}

gf::FieldRef usual_field() {
  return *gf::Field::create(8, 0x11D);
}

// Many outputs of one input, so that few of the moved bytes, for which time is injected, are
// inputs.
gf::Matrix tall_matrix() {
  gf::Matrix rows(24, 1);
  for (std::size_t r = 0; r < 24; ++r)
    rows(r, 0) = static_cast<gf::Element>(r + 2);
  return rows;
}

// Returns true if the job is divided by equation. The bytes are checked in any case.
bool is_dealt(Several& several, const backend::Kernel& kernel, DeviceJob& job) {
  for (int i = 0; i < 2; ++i) {  // once to measure, once as chosen
    job.reset();
    EXPECT_TRUE(several.device->submit(kernel, job.batch).wait());
    EXPECT_TRUE(job.is_right());
  }
  const auto choice = *several.device->choice(kernel, job.batch);
  if (choice.way != Way::by_equation) return false;
  EXPECT_LT(choice.seconds_by_equation, choice.seconds_alone);
  const unsigned before = several.behaviours[0]->submits;
  EXPECT_TRUE(several.device->submit(kernel, job.batch).wait());
  EXPECT_EQ(several.behaviours[0]->submits, before + 1);
  return true;
}

TEST(MultiDevice, EquationsAreDealtWhereThatIsFaster) {
  if (!times_count || !tests::is_nightly()) GTEST_SKIP() << why_not;
  const gf::FieldRef field = usual_field();
  const gf::Matrix rows = tall_matrix();
  DeviceJob job(ir::build(field, rows), 1, plain(1));  // one column of one stripe cannot be cut
  for (const bool as_matrix : {true, false}) {
    EXPECT_TRUE(eventually([&] {
      Several several(2);
      several.slow(0, 1e-3);
      several.slow(1, 1e-3);
      const auto kernel = as_matrix ? *several.device->compile_matrix(field, rows)
                                    : *several.device->compile(job.program);
      return is_dealt(several, *kernel, job);
    }));
  }
}

// Two stripes of one column on three devices: by equation each moves 9 of 25 shards, by bytes two
// of them take a whole stripe.
TEST(MultiDevice, DealtEquationsOfSeveralStripesAreRight) {
  if (!times_count || !tests::is_nightly()) GTEST_SKIP() << why_not;
  const ir::Program program = ir::lower_to_xor(ir::build(usual_field(), tall_matrix()));
  for (const bool accumulate : {false, true}) {
    DeviceJob job(program, 2, gapped(1, 1), accumulate);
    EXPECT_TRUE(eventually([&] {
      Several several(3);
      for (std::size_t i = 0; i < 3; ++i)
        several.slow(i, 5e-5);
      const auto kernel = *several.device->compile(job.program);
      return is_dealt(several, *kernel, job);
    }));
  }
}

TEST(MultiDevice, ProfileIsTheSumOfAllDevices) {
  Several several(3);
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned digit = i == 0 ? 1 : i == 1 ? 10 : 100;  // each sum shows its addends
    several.behaviours[i]->profile = {.builds = 1 * digit,
                                      .launches = 2 * digit,
                                      .copy_in_bytes = 3 * digit,
                                      .copy_out_bytes = 4 * digit,
                                      .build_seconds = 5.0 * digit,
                                      .copy_in_seconds = 6.0 * digit,
                                      .kernel_seconds = 7.0 * digit,
                                      .copy_out_seconds = 8.0 * digit};
  }
  const backend::Profile sum = several.device->profile();
  EXPECT_EQ(sum.builds, 111U);
  EXPECT_EQ(sum.launches, 222U);
  EXPECT_EQ(sum.copy_in_bytes, 333U);
  EXPECT_EQ(sum.copy_out_bytes, 444U);
  EXPECT_EQ(sum.build_seconds, 555.0);
  EXPECT_EQ(sum.copy_in_seconds, 666.0);
  EXPECT_EQ(sum.kernel_seconds, 777.0);
  EXPECT_EQ(sum.copy_out_seconds, 888.0);
}

TEST(MultiDevice, ErrorOfAnyPartIsReturned) {
  DeviceJob job(gf_program(), 64, plain(8192));
  for (const bool on_caller : {false, true}) {
    for (std::size_t which = 0; which < 2; ++which) {
      Several several(2, on_caller);
      const auto kernel = *several.device->compile(job.program);
      several.behaviours[which]->fail_wait_at = 0;
      const Status done =
          several.device->submit_shares(*kernel, job.batch, std::array{0.5, 0.5}).wait();
      ASSERT_FALSE(done);
      EXPECT_NE(done.error().message.find("injected at wait 0"), std::string::npos);
    }
  }
}

// --- opened by name ----------------------------------------------------------------------------

std::shared_ptr<Behaviour> opened_behaviour;

Result<std::unique_ptr<backend::Device>> open_with_unruly(std::string_view name,
                                                          ir::Dialect dialect) {
  if (name != "unruly") return backend::open_device(name, dialect);
  return std::unique_ptr<backend::Device>(
      std::make_unique<UnrulyDevice>(*backend::open_device("cpu"), opened_behaviour));
}

TEST(DeviceChoice, OneNameIsOneDevice) {
  opened_behaviour = std::make_shared<Behaviour>();
  const auto trusted = *choose_device("reference", ir::Dialect::gf, open_with_unruly);
  EXPECT_EQ(trusted->name(), "reference");
  const auto watched = *choose_device("unruly", ir::Dialect::gf, open_with_unruly);
  EXPECT_EQ(watched->name(), "unruly");
  EXPECT_NE(dynamic_cast<FailoverDevice*>(watched.get()), nullptr);
  EXPECT_TRUE(watched->is_trusted());
}

TEST(DeviceChoice, SeveralNamesShareAndAreChecked) {
  const LogLines log;
  opened_behaviour = std::make_shared<Behaviour>();
  const auto device = *choose_device("unruly+cpu+unruly", ir::Dialect::gf, open_with_unruly);
  EXPECT_TRUE(device->name().starts_with("unruly+cpu:"));
  EXPECT_TRUE(device->name().ends_with("+unruly"));
  EXPECT_FALSE(device->runs_on_caller());
  // One device fails while measuring or working, without effect on the result.
  for (const unsigned at : {0U, 3U, 7U, 12U, 15U, 20U, 30U}) {
    opened_behaviour = std::make_shared<Behaviour>();
    opened_behaviour->fail_wait_at = at;
    const auto each = *choose_device("unruly+cpu+unruly", ir::Dialect::gf, open_with_unruly);
    DeviceJob job(gf_program(), 70, plain(3000), true);
    const auto kernel = *each->compile(job.program);
    for (int i = 0; i < 8; ++i) {
      job.reset();
      EXPECT_TRUE(each->run(*kernel, job.batch));
      EXPECT_TRUE(job.is_right()) << at;
    }
  }
}

TEST(DeviceChoice, EveryNameMustOpen) {
  for (const char* name : {"cpu+", "+cpu", "+", "cpu++cpu", "cpu+nonsense", ""}) {
    const auto device = choose_device(name, ir::Dialect::gf);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().code, ErrorCode::invalid_argument);
  }
  for (const std::string name : {"cpu+", "+cpu", "+", "+++", "cpu++cpu"}) {
    EXPECT_EQ(choose_device(name, ir::Dialect::gf).error().message,
              "backend is \"" + name + "\"; expected a name before and after each +");
  }
}

}  // namespace
}  // namespace calpe::engine
