// SPDX-License-Identifier: Apache-2.0
// Work in the background on a codec's threads. A backend whose work waits at a gate proves, without
// times, what has not happened yet.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <calpe/codec.hpp>

#include "backend/backend.hpp"
#include "backend/reference/reference_device.hpp"

namespace calpe {
namespace {

std::atomic<bool> gate_is_open = true;
std::atomic<int> at_gate = 0;  // threads that arrived while it was closed
std::atomic<bool> work_fails = false;

void close_gate() {
  at_gate = 0;
  gate_is_open = false;
}

void open_gate() {
  gate_is_open = true;
  gate_is_open.notify_all();
}

void wait_for_arrivals(int count) {
  while (at_gate < count)
    std::this_thread::yield();
}

// The reference device behind the gate.
class GateDevice final : public backend::Device {
 public:
  explicit GateDevice(std::unique_ptr<backend::Device> device) : device_(std::move(device)) {}
  std::string_view name() const override { return "gate"; }
  const ir::CostModel& cost_model() const override { return device_->cost_model(); }
  Result<backend::KernelRef> compile(const ir::Program& program) override {
    return device_->compile(program);
  }
  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override {
    if (!gate_is_open) ++at_gate;
    gate_is_open.wait(false);
    if (work_fails) return Status(Error{ErrorCode::device_failed, "the work failed"});
    return device_->submit(kernel, batch);
  }

 private:
  std::unique_ptr<backend::Device> device_;
};

Result<std::unique_ptr<backend::Device>> open_gate_device(std::string_view variant) {
  Result<std::unique_ptr<backend::Device>> device = backend::reference::open_reference(variant);
  if (!device) return device;
  return std::unique_ptr<backend::Device>(std::make_unique<GateDevice>(*std::move(device)));
}

[[maybe_unused]] const bool is_added = [] {
  backend::add_backend({.name = "gate", .auto_choice = {}, .open = open_gate_device, .list = [] {
                          return std::vector<backend::BackendStatus>();
                        }});
  return true;
}();

constexpr std::uint32_t data_shards = 4;
constexpr std::uint32_t parity_shards = 2;

CodeSpec spec_of(Layout layout) {
  CodeSpec spec = *find_profile("cauchy");
  spec.layout = layout;
  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  if (layout == Layout::packets) spec.packet_bytes = 64;
  return spec;
}

Codec make_codec(const char* backend, unsigned threads, Layout layout = Layout::bytes) {
  return Codec::create(spec_of(layout), {.backend = backend, .threads = threads}).value();
}

using Bytes = std::vector<std::byte>;

// Some stripes, and the parity that the reference device computes.
class Stripes {
 public:
  Stripes(Layout layout, std::span<const std::size_t> lengths, std::uint32_t seed = 1) {
    const Codec reference = make_codec("reference", 1, layout);
    std::minstd_rand random(seed);
    for (const std::size_t bytes : lengths) {
      data_.emplace_back(data_shards, Bytes(bytes));
      parity_.emplace_back(parity_shards, Bytes(reference.parity_bytes(bytes)));
      for (Bytes& shard : data_.back())
        std::ranges::generate(shard, [&] { return std::byte(random() & 0xFF); });
      right_.push_back(parity_.back());
      EXPECT_TRUE(reference.encode(data_.back(), right_.back()));
    }
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      inputs_.emplace_back(data_[s].begin(), data_[s].end());
      outputs_.emplace_back(parity_[s].begin(), parity_[s].end());
    }
    for (std::size_t s = 0; s < lengths.size(); ++s)
      list_.push_back({.inputs = inputs_[s], .outputs = outputs_[s]});
  }
  std::span<const Stripe> list() const { return list_; }
  bool is_right() const { return parity_ == right_; }
  bool is_untouched() const {
    return std::ranges::all_of(parity_, [](const auto& shards) {
      return std::ranges::all_of(shards, [](const Bytes& shard) {
        return std::ranges::all_of(shard, [](std::byte byte) { return byte == std::byte{}; });
      });
    });
  }

 private:
  std::vector<std::vector<Bytes>> data_, parity_, right_;
  std::vector<std::vector<ConstShard>> inputs_;
  std::vector<std::vector<Shard>> outputs_;
  std::vector<Stripe> list_;
};

const std::vector<std::size_t> one_stripe = {100};

TEST(Submit, ReturnsBeforeTheWorkIsDone) {
  for (const unsigned threads : {2U, 4U}) {
    const Codec codec = make_codec("gate", threads);
    ASSERT_TRUE(codec.runs_on_caller());
    Stripes stripes(Layout::bytes, one_stripe);
    close_gate();
    Pending pending = codec.submit(codec.plan_encode(), stripes.list()).value();
    wait_for_arrivals(1);  // a thread of the codec works on it; this one does not
    EXPECT_TRUE(stripes.is_untouched());
    open_gate();
    EXPECT_TRUE(pending.wait());
    EXPECT_TRUE(stripes.is_right());
    EXPECT_TRUE(pending.wait());
  }
}

TEST(Submit, ManyJobsWaitInOrder) {
  const Codec codec = make_codec("gate", 2);
  std::vector<Stripes> jobs;
  std::vector<Pending> pending;
  for (std::uint32_t i = 0; i < 20; ++i)
    jobs.emplace_back(Layout::bytes, one_stripe, i);
  close_gate();
  for (const Stripes& job : jobs)
    pending.push_back(codec.submit(codec.plan_encode(), job.list()).value());
  wait_for_arrivals(1);  // the codec has one thread of its own
  for (const Stripes& job : jobs)
    EXPECT_TRUE(job.is_untouched());
  open_gate();
  for (std::size_t i = pending.size(); i-- > 0;) {
    EXPECT_TRUE(pending[i].wait());
    EXPECT_TRUE(jobs[i].is_right());
  }
}

TEST(Submit, OutlivesTheCodecAndThePlan) {
  std::optional<Codec> codec = make_codec("gate", 3);
  std::optional<Plan> plan = codec->plan_encode();
  Stripes first(Layout::bytes, one_stripe, 1);
  Stripes second(Layout::bytes, one_stripe, 2);
  close_gate();
  {
    Pending moved = codec->submit(*plan, first.list()).value();
    const Pending dropped = codec->submit(*plan, second.list()).value();
    codec.reset();
    plan.reset();
    Pending kept = std::move(moved);
    EXPECT_TRUE(moved.wait());  // NOLINT(bugprone-use-after-move): nothing to wait for
    EXPECT_TRUE(first.is_untouched());
    open_gate();
  }  // waits for both
  EXPECT_TRUE(first.is_right());
  EXPECT_TRUE(second.is_right());
}

TEST(Submit, AssignmentWaitsForThePreviousWork) {
  const Codec codec = make_codec("gate", 2);
  Stripes first(Layout::bytes, one_stripe, 1);
  Stripes second(Layout::bytes, one_stripe, 2);
  Pending pending = codec.submit(codec.plan_encode(), first.list()).value();
  pending = codec.submit(codec.plan_encode(), second.list()).value();
  EXPECT_TRUE(first.is_right());
  EXPECT_TRUE(pending.wait());
  EXPECT_TRUE(second.is_right());
}

TEST(Submit, ErrorsOfArgumentsComeAtOnceAndOthersFromWait) {
  const Codec codec = make_codec("gate", 2);
  Stripes stripes(Layout::bytes, std::vector<std::size_t>{100, 200});
  std::vector<Stripe> list(stripes.list().begin(), stripes.list().end());
  list[1].outputs = list[1].outputs.first(1);
  close_gate();  // nothing is started, or else this would hang
  const Result<Pending> refused = codec.submit(codec.plan_encode(), list);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "stripes[1].outputs has 1 shards; expected 2");
  open_gate();
  EXPECT_TRUE(stripes.is_untouched());
  work_fails = true;
  Pending pending = codec.submit(codec.plan_encode(), stripes.list()).value();
  const Status failed = pending.wait();
  work_fails = false;
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the work failed");
  EXPECT_FALSE(pending.wait());  // the same again
  EXPECT_TRUE(codec.submit(codec.plan_encode(), {}).value().wait());
}

TEST(Submit, EveryLengthAndLayoutOnEveryBackend) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 100; ++i)
    lengths.push_back(std::vector<std::size_t>{1000, 512, 0, 17, 4096}[i % 5]);
  lengths.push_back(300'000);  // several parts
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    for (const char* backend : {"auto", "cpu", "reference"}) {
      const Codec codec = make_codec(backend, 3, layout);
      Stripes stripes(layout, lengths);
      EXPECT_TRUE(codec.submit(codec.plan_encode(), stripes.list()).value().wait());
      EXPECT_TRUE(stripes.is_right());
      // Adding it twice cancels out.
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(
            codec.submit(codec.plan_encode(), stripes.list(), {.accumulate = true}).value().wait());
      }
      EXPECT_TRUE(stripes.is_right());
    }
  }
}

// Several threads submit, wait and run at the same time on one codec.
TEST(Submit, FromSeveralThreads) {
  const Codec codec = make_codec("cpu", 3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint32_t round = 0; round < 20; ++round) {
        const std::vector<std::size_t> lengths = {1000, 70'000, round * 1000};
        std::vector<Stripes> jobs;
        for (std::uint32_t i = 0; i < 3; ++i)
          jobs.emplace_back(Layout::bytes, lengths, thread * 100 + round + i);
        std::vector<Pending> pending;
        for (const Stripes& job : jobs)
          pending.push_back(codec.submit(codec.plan_encode(), job.list()).value());
        Stripes direct(Layout::bytes, lengths, round);
        if (!codec.run_batch(codec.plan_encode(), direct.list()) || !direct.is_right()) ++wrong;
        if (round % 2 == 0) pending.pop_back();  // waits
        for (Pending& work : pending) {
          if (!work.wait()) ++wrong;
        }
        pending.clear();
        for (const Stripes& job : jobs) {
          if (!job.is_right()) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

// Returns the exit code of a child that runs `work`, or -1 if a signal ended it.
template <class Work>
int in_child(const Work& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);  // only a guard: a child needs milliseconds
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SubmitAndFork, AChildCompletesTheWork) {
  const Codec codec = make_codec("gate", 2);
  for (const bool accumulate : {false, true}) {
    const RunOptions options = {.accumulate = accumulate};
    Stripes begun(Layout::bytes, one_stripe, 1);
    Stripes waiting(Layout::bytes, one_stripe, 2);
    close_gate();
    Pending first = codec.submit(codec.plan_encode(), begun.list(), options).value();
    wait_for_arrivals(1);
    Pending second = codec.submit(codec.plan_encode(), waiting.list(), options).value();
    EXPECT_EQ(in_child([&] {
                open_gate();
                if (!second.wait() || !waiting.is_right()) return 1;  // was not begun
                const Status done = first.wait();
                if (!accumulate) return done && begun.is_right() ? 0 : 2;
                return !done && done.error().code == ErrorCode::device_failed ? 0 : 3;
              }),
              0);
    EXPECT_TRUE(begun.is_untouched());
    open_gate();
    EXPECT_TRUE(first.wait());
    EXPECT_TRUE(second.wait());
    EXPECT_TRUE(begun.is_right() && waiting.is_right());
  }
}

TEST(SubmitAndFork, AChildSubmitsOnItsOwnThread) {
  const Codec codec = make_codec("gate", 3);
  EXPECT_EQ(in_child([&] {
              Stripes stripes(Layout::bytes, one_stripe);
              Pending pending = codec.submit(codec.plan_encode(), stripes.list()).value();
              return stripes.is_right() && pending.wait() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace calpe
