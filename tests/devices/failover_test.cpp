// SPDX-License-Identifier: Apache-2.0
// Whatever a driver does, at whichever call: the bytes are right, and when the device was left one
// line says so. The driver is the real one behind a library that fails on request (OpenCL), or the
// interpreter (CUDA).
//
// Every call fails once with a few codes here, and with every code that the drivers publish when
// CALPE_NIGHTLY is set.
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

  // The work of a new codec, after `arm`. A codec that lives on keeps the device open.
  // Returns whether the device was left.
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
    // Once more, by whomever it is now.
    EXPECT_TRUE(job.run(*codec, *plan));
    EXPECT_TRUE(job.is_right());
    EXPECT_EQ(is_left(*codec), was_left);
    // An update compiles its kernel at the first use. When there is no room for that one, it alone
    // is the CPU's.
    const bool is_refused = job.kind() == Kind::update && !was_left && log.count() == 1 &&
                            log.lines()[0].find("does not compile a kernel") != std::string::npos;
    EXPECT_EQ(log.count(), was_left || is_refused ? 1U : 0U) << testing::PrintToString(log.lines());
    EXPECT_EQ(faults_.counts().misuses, 0U);
    return was_left;
  }

  // What a device keeps for the next piece of work is gone with a failed one.
  void make_cold(FaultJob& job) {
    EXPECT_TRUE(check(job, false, [&] {
      faults_.fail_function(faults_.launch_name(), 0, faults_.is_cuda() ? 719 : -36);
    }));
  }

  FaultControls faults_;
  FaultControls::Counts counts_;
};

// Calls of cold work allocate what a warm one finds.
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

}  // namespace
}  // namespace calpe::tests
