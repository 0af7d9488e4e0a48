// SPDX-License-Identifier: Apache-2.0
// The gpu::Driver for CUDA over the PTX interpreter: normal operation and every kind of failure.
#include "backend/cuda/cuda_driver.hpp"

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <thread>

#include "base/address.hpp"
#include "base/text.hpp"
#include "emit/emit.hpp"
#include "ir/interpret.hpp"
#include "ir/text_form.hpp"
#include "unit/backend/cuda_bench.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::backend::cuda {
namespace {

using namespace std::chrono_literals;
using tests::EnvironmentScope;

constexpr const char* increment =
    ".reg .b32 v;\nshl.b64 i, i, 2;\nadd.u64 n, n, i;\nadd.u64 r, r, i;\n"
    "ld.global.u32 v, [n];\nadd.u32 v, v, 1;\nst.global.u32 [r], v;";

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<std::uint32_t>(i * 77 + 5);
  return made;
}

class CudaDriverTest : public CudaBench {
 protected:
  Status launch_increment(const gpu::Place& n, const gpu::Place& r, std::size_t words = 32) {
    auto module = build(kernel_text(increment));
    if (!module) return module.error();
    return queue_->launch(**module, launch_of(n, r, words));
  }
  // Its own queue, a kernel, its output.
  Status work(const gpu::Place& n, const gpu::Place& r) {
    auto queue = driver_->open_queue({.profiling = true});
    if (!queue) return queue.error();
    queue_ = *std::move(queue);
    const Status launched = launch_increment(n, r);
    std::array<std::uint32_t, 32> got = {};
    const Status copied =
        launched ? queue_->copy_out(reinterpret_cast<std::byte*>(got.data()), r, 128) : launched;
    // Always waits: work may be in flight although a call failed.
    const Status waited = wait();
    if (!waited && !wait()) return waited;
    if (!copied) return copied;
    if (!waited) return waited;
    const auto seconds = queue_->take_seconds();
    if (!seconds) return seconds.error();
    EXPECT_EQ(got, expected_);
    return Done{};
  }
  const std::array<std::uint32_t, 32> expected_ = [] {
    std::array<std::uint32_t, 32> sums = {};
    const auto data = numbers(32);
    for (std::size_t i = 0; i < 32; ++i)
      sums[i] = data[i] + 1;
    return sums;
  }();
};

TEST_F(CudaDriverTest, DescribesItself) {
  const gpu::DriverInfo& info = driver_->info();
  EXPECT_EQ(info.name, "cuda:0");
  EXPECT_EQ(info.description, "PTX interpreter, no GPU, driver 9.0");
  EXPECT_EQ(info.language, emit::DeviceLanguage::ptx);
  EXPECT_TRUE(info.has_addresses);
  EXPECT_FALSE(info.shares_memory);
  EXPECT_EQ(info.memory_bytes, std::size_t{1} << 30);
}

TEST_F(CudaDriverTest, ListsTheDevices) {
  const std::vector<BackendStatus> rows = list_cuda();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "cuda:0");
  EXPECT_EQ(rows[1].name, "cuda:1");
  for (const BackendStatus& row : rows) {
    EXPECT_TRUE(row.available);
    EXPECT_NE(row.description.find("PTX interpreter"), std::string::npos);
  }
  const auto third = open_cuda_driver(2);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::backend_unavailable);
  EXPECT_NE(third.error().message.find("2 CUDA devices"), std::string::npos);
}

TEST_F(CudaDriverTest, ExplainsWhyThereIsNoDevice) {
  const auto reason = [] {
    const std::vector<BackendStatus> rows = list_cuda();
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].name, "cuda");
    EXPECT_FALSE(rows[0].available);
    const auto opened = open_cuda_driver(0);
    EXPECT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::backend_unavailable);
    EXPECT_EQ(opened.error().message, rows[0].reason);
    return rows[0].reason;
  };
  {
    const EnvironmentScope missing("CALPE_CUDA_DRIVER", "libno-such-driver.so.1");
    EXPECT_NE(reason().find("libno-such-driver.so.1"), std::string::npos);
  }
  {
    const EnvironmentScope other("CALPE_CUDA_DRIVER", "libm.so.6");
    EXPECT_NE(reason().find("has no cuInit"), std::string::npos);
  }
  for (const int code : {100, 999}) {
    // cuInit is called once per path, so use a new path.
    const std::string folder = std::filesystem::path(CALPE_PTX_INTERPRETER).parent_path();
    const EnvironmentScope again("CALPE_CUDA_DRIVER", text(folder, code == 100 ? "/." : "/./.",
                                                           "/libcalpe_ptx_interpreter.so"));
    calpe_ptx_fail_function("cuInit", 0, code);
    const auto opened = open_cuda_driver(0);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::backend_unavailable);
    EXPECT_NE(opened.error().message.find("no CUDA device"), std::string::npos);
    EXPECT_NE(opened.error().message.find(std::to_string(code)), std::string::npos);
  }
}

TEST_F(CudaDriverTest, RejectsTheStubDriver) {
  const char* stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  // The stub exists, but may be for another processor.
  if (dlopen(stub, RTLD_LAZY | RTLD_LOCAL) == nullptr) GTEST_SKIP() << "no stub driver: " << stub;
  const EnvironmentScope path("CALPE_CUDA_DRIVER", stub);
  const auto opened = open_cuda_driver(0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::backend_unavailable);
  EXPECT_NE(opened.error().message.find("34"), std::string::npos) << opened.error().message;
}

TEST_F(CudaDriverTest, CopiesAndCounts) {
  const auto data = numbers(1000);
  const gpu::Place first = put(std::span(data));
  const auto second = driver_->allocate(4000);
  ASSERT_TRUE(second);
  ASSERT_TRUE(queue_->copy_within({.at = second->at + 400}, first, 3600));
  EXPECT_EQ(get<std::uint32_t>({.at = second->at + 400}, 900),
            std::vector(data.begin(), data.begin() + 900));
  const calpe_ptx_counts counts = ptx_counts();
  EXPECT_EQ(counts.copy_in_bytes, 4000U);
  EXPECT_EQ(counts.copy_out_bytes, 3600U);
  EXPECT_EQ(counts.launches, 0U);
  const std::uint64_t alive = counts.allocations;
  driver_->release(*second);
  EXPECT_EQ(ptx_counts().allocations, alive - 1);
  EXPECT_EQ(ptx_counts().misuses, 0U);
}

TEST_F(CudaDriverTest, UsesPinnedAndRegisteredMemory) {
  const auto pinned = driver_->allocate_host(4096);
  ASSERT_TRUE(pinned);
  std::memset(*pinned, 0x5A, 4096);
  const auto place = driver_->allocate(4096);
  ASSERT_TRUE(place);
  ASSERT_TRUE(queue_->copy_in(*place, *pinned, 4096));
  std::vector<std::byte> own(4096);
  ASSERT_TRUE(driver_->register_host(own.data(), own.size()));
  const Status twice = driver_->register_host(own.data() + 100, 10);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("712"), std::string::npos);
  ASSERT_TRUE(queue_->copy_out(own.data(), *place, own.size()));
  finish();
  EXPECT_EQ(own[4095], std::byte{0x5A});
  driver_->unregister_host(own.data());
  driver_->release_host(*pinned);
  driver_->release(*place);
  EXPECT_EQ(ptx_counts().misuses, 0U) << calpe_ptx_message();
}

TEST_F(CudaDriverTest, RunsThePtxOfPrograms) {
  const auto parsed = ir::parse(ir::listing_2, {.unit_count = 3});
  ASSERT_TRUE(parsed);
  const ir::Program& program = *parsed;
  constexpr std::size_t unit_bytes = 1000;
  const auto ptx = emit::emit(program, emit::Target::ptx, {.unit_bytes = unit_bytes, .name = "x"});
  ASSERT_TRUE(ptx);
  const auto module = build(*ptx, {"x", "x_4"}, 64);
  ASSERT_TRUE(module) << module.error().message;
  const auto data = numbers(program.inputs() * unit_bytes / 4);
  const gpu::Place n = put(std::span(data));
  const gpu::Place r = allocate(program.outputs() * unit_bytes);
  // All but the last words as words, the rest as bytes: `first` is the third argument.
  gpu::Launch words = launch_of(n, r, unit_bytes / 4);
  words.entry = 1;
  ASSERT_TRUE(queue_->launch(**module, words));
  const auto got = get<std::byte>(r, program.outputs() * unit_bytes);
  gpu::Launch bytes = launch_of(n, r, 100);
  bytes.shards.at = 900;
  ASSERT_TRUE(queue_->launch(**module, bytes));
  const auto again = get<std::byte>(r, got.size());

  std::vector<std::byte> expected(got.size());
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (std::size_t u = 0; u < program.inputs(); ++u)
    inputs.push_back(std::as_bytes(std::span(data)).data() + u * unit_bytes);
  for (std::size_t u = 0; u < program.outputs(); ++u)
    outputs.push_back(expected.data() + u * unit_bytes);
  ir::interpret(program, inputs, outputs, unit_bytes);
  EXPECT_EQ(got, expected);
  EXPECT_EQ(again, expected);
  EXPECT_EQ(ptx_counts().launches, 2U);
}

TEST_F(CudaDriverTest, RefusesInvalidPtx) {
  const auto wrong = build(kernel_text("frobnicate.b32 thread, thread;"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::compile_failed);
  EXPECT_NE(wrong.error().message.find("frobnicate.b32: unknown instruction"), std::string::npos)
      << wrong.error().message;
  const auto missing = build(kernel_text(increment), {"other"});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("500"), std::string::npos) << missing.error().message;
  EXPECT_FALSE(driver_->build({.text = "", .entries = {}}, {}));
}

TEST_F(CudaDriverTest, FindsDevicesByPciAddress) {
  const auto second = open_device("cuda:0000:3b:00.0");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)->name(), "cuda:1");
  EXPECT_NE(list_cuda()[1].description.find("PCI 0000:3b:00.0"), std::string::npos);
  const auto missing = open_device("cuda:0000:3b:00.7");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::backend_unavailable);
}

TEST_F(CudaDriverTest, ReportsSpills) {
  const auto sound = build(kernel_text(increment));
  ASSERT_TRUE(sound);
  EXPECT_EQ((*sound)->spill_bytes(), 0U);
  calpe_ptx_local_bytes(96);
  const auto spilt = build(kernel_text(increment));
  ASSERT_TRUE(spilt);
  EXPECT_EQ((*spilt)->spill_bytes(), 96U);
}

TEST_F(CudaDriverTest, KeepsNoBinaries) {
  const auto module = build(kernel_text(increment));
  ASSERT_TRUE(module);
  const auto binary = driver_->binary(**module);
  ASSERT_TRUE(binary);
  EXPECT_TRUE(binary->empty());
  const auto loaded = driver_->load({}, {.text = "", .entries = {}}, {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::compile_failed);
}

TEST_F(CudaDriverTest, RunsOutOfMemory) {
  calpe_ptx_memory(10000);
  const auto fits = driver_->allocate(6000);
  ASSERT_TRUE(fits);
  const auto more = driver_->allocate(6000);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::out_of_memory);
  EXPECT_NE(more.error().message.find("cuMemAlloc_v2: 2, CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos)
      << more.error().message;
  driver_->release(*fits);
  const auto later = driver_->allocate(6000);
  ASSERT_TRUE(later);
  driver_->release(*later);
}

TEST_F(CudaDriverTest, ImportsMemoryOfTheDeviceOnly) {
  const auto place = driver_->allocate(1000);
  ASSERT_TRUE(place);
  const auto inside = driver_->import(HandleKind::cuda_pointer, place->at + 100, 900);
  ASSERT_TRUE(inside) << inside.error().message;
  EXPECT_EQ(inside->at, place->at + 100);
  driver_->forget(*inside);
  const auto host = driver_->allocate_host(64);
  ASSERT_TRUE(host);
  auto other = open_cuda_driver(1);
  ASSERT_TRUE(other);
  const auto elsewhere = (*other)->allocate(1000);
  ASSERT_TRUE(elsewhere);
  const auto expect_refused = [&](const Result<gpu::Place>& imported, std::string_view why) {
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(imported.error().message.find(why), std::string::npos) << imported.error().message;
  };
  const auto import = [&](std::uint64_t handle, std::size_t bytes) {
    return driver_->import(HandleKind::cuda_pointer, handle, bytes);
  };
  expect_refused(import(place->at + 100, 901), "which has 900");
  expect_refused(import(reinterpret_cast<std::uintptr_t>(*host), 64), "not device memory");
  expect_refused(import(reinterpret_cast<std::uintptr_t>(this), 8), "is not memory of cuda:0");
  expect_refused(import(elsewhere->at, 8), "memory of cuda:1");
  EXPECT_EQ(driver_->owner_of(pointer_at<std::byte>(place->at + 999)), gpu::Owner::device);
  EXPECT_EQ(driver_->owner_of(pointer_at<std::byte>(elsewhere->at)), gpu::Owner::other_device);
  EXPECT_EQ(driver_->owner_of(*host), gpu::Owner::host);
  EXPECT_EQ(driver_->owner_of(reinterpret_cast<const std::byte*>(this)), gpu::Owner::host);
  const auto device = open_device("cuda:0").value();
  EXPECT_TRUE(device->memory()->holds(pointer_at<std::byte>(elsewhere->at)));
  std::byte byte = {};
  const Status copied = device->memory()->copy(&byte, pointer_at<std::byte>(elsewhere->at), 1);
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().message.find("memory of another device"), std::string::npos);
  expect_refused(driver_->import(HandleKind::opencl_buffer, place->at, 8), "CUDA pointers only");
  (*other)->release(*elsewhere);
  driver_->release_host(*host);
  driver_->release(*place);
}

TEST_F(CudaDriverTest, GivesUpHungWork) {
  const auto data = numbers(32);
  const gpu::Place n = put(std::span(data));
  const gpu::Place r = put(std::span(data));
  calpe_ptx_hang_launch(0);
  ASSERT_TRUE(launch_increment(n, r));
  const auto start = std::chrono::steady_clock::now();
  const Status waited = wait(50ms);
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::device_failed);
  EXPECT_NE(waited.error().message.find("hangs"), std::string::npos);
  EXPECT_GE(took, 50ms);
  EXPECT_LT(took, 5s);
  calpe_ptx_reset();
  finish();
  EXPECT_EQ(get<std::uint32_t>(r, 32)[31], data[31] + 1);
}

// Lets each call of a launch fail in turn: every failure is reported, and started work can always
// be waited for.
TEST_F(CudaDriverTest, ReportsEveryCodeOfEveryCall) {
  const auto data = numbers(32);
  const gpu::Place n = put(std::span(data));
  const gpu::Place r = put(std::span(data));
  for (const char* function :
       {"cuStreamCreate", "cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute",
        "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuEventQuery"}) {
    for (const int code : {1, 2, 214, 700, 719, 999}) {
      calpe_ptx_reset();
      calpe_ptx_fail_function(function, 0, code);
      const Status result = work(n, r);
      ASSERT_FALSE(result) << function << " " << code;
      EXPECT_NE(result.error().message.find(text(function, ": ", code)), std::string::npos)
          << result.error().message;
      EXPECT_EQ(result.error().code,
                code == 2 ? ErrorCode::out_of_memory : ErrorCode::device_failed);
    }
  }
  // Without events, work is not timed but done.
  for (const char* function : {"cuEventCreate", "cuEventRecord"}) {
    for (std::uint64_t index = 0; index < 5; ++index) {
      calpe_ptx_reset();
      calpe_ptx_fail_function(function, index, 2);
      const Status result = work(n, r);
      EXPECT_TRUE(result) << function << " " << index << ": " << result.error().message;
    }
  }
}

TEST_F(CudaDriverTest, FailsAtEveryIndexAndRecovers) {
  const auto data = numbers(32);
  const gpu::Place n = put(std::span(data));
  const gpu::Place r = put(std::span(data));
  unsigned failures = 0;
  constexpr unsigned indices = 16;
  for (std::uint64_t index = 0; index < indices; ++index) {
    calpe_ptx_reset();
    calpe_ptx_fail(index, 719);
    if (!work(n, r)) ++failures;
    ASSERT_TRUE(work(n, r));
  }
  // All but the four events that only profiling and marks need.
  EXPECT_GE(failures, 6U);
  EXPECT_LT(failures, indices);
  calpe_ptx_reset();
  calpe_ptx_lose(3, 719);
  EXPECT_FALSE(work(n, r));
  EXPECT_FALSE(driver_->allocate(10)) << "lost for good";
}

TEST_F(CudaDriverTest, LosesTheDeviceForGood) {
  const auto data = numbers(32);
  const gpu::Place n = put(std::span(data));
  auto other = open_cuda_driver(1);
  ASSERT_TRUE(other);
  calpe_ptx_fail_launch(0, 214);
  ASSERT_TRUE(launch_increment(n, n)) << "asynchronous";
  const Status waited = wait();
  ASSERT_FALSE(waited);
  EXPECT_NE(waited.error().message.find("214, CUDA_ERROR_ECC_UNCORRECTABLE"), std::string::npos);
  EXPECT_FALSE(driver_->allocate(100));
  EXPECT_FALSE(queue_->copy_in(n, std::as_bytes(std::span(data)).data(), 128));
  EXPECT_FALSE(wait());
  const auto place = (*other)->allocate(100);
  ASSERT_TRUE(place) << "the other device is there";
  (*other)->release(*place);
}

TEST_F(CudaDriverTest, CorruptsALaunchOnRequest) {
  const auto data = numbers(32);
  const gpu::Place n = put(std::span(data));
  const gpu::Place r = put(std::span(data));
  calpe_ptx_spoil_launch(1);
  for (unsigned launch = 0; launch < 3; ++launch) {
    ASSERT_TRUE(launch_increment(n, r));
    const auto got = get<std::uint32_t>(r, 32);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < 32; ++i)
      wrong += got[i] == data[i] + 1 ? 0 : 1;
    EXPECT_EQ(wrong, launch == 1 ? 1U : 0U);
  }
}

TEST_F(CudaDriverTest, MeasuresPhases) {
  const auto data = numbers(32);
  const gpu::Place n = put(std::span(data));
  queue_ = open_queue(true);
  calpe_ptx_delay(1000, 1000);
  std::vector<std::byte> out(128);
  ASSERT_TRUE(queue_->copy_in(n, std::as_bytes(std::span(data)).data(), 128));
  ASSERT_TRUE(launch_increment(n, n));
  ASSERT_TRUE(queue_->copy_out(out.data(), n, 128));
  finish();
  const auto seconds = queue_->take_seconds();
  ASSERT_TRUE(seconds);
  // Each has its own delay and that of the following event.
  for (const double phase : {seconds->copy_in, seconds->kernel, seconds->copy_out}) {
    EXPECT_GE(phase, 0.001);
    EXPECT_LT(phase, 5);
  }
  const auto taken = queue_->take_seconds();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->kernel, 0);
}

TEST_F(CudaDriverTest, WorksFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      auto queue = driver_->open_queue({});
      auto place = driver_->allocate(4096);
      ASSERT_TRUE(queue && place);
      const std::vector<std::byte> in(4096, std::byte(t + 1));
      std::vector<std::byte> out(4096);
      for (unsigned round = 0; round < 20; ++round) {
        ASSERT_TRUE((*queue)->copy_in(*place, in.data(), in.size()));
        ASSERT_TRUE((*queue)->copy_out(out.data(), *place, out.size()));
        auto event = (*queue)->mark();
        ASSERT_TRUE(event);
        ASSERT_TRUE((*event)->wait(test_limit));
        ASSERT_EQ(in, out);
      }
      driver_->release(*place);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(ptx_counts().misuses, 0U);
}

}  // namespace
}  // namespace calpe::backend::cuda
