// SPDX-License-Identifier: Apache-2.0
// Whatever a device does, the outputs are right. A faulty device is disabled with one log line.
#include "engine/devices/failover_device.hpp"

#include <array>
#include <gtest/gtest.h>
#include <thread>

#include "support/device_job.hpp"
#include "support/log_lines.hpp"
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

struct Guarded {
  explicit Guarded(const FailoverLimits& limits = {})
      : device(std::make_unique<UnrulyDevice>(*backend::open_device("cpu"), behaviour),
               *backend::open_device("cpu"), limits) {}
  std::shared_ptr<Behaviour> behaviour = std::make_shared<Behaviour>();
  FailoverDevice device;
};

// Jobs of both dialects, overwriting and adding, with one stripe and several.
template <class Visit>
void for_each_job(const Visit& visit) {
  for (const bool accumulate : {false, true}) {
    for (const std::size_t stripes : {1U, 5U}) {
      DeviceJob bytes(gf_program(), stripes, plain(3001), accumulate);
      visit(bytes);
      DeviceJob packets(xor_program(), stripes, gapped(37, 4), accumulate);
      visit(packets);
    }
  }
}

TEST(Failover, GoodDeviceDoesTheWork) {
  for_each_job([](DeviceJob& job) {
    const LogLines log;
    Guarded guarded;
    const auto kernel = *guarded.device.compile(job.program);
    EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
    EXPECT_TRUE(job.is_right());
    EXPECT_EQ(guarded.behaviour->submits, 1U);
    EXPECT_EQ(guarded.device.name(), "unruly");
    EXPECT_FALSE(guarded.device.runs_on_caller());
    EXPECT_TRUE(guarded.device.is_trusted());
    EXPECT_EQ(log.count(), 0U);
  });
}

TEST(Failover, RecoversFromEveryErrorAtEveryCall) {
  constexpr std::array codes = {
      ErrorCode::invalid_argument, ErrorCode::unrecoverable, ErrorCode::backend_unavailable,
      ErrorCode::compile_failed,   ErrorCode::device_failed, ErrorCode::io,
      ErrorCode::corrupt,          ErrorCode::out_of_memory, ErrorCode::unproven,
      ErrorCode::ambiguous};
  constexpr unsigned runs = 3;
  for_each_job([&](DeviceJob& job) {
    for (const ErrorCode code : codes) {
      for (const bool at_wait : {false, true}) {
        for (unsigned at = 0; at < runs; ++at) {
          const LogLines log;
          Guarded guarded;
          guarded.behaviour->error = code;
          (at_wait ? guarded.behaviour->fail_wait_at : guarded.behaviour->fail_submit_at) = at;
          const auto kernel = *guarded.device.compile(job.program);
          for (unsigned run = 0; run < runs; ++run) {
            job.reset();
            EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
            ASSERT_TRUE(job.is_right()) << "error " << int(code) << " at " << at;
          }
          EXPECT_EQ(guarded.behaviour->submits, at + 1);  // the device is not used again
          EXPECT_TRUE(guarded.device.is_left());
          EXPECT_TRUE(guarded.device.runs_on_caller());
          ASSERT_EQ(log.count(), 1U);
          EXPECT_NE(log.lines()[0].find("unruly failed and is disabled"), std::string::npos);
          EXPECT_NE(log.lines()[0].find("injected at"), std::string::npos);
          EXPECT_NE(guarded.device.name().find("(unruly failed)"), std::string_view::npos);
        }
      }
    }
  });
}

TEST(Failover, KernelThatDoesNotCompileRunsOnTheCpu) {
  DeviceJob job(gf_program(), 2, plain(500));
  const LogLines log;
  Guarded guarded;
  guarded.behaviour->fail_compile_at = 0;
  guarded.behaviour->error = ErrorCode::compile_failed;
  const auto refused = *guarded.device.compile(job.program);
  ASSERT_EQ(log.count(), 1U);
  EXPECT_NE(log.lines()[0].find("cannot compile"), std::string::npos);
  EXPECT_TRUE(guarded.device.run(*refused, job.batch));
  EXPECT_TRUE(job.is_right());
  EXPECT_EQ(guarded.behaviour->submits, 0U);
  // The next kernel is not affected.
  const auto taken = *guarded.device.compile(job.program);
  job.reset();
  EXPECT_TRUE(guarded.device.run(*taken, job.batch));
  EXPECT_TRUE(job.is_right());
  EXPECT_EQ(guarded.behaviour->submits, 1U);
  EXPECT_EQ(log.count(), 1U);
}

TEST(Failover, DeviceThatFailsWhileCompilingIsDisabled) {
  DeviceJob job(gf_program(), 1, plain(500));
  const LogLines log;
  Guarded guarded;
  guarded.behaviour->fail_compile_at = 1;
  const auto first = *guarded.device.compile(job.program);
  const auto second = *guarded.device.compile(job.program);
  const auto third = *guarded.device.compile(job.program);
  EXPECT_EQ(guarded.behaviour->compiles, 2U);
  for (const auto& kernel : {first, second, third}) {
    job.reset();
    EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
    EXPECT_TRUE(job.is_right());
  }
  EXPECT_EQ(guarded.behaviour->submits, 0U);
  EXPECT_EQ(log.count(), 1U);
}

TEST(Failover, MatricesAndInvalidProgramsAreCompiledOnBoth) {
  const DeviceJob job(gf_program(), 1, plain(500));
  gf::Matrix rows(3, 5);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 5; ++c)
      rows(r, c) = static_cast<gf::Element>(16 * r + c + 2);
  }
  Guarded guarded;
  const auto kernel = *guarded.device.compile_matrix(job.program.field_ref(), rows);
  EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
  EXPECT_TRUE(job.is_right());
  const ir::Program unsound(job.program.field_ref(), {.inputs = 1, .outputs = 1});
  EXPECT_EQ(guarded.device.compile(unsound).error().code, ErrorCode::compile_failed);
  EXPECT_FALSE(guarded.device.is_left());
}

TEST(Failover, DetectsWrongBytesAtFirstUse) {
  for_each_job([](DeviceJob& job) {
    const LogLines log;
    Guarded guarded;
    const auto first = *guarded.device.compile(job.program);
    const auto second = *guarded.device.compile(job.program);
    EXPECT_TRUE(guarded.device.run(*first, job.batch));
    guarded.behaviour->wrong_from = 1;
    job.reset();
    EXPECT_TRUE(guarded.device.run(*second, job.batch));
    EXPECT_TRUE(job.is_right());
    EXPECT_TRUE(guarded.device.is_left());
    ASSERT_EQ(log.count(), 1U);
    EXPECT_NE(log.lines()[0].find("wrong bytes: output 2 of stripe 0"), std::string::npos);
  });
}

TEST(Failover, TheLastByteOfALongShardIsPartOfTheFirstCheck) {
  DeviceJob job(gf_program(), 1, plain(300'001));
  Guarded guarded;
  guarded.behaviour->wrong_from = 0;
  const auto kernel = *guarded.device.compile(job.program);
  EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
  EXPECT_TRUE(job.is_right());
  EXPECT_TRUE(guarded.device.is_left());
}

// The CPU, with the lengths of what it ran.
class WatchedCpu final : public backend::Device {
 public:
  explicit WatchedCpu(std::vector<std::size_t>& lengths) : lengths_(lengths) {}
  std::string_view name() const override { return cpu_->name(); }
  const ir::CostModel& cost_model() const override { return cpu_->cost_model(); }
  const backend::cpu::CpuKernels* cpu_kernels() const override { return cpu_->cpu_kernels(); }
  Result<backend::KernelRef> compile(const ir::Program& program) override {
    return cpu_->compile(program);
  }
  Result<backend::KernelRef> compile_matrix(const gf::FieldRef& field,
                                            const gf::Matrix& rows) override {
    return cpu_->compile_matrix(field, rows);
  }
  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override {
    lengths_.push_back(batch.geometry.unit_bytes);
    return cpu_->submit(kernel, batch);
  }

 private:
  std::unique_ptr<backend::Device> cpu_ = *backend::open_device("cpu");
  std::vector<std::size_t>& lengths_;
};

// From 128 KiB of outputs on, tags are compared first, and bytes only if these differ.
TEST(Failover, TagsReplaceTheBytesOfManyOutputs) {
  for (const bool accumulate : {false, true}) {
    for (const bool has_memory : {false, true}) {
      for (const std::size_t rows : {43U, 44U}) {
        gf::Matrix matrix(rows, 5);
        for (std::size_t i = 0; i < rows * 5; ++i)
          matrix(i / 5, i % 5) = static_cast<gf::Element>(i + 2);
        const gf::FieldRef field = *gf::Field::create(8, 0x11D);
        DeviceJob job(ir::build(field, matrix), 2, plain(3000), accumulate);
        const LogLines log;
        std::vector<std::size_t> lengths;
        const auto behaviour = std::make_shared<Behaviour>();
        behaviour->has_memory = has_memory;
        FailoverDevice device(
            std::make_unique<UnrulyDevice>(*backend::open_device("cpu"), behaviour),
            std::make_unique<WatchedCpu>(lengths));
        const auto kernel = *device.compile_matrix(field, matrix);
        EXPECT_TRUE(device.run(*kernel, job.batch));
        EXPECT_TRUE(job.is_right());
        EXPECT_EQ(device.checks(), 2U);
        const std::size_t checked = rows == 43 ? 3000 : 8;
        EXPECT_EQ(lengths, (std::vector<std::size_t>{checked, checked}));

        const auto second = *device.compile_matrix(field, matrix);
        behaviour->wrong_from = 1;
        job.reset();
        EXPECT_TRUE(device.run(*second, job.batch));
        EXPECT_TRUE(job.is_right());
        EXPECT_TRUE(device.is_left());
        ASSERT_EQ(log.count(), 1U);
        const std::string wrong = "wrong bytes: output " + std::to_string(rows - 1) +
                                  " of stripe 0 differs from the CPU's at byte 2999";
        EXPECT_NE(log.lines()[0].find(wrong), std::string::npos) << log.lines()[0];
      }
    }
  }
}

// Wrong from the second run on: found by sampling, which takes one stripe in N over all runs.
TEST(Failover, OneStripeInNIsChecked) {
  for (const std::size_t stripes : {1U, 3U, 64U}) {
    DeviceJob job(gf_program(), stripes, plain(100));
    const LogLines log;
    Guarded guarded({.stripes_per_check = 32});
    guarded.behaviour->wrong_from = 1;
    const auto kernel = *guarded.device.compile(job.program);
    std::size_t until_found = 0;
    while (!guarded.device.is_left() && until_found < 100) {
      job.reset();
      EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
      ++until_found;
    }
    EXPECT_TRUE(job.is_right());
    // Stripe 32 is the next one checked; each run has `stripes` stripes.
    EXPECT_EQ(until_found, std::max<std::size_t>(32 / stripes + 1, 2)) << stripes;
    EXPECT_EQ(log.count(), 1U);
  }
}

TEST(Failover, ChecksAreCounted) {
  DeviceJob job(gf_program(), 10, plain(100));
  Guarded guarded({.stripes_per_check = 4096});
  const auto kernel = *guarded.device.compile(job.program);
  for (unsigned run = 0; run < 1000; ++run)
    EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
  // First use: start and end. Then stripes 4096 and 8192 of 10,000.
  EXPECT_EQ(guarded.device.checks(), 2U + 2U);
  EXPECT_EQ(guarded.behaviour->submits, 1000U);
}

TEST(Failover, AccumulatedOutputsAreSavedInBoundedPieces) {
  for (const std::size_t saved : {200U, 1000U, 5000U}) {
    for (unsigned at = 0; at < 5; ++at) {
      DeviceJob job(xor_program(), 3, gapped(20, 4), true);
      const LogLines log;
      Guarded guarded({.saved_bytes_max = saved});
      guarded.behaviour->fail_wait_at = at;
      const auto kernel = *guarded.device.compile(job.program);
      EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
      EXPECT_TRUE(job.is_right());
      // 3 stripes x 3 outputs x 640 bytes.
      const std::size_t pieces_least = (9 * 640 + saved - 1) / saved;
      if (at < pieces_least) {
        EXPECT_EQ(guarded.behaviour->submits, at + 1);
        EXPECT_EQ(log.count(), 1U);
      } else {
        EXPECT_GE(guarded.behaviour->submits, pieces_least);
      }
    }
  }
}

TEST(Failover, WaitRepeatsFailedWorkOnTheCpu) {
  DeviceJob one(gf_program(), 2, plain(5000), true);
  DeviceJob two(gf_program(), 2, plain(5000));
  const LogLines log;
  Guarded guarded;
  const auto kernel = *guarded.device.compile(one.program);
  guarded.behaviour->hangs_for = 0.05;  // until its watchdog fires
  auto first = guarded.device.submit(*kernel, one.batch);
  auto second = guarded.device.submit(*kernel, two.batch);
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(second.wait());
  EXPECT_TRUE(one.is_right());
  EXPECT_TRUE(two.is_right());
  ASSERT_EQ(log.count(), 1U);
  EXPECT_NE(log.lines()[0].find("did not finish in time"), std::string::npos);
}

TEST(Failover, BytesAreRightWithoutWait) {
  DeviceJob job(gf_program(), 2, plain(5000), true);
  Guarded guarded;
  const auto kernel = *guarded.device.compile(job.program);
  guarded.behaviour->fail_wait_at = 0;
  { const auto dropped = guarded.device.submit(*kernel, job.batch); }
  EXPECT_TRUE(job.is_right());
  EXPECT_TRUE(guarded.device.is_left());
}

// Unchecked work that ran next to a wrong batch is not trusted either.
TEST(Failover, PendingWorkIsRepeatedWhenTheDeviceIsDisabled) {
  DeviceJob one(gf_program(), 1, plain(5000));
  DeviceJob two(gf_program(), 1, plain(5000), true);
  Guarded guarded;
  const auto kernel = *guarded.device.compile(one.program);
  EXPECT_TRUE(guarded.device.run(*kernel, one.batch));
  guarded.behaviour->wrong_from = 1;
  guarded.behaviour->fail_submit_at = 2;
  auto unchecked = guarded.device.submit(*kernel, two.batch);
  EXPECT_TRUE(guarded.device.run(*kernel, one.batch));
  EXPECT_TRUE(unchecked.wait());
  EXPECT_TRUE(one.is_right());
  EXPECT_TRUE(two.is_right());
}

TEST(Failover, ManyThreadsWriteOneLogLine) {
  const LogLines log;
  Guarded guarded;
  guarded.behaviour->fail_wait_at = 5;
  std::vector<std::unique_ptr<DeviceJob>> jobs;
  for (int i = 0; i < 4; ++i)
    jobs.push_back(std::make_unique<DeviceJob>(gf_program(), 2, plain(2000), true));
  const auto kernel = *guarded.device.compile(jobs[0]->program);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (auto& job : jobs) {
    threads.emplace_back([&guarded, &kernel, &wrong, job = job.get()] {
      for (int i = 0; i < 10; ++i) {
        job->reset();
        if (!guarded.device.run(*kernel, job->batch) || !job->is_right()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(log.count(), 1U);
}

// --- memory that only the device has ----------------------------------------------------------

class FailoverMemory : public testing::TestWithParam<bool> {
 protected:
  FailoverMemory() : job_(gf_program(), 1, plain(3000), GetParam()) {
    guarded_.behaviour->has_memory = true;
    // Input 1 and output 2 move to the device.
    auto* const memory = guarded_.device.memory();
    input_ = *memory->allocate(3000);
    output_ = *memory->allocate(3000);
    EXPECT_TRUE(memory->copy(input_, job_.in[1], 3000));
    EXPECT_TRUE(memory->copy(output_, job_.out[2], 3000));
    job_.in[1] = input_;
    job_.out[2] = output_;
    kernel_ = *guarded_.device.compile(job_.program);
  }
  bool is_right() {
    std::vector<std::byte> copied(3000);
    EXPECT_TRUE(guarded_.device.memory()->copy(copied.data(), output_, copied.size()));
    return job_.outputs[0] == job_.expected[0] && job_.outputs[1] == job_.expected[1] &&
           std::equal(copied.begin(), copied.end(), job_.expected[2].begin());
  }
  const LogLines log_;
  Guarded guarded_;
  DeviceJob job_;
  std::byte* input_ = nullptr;
  std::byte* output_ = nullptr;
  backend::KernelRef kernel_;
};

TEST_P(FailoverMemory, IsCheckedThroughCopies) {
  const std::uint64_t copies = guarded_.behaviour->copies;
  EXPECT_TRUE(guarded_.device.run(*kernel_, job_.batch));
  EXPECT_TRUE(is_right());
  EXPECT_EQ(guarded_.device.checks(), 2U);
  EXPECT_GT(guarded_.behaviour->copies, copies);
  const std::uint64_t checked = guarded_.behaviour->copies;
  EXPECT_TRUE(guarded_.device.run(*kernel_, job_.batch));
  EXPECT_EQ(guarded_.behaviour->copies, checked);  // unchecked batches are not copied
}

TEST_P(FailoverMemory, WrongBytesAreAnError) {
  guarded_.behaviour->wrong_from = 0;
  const Status result = guarded_.device.run(*kernel_, job_.batch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::device_failed);
  EXPECT_NE(result.error().message.find("the CPU cannot finish"), std::string::npos);
  EXPECT_NE(result.error().message.find("wrong bytes"), std::string::npos);
  EXPECT_EQ(log_.count(), 1U);
}

TEST_P(FailoverMemory, ErrorIsReturnedAndHostWorkContinues) {
  guarded_.behaviour->fail_wait_at = 0;
  guarded_.behaviour->error = ErrorCode::out_of_memory;
  for (int i = 0; i < 2; ++i) {
    const Status result = guarded_.device.run(*kernel_, job_.batch);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(result.error().message.find("memory of unruly"), std::string::npos);
    EXPECT_NE(result.error().message.find("injected at wait"), std::string::npos);
  }
  EXPECT_EQ(log_.count(), 1U);
  DeviceJob host(gf_program(), 1, plain(100));
  EXPECT_TRUE(guarded_.device.run(*kernel_, host.batch));
  EXPECT_TRUE(host.is_right());
}

INSTANTIATE_TEST_SUITE_P(All, FailoverMemory, testing::Bool());

// A device that hangs in host memory may write there at any time. The caller gets an error instead
// of bytes that may change, and the device is not used again.
TEST(Failover, OutputsOfAHungDeviceAreNotUsed) {
  for_each_job([](DeviceJob& job) {
    const LogLines log;
    Guarded guarded;
    const auto kernel = *guarded.device.compile(job.program);
    guarded.behaviour->fail_wait_at = 0;
    auto work = guarded.device.submit(*kernel, job.batch);
    guarded.behaviour->may_still_write = true;
    DeviceJob refused(gf_program(), 2, plain(100), job.batch.accumulate);
    const auto other = *guarded.device.compile(refused.program);
    auto refused_work = guarded.device.submit(*other, refused.batch);
    const Status done = work.wait();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::device_failed);
    EXPECT_NE(done.error().message.find("unruly may still write"), std::string::npos);
    EXPECT_NE(done.error().message.find("injected at wait"), std::string::npos);
    EXPECT_FALSE(job.is_right());
    EXPECT_TRUE(refused_work.wait());
    EXPECT_TRUE(refused.is_right());
    EXPECT_TRUE(guarded.device.may_still_write());
    EXPECT_TRUE(guarded.device.is_left());
    EXPECT_EQ(log.count(), 1U);
    job.reset();
    EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
    EXPECT_TRUE(job.is_right());
  });
}

TEST(Failover, SharedMemoryIsAccessibleToTheCpu) {
  for (const bool accumulate : {false, true}) {
    DeviceJob job(gf_program(), 1, plain(3000), accumulate);
    Guarded guarded;
    guarded.behaviour->has_memory = true;
    guarded.behaviour->shares_memory = true;
    guarded.behaviour->fail_wait_at = 0;
    std::byte* const output = *guarded.device.memory()->allocate(3000);
    std::copy_n(job.out[1], 3000, output);
    job.out[1] = output;
    const auto kernel = *guarded.device.compile(job.program);
    EXPECT_TRUE(guarded.device.run(*kernel, job.batch));
    EXPECT_TRUE(guarded.device.is_left());
    EXPECT_TRUE(std::equal(output, output + 3000, job.expected[1].begin()));
  }
}

}  // namespace
}  // namespace calpe::engine
