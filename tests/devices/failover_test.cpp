// SPDX-License-Identifier: Apache-2.0
// Lets every driver call fail: the bytes must be right, and one log line must report a disabled
// device. The driver is the real one behind a fault library (OpenCL), or the interpreter (CUDA).
//
// Every call of encode, decode and update fails with two codes, and with every published code of
// the drivers if CALPE_NIGHTLY is set.
#include <chrono>
#include <cstdio>
#include <functional>

#include "devices/fault_controls.hpp"
#include "devices/fault_job.hpp"
#include "support/log_lines.hpp"

namespace calpe::tests {
namespace {

using Kind = FaultJob::Kind;
using Clock = std::chrono::steady_clock;

CodeSpec bytes_spec() {
  CodeSpec spec = *find_profile("cauchy");
  spec.data_shards = 4;
  spec.parity_shards = 2;
  return spec;
}

CodeSpec packets_spec() {
  CodeSpec spec = bytes_spec();
  spec.layout = Layout::packets;
  spec.word_bits = 4;
  spec.packet_bytes = 64;
  return spec;
}

// Three chunks through copies, of up to 16 MiB each.
constexpr std::size_t large_bytes = std::size_t{12} << 20U;
CodeSpec large_spec() {
  CodeSpec spec = bytes_spec();
  spec.data_shards = 2;
  spec.parity_shards = 1;
  return spec;
}

std::vector<FaultJob> all_jobs() {
  std::vector<FaultJob> jobs;
  for (const CodeSpec& spec : {bytes_spec(), packets_spec()}) {
    for (const Kind kind : {Kind::encode, Kind::decode, Kind::add, Kind::update})
      jobs.emplace_back(kind, spec, 1043, kind == Kind::encode ? 2 : 1);
  }
  return jobs;
}

Result<Codec> make_codec(const CodeSpec& spec) {
  return Codec::create(spec, {.backend = tested_backend()});
}

bool is_left(const Codec& codec) {
  return codec.backend().find("failed") != std::string_view::npos;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class DeviceFailover : public DeviceTest {
 protected:
  void SetUp() override {
    faults_.reset();
    DeviceTest::SetUp();
  }
  void TearDown() override { faults_.reset(); }

  // Runs the work of a new codec after `arm`; an existing codec would keep the device open. Returns
  // whether the device was disabled.
  bool check(FaultJob& job, bool is_warm, const std::function<void()>& arm) {
    const LogLines log;
    faults_.reset();
    const auto codec = make_codec(job.spec());
    if (!codec) {
      ADD_FAILURE() << codec.error().message;
      return false;
    }
    const auto plan = job.plan(*codec);
    if (is_warm) {
      EXPECT_TRUE(job.run(*codec, *plan));
      EXPECT_TRUE(job.is_right());
    }
    faults_.reset();
    arm();
    const Status done = job.run(*codec, *plan);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_TRUE(job.is_right());
    const bool was_left = is_left(*codec);
    counts_ = faults_.counts();
    EXPECT_EQ(counts_.misuses, 0U);
    faults_.reset();
    // Again, on the device or its fallback.
    EXPECT_TRUE(job.run(*codec, *plan));
    EXPECT_TRUE(job.is_right());
    EXPECT_EQ(is_left(*codec), was_left);
    // An update compiles its kernel at first use. If there is no memory for it, only the update
    // runs on the CPU.
    const bool is_refused = job.kind() == Kind::update && !was_left && log.count() == 1 &&
                            log.lines()[0].find("cannot compile a kernel") != std::string::npos;
    EXPECT_EQ(log.count(), was_left || is_refused ? 1U : 0U) << testing::PrintToString(log.lines());
    EXPECT_EQ(faults_.counts().misuses, 0U);
    return was_left;
  }

  // A failed job releases what a device keeps for the next one.
  void make_cold(FaultJob& job) {
    EXPECT_TRUE(check(job, false, [&] {
      faults_.fail_function(faults_.launch_name(), 0, faults_.is_cuda() ? 719 : -36);
    }));
  }

  // Opening a device and compiling are slow, so codes alternate there.
  std::vector<int> codes_for(std::uint64_t index) const {
    const std::vector<int> codes = faults_.codes();
    std::vector<int> some;
    const std::size_t count = std::getenv("CALPE_NIGHTLY") != nullptr ? 8 : 1;
    for (std::size_t i = 0; i < count; ++i)
      some.push_back(codes[(index + i * codes.size() / count) % codes.size()]);
    return some;
  }

  FaultControls faults_;
  FaultControls::Counts counts_;
};

// Cold work allocates what warm work reuses.
TEST_F(DeviceFailover, every_call_with_every_code) {
  const KernelScope scope(Kernels::table);
  std::uint64_t trials = 0;
  std::uint64_t harmless = 0;
  const Clock::time_point start = Clock::now();
  for (FaultJob& job : all_jobs()) {
    const auto keeper = make_codec(job.spec());
    make_cold(job);
    const std::uint64_t allocations = faults_.counts().allocations;
    for (const bool is_warm : {false, true}) {
      std::uint64_t index = 0;
      for (bool is_struck = true; is_struck; ++index) {
        for (const int code : faults_.codes()) {
          SCOPED_TRACE(testing::Message() << job.name() << (is_warm ? ", warm" : ", cold")
                                          << ", call " << index << ", code " << code);
          const bool was_left = check(job, is_warm, [&] { faults_.fail(index, code); });
          is_struck = counts_.calls > index;
          EXPECT_TRUE(is_struck || !was_left);
          if (!was_left && !is_warm) make_cold(job);
          if (HasFailure()) return;
          if (!is_struck) break;
          ++trials;
          if (!was_left) ++harmless;
        }
      }
      std::printf("%s, %s: %llu calls\n", job.name().c_str(), is_warm ? "warm" : "cold",
                  static_cast<unsigned long long>(index - 1));
      EXPECT_GE(index, 5U);
    }
    make_cold(job);
    EXPECT_EQ(faults_.counts().allocations, allocations);
    EXPECT_TRUE(job.run(*keeper, *job.plan(*keeper)));
    EXPECT_TRUE(is_on_device(*keeper));
  }
  std::printf("%llu failures, %llu of them harmless, %zu codes, %.1f s\n",
              static_cast<unsigned long long>(trials), static_cast<unsigned long long>(harmless),
              faults_.codes().size(), seconds_since(start));
}

// Opens the device, compiles and checks its kernels. The codec may be refused with a reason; an
// existing one must compute the right bytes.
TEST_F(DeviceFailover, every_call_of_create) {
  const KernelScope scope(Kernels::compiled);
  const Clock::time_point start = Clock::now();
  std::uint64_t trials = 0;
  std::uint64_t refused = 0;
  for (const CodeSpec& spec : {bytes_spec(), packets_spec()}) {
    FaultJob job(Kind::encode, spec, 1043);
    EXPECT_TRUE(make_codec(spec));  // compiled kernels are cached from here on
    std::uint64_t index = 0;
    for (bool is_struck = true; is_struck; ++index) {
      for (const int code : codes_for(index)) {
        SCOPED_TRACE(testing::Message() << job.name() << ", call " << index << ", code " << code);
        const LogLines log;
        faults_.reset();
        faults_.fail(index, code);
        const auto codec = make_codec(spec);
        is_struck = faults_.counts().calls > index;
        EXPECT_EQ(faults_.counts().misuses, 0U);
        faults_.reset();
        if (codec) {
          const Status done = job.run(*codec, codec->plan_encode());
          EXPECT_TRUE(done) << done.error().message;
          EXPECT_TRUE(job.is_right());
          EXPECT_LE(log.count(), 1U) << testing::PrintToString(log.lines());
        } else {
          ++refused;
          EXPECT_FALSE(codec.error().message.empty());
          EXPECT_NE(codec.error().code, ErrorCode::invalid_argument) << codec.error().message;
        }
        if (HasFailure()) return;
        ++trials;
      }
    }
    std::printf("%s: %llu calls\n", job.name().c_str(), static_cast<unsigned long long>(index - 1));
    EXPECT_GE(index, 20U);
  }
  std::printf("%llu failures, %llu codecs refused, %.1f s\n",
              static_cast<unsigned long long>(trials), static_cast<unsigned long long>(refused),
              seconds_since(start));
}

TEST_F(DeviceFailover, every_call_of_plan_decode) {
  const KernelScope scope(Kernels::compiled);
  const Clock::time_point start = Clock::now();
  for (const CodeSpec& spec : {bytes_spec(), packets_spec()}) {
    FaultJob job(Kind::decode, spec, 1043);
    const auto keeper = make_codec(spec);
    EXPECT_TRUE(job.plan(*keeper));
    std::uint64_t index = 0;
    for (bool is_struck = true; is_struck; ++index) {
      for (const int code : codes_for(index)) {
        SCOPED_TRACE(testing::Message() << job.name() << ", call " << index << ", code " << code);
        const LogLines log;
        faults_.reset();
        const auto codec = make_codec(spec);
        ASSERT_TRUE(codec) << codec.error().message;
        faults_.reset();
        faults_.fail(index, code);
        const auto plan = job.plan(*codec);
        is_struck = faults_.counts().calls > index;
        EXPECT_EQ(faults_.counts().misuses, 0U);
        faults_.reset();
        ASSERT_TRUE(plan) << plan.error().message;
        EXPECT_TRUE(job.run(*codec, *plan));
        EXPECT_TRUE(job.is_right());
        EXPECT_LE(log.count(), 1U) << testing::PrintToString(log.lines());
        if (HasFailure()) return;
      }
    }
    std::printf("%s: %llu calls\n", job.name().c_str(), static_cast<unsigned long long>(index - 1));
  }
  std::printf("%.1f s\n", seconds_since(start));
}

// A device that hangs. If it works in host memory, the CPU must not take over, because that would
// be a race. Otherwise the CPU finishes after one time limit, however much was in flight.
TEST_F(DeviceFailover, survives_a_hung_device) {
  const KernelScope scope(Kernels::table);
  const EnvironmentScope limit("CALPE_DEVICE_TIMEOUT_MS", "400");
  struct Case {
    Kind kind;
    CodeSpec spec;
    std::size_t bytes = 1043;
  };
  // The engine stages odd ends of packets in memory that must not be freed either.
  const std::vector<Case> cases = {{Kind::encode, bytes_spec()},
                                   {Kind::decode, bytes_spec()},
                                   {Kind::add, bytes_spec()},
                                   {Kind::encode, packets_spec()},
                                   {Kind::update, packets_spec()},
                                   {Kind::encode, large_spec(), large_bytes},
                                   {Kind::add, large_spec(), large_bytes}};
  for (const auto& [kind, spec, bytes] : cases) {
    FaultJob job(kind, spec, bytes);
    const bool is_large = bytes == large_bytes;
    SCOPED_TRACE(testing::Message() << job.name() << (is_large ? ", large" : ""));
    const LogLines log;
    faults_.reset();
    const auto codec = make_codec(job.spec());
    ASSERT_TRUE(codec) << codec.error().message;
    const auto plan = job.plan(*codec);
    job.prepare();
    faults_.hang_launch(0);
    const Clock::time_point start = Clock::now();
    const Status done = job.run_prepared(*codec, *plan);
    const double took = seconds_since(start);
    std::printf("%s%s: %.2f s\n", job.name().c_str(), is_large ? ", large" : "", took);
    EXPECT_GE(took, 0.4);
    // One time limit, not one per chunk and attempt. But packets take up to three jobs: if the
    // device works in host memory, each is waited for, because it may have finished before.
    const bool is_three = faults_.is_zero_copy() && spec.layout == Layout::packets;
    EXPECT_LT(took, is_large || is_three ? 2.5 : 1.5);
    EXPECT_TRUE(is_left(*codec));
    if (faults_.is_zero_copy()) {
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, ErrorCode::device_failed);
      EXPECT_NE(done.error().message.find("may still write"), std::string::npos)
          << done.error().message;
      job.leave_memory_to_device();
    } else {
      EXPECT_TRUE(done) << done.error().message;
      EXPECT_TRUE(job.is_right());
    }
    // Neither this codec nor a new one, which gets a new context, waits for it again.
    const Clock::time_point again = Clock::now();
    EXPECT_TRUE(job.run(*codec, *plan));
    EXPECT_TRUE(job.is_right());
    EXPECT_LT(seconds_since(again), is_large ? 10 : 0.4);
    EXPECT_EQ(log.count(), 1U) << testing::PrintToString(log.lines());
    EXPECT_EQ(faults_.counts().misuses, 0U);
    // The hung work continues in memory that must still exist.
    faults_.reset();
    const auto next = make_codec(job.spec());
    FaultJob small(kind, job.spec(), 1043);
    EXPECT_TRUE(small.run(*next, *small.plan(*next)));
    EXPECT_TRUE(small.is_right());
    EXPECT_TRUE(is_on_device(*next));
    EXPECT_EQ(faults_.counts().misuses, 0U);
  }
}

// Every call fails from some call on. In host memory the end of started work is then unknown, so
// the caller gets an error. Nothing that is reported as done is wrong.
TEST_F(DeviceFailover, survives_a_lost_device) {
  const KernelScope scope(Kernels::table);
  const int code = faults_.is_cuda() ? 700 : -36;
  std::uint64_t told = 0;
  for (FaultJob& job : all_jobs()) {
    // Lost work keeps its memory, so a few jobs must be enough.
    if (job.kind() != (job.spec().layout == Layout::bytes ? Kind::encode : Kind::add)) continue;
    std::uint64_t index = 0;
    for (bool is_struck = true; is_struck; ++index) {
      SCOPED_TRACE(testing::Message() << job.name() << ", lost at call " << index);
      const LogLines log;
      faults_.reset();
      const auto codec = make_codec(job.spec());
      ASSERT_TRUE(codec) << codec.error().message;
      const auto plan = job.plan(*codec);
      faults_.reset();
      faults_.lose(index, code);
      const Status done = job.run(*codec, *plan);
      is_struck = faults_.counts().calls > index;
      if (done) {
        EXPECT_TRUE(job.is_right());
      } else {
        ++told;
        EXPECT_TRUE(faults_.is_zero_copy()) << done.error().message;
        EXPECT_NE(done.error().message.find("may still write"), std::string::npos)
            << done.error().message;
        job.leave_memory_to_device();
      }
      EXPECT_TRUE(job.run(*codec, *plan));
      EXPECT_TRUE(job.is_right());
      EXPECT_EQ(log.count(), is_left(*codec) ? 1U : 0U) << testing::PrintToString(log.lines());
      EXPECT_EQ(faults_.counts().misuses, 0U);
      if (HasFailure()) return;
    }
  }
  std::printf("%llu callers told\n", static_cast<unsigned long long>(told));
}

// Wrong bytes are detected at the first use of a kernel, and in stripes 0, 4096, 8192, ... of a
// codec, in up to 64 KiB of every shard. Errors in between, or elsewhere in longer shards, are not
// detected until the next check, and the bytes stay wrong.
TEST_F(DeviceFailover, detects_wrong_bytes) {
  const KernelScope scope(Kernels::table);
  for (FaultJob& job : all_jobs()) {
    SCOPED_TRACE(job.name());
    EXPECT_TRUE(check(job, false, [&] { faults_.spoil_launch(0); }));
  }
  FaultJob one(Kind::encode, bytes_spec(), 64);
  FaultJob many(Kind::encode, bytes_spec(), 64, 4096);
  const LogLines log;
  faults_.reset();
  const auto codec = make_codec(one.spec());
  EXPECT_TRUE(many.run(*codec, codec->plan_encode()));
  EXPECT_TRUE(many.is_right());
  EXPECT_TRUE(is_on_device(*codec));
  faults_.spoil_launch(0);  // in stripe 4096
  EXPECT_TRUE(one.run(*codec, codec->plan_encode()));
  EXPECT_TRUE(one.is_right());
  EXPECT_TRUE(is_left(*codec));
  ASSERT_EQ(log.count(), 1U);
  EXPECT_NE(log.lines()[0].find("wrong bytes"), std::string::npos) << log.lines()[0];
}

// In the middle of several chunks that are in flight at once.
TEST_F(DeviceFailover, survives_a_device_lost_in_a_large_batch) {
  if (faults_.is_cuda() && std::getenv("CALPE_NIGHTLY") == nullptr) {
    GTEST_SKIP() << "the interpreter takes long for 36 MiB: set CALPE_NIGHTLY";
  }
  const KernelScope scope(Kernels::table);
  FaultJob job(Kind::encode, large_spec(), large_bytes);
  const auto keeper = make_codec(job.spec());
  faults_.reset();
  EXPECT_TRUE(job.run(*keeper, keeper->plan_encode()));
  const std::uint64_t calls = faults_.counts().calls;
  for (const std::uint64_t index : {calls / 4, calls / 2, calls * 3 / 4}) {
    const LogLines log;
    faults_.reset();
    const auto codec = make_codec(job.spec());
    faults_.reset();
    faults_.lose(index, faults_.is_cuda() ? 700 : -36);
    const Status done = job.run(*codec, codec->plan_encode());
    if (done || !faults_.is_zero_copy()) {
      EXPECT_TRUE(done) << done.error().message;
      EXPECT_TRUE(job.is_right());
    } else {
      job.leave_memory_to_device();
    }
    EXPECT_TRUE(is_left(*codec));
    EXPECT_EQ(log.count(), 1U) << testing::PrintToString(log.lines());
    EXPECT_EQ(faults_.counts().misuses, 0U);
  }
}

}  // namespace
}  // namespace calpe::tests
