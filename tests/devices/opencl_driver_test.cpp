// SPDX-License-Identifier: Apache-2.0
// The OpenCL driver interface on devices that behave unlike the one of this machine: the fault
// library changes what they report and when they finish.
#include "backend/opencl/opencl_driver.hpp"

#include <future>
#include <thread>

#include "backend/gpu/gpu_device.hpp"
#include "devices/device_setup.hpp"
#include "devices/fault_controls.hpp"
#include "emit/device_kernel.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {
namespace {

using backend::opencl::OpenClDriver;
using std::chrono::milliseconds;

class OpenClDriverTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) faults_.reset();
  }
  void TearDown() override { faults_.reset(); }

  static std::unique_ptr<backend::gpu::Driver> open(milliseconds first_launch_limit) {
    const backend::opencl::Api& api = *must(backend::opencl::open_api());
    const auto devices = must(backend::opencl::find_devices(api));
    return must(OpenClDriver::open(
        api,
        {.name = "opencl:0", .device = devices.at(0), .first_launch_limit = first_launch_limit}));
  }
  static Result<std::unique_ptr<backend::gpu::Module>> build(backend::gpu::Driver& driver) {
    const emit::DeviceForm form = {.group_items = driver.info().group_items.front()};
    return driver.build(must(emit::emit_table(emit::TableStyle::planes, form)), form);
  }

  const FaultControls faults_{};
};

// rusticl compiles when a kernel is first launched, which may take minutes.
TEST_F(OpenClDriverTest, build_waits_for_a_compiler_that_works_at_the_first_launch) {
  const auto driver = open(std::chrono::hours(1));
  faults_.hang_launch(0);
  auto built = std::async(std::launch::async, [&] { return build(*driver); });
  while (faults_.counts().launches == 0 &&
         built.wait_for(milliseconds(1)) == std::future_status::timeout) {
  }
  EXPECT_EQ(built.wait_for(milliseconds(50)), std::future_status::timeout);
  faults_.reset();
  const auto module = built.get();
  EXPECT_TRUE(module) << module.error().message;
}

TEST_F(OpenClDriverTest, build_gives_up_a_kernel_that_never_starts) {
  const auto driver = open(milliseconds(1));
  faults_.hang_launch(0);
  const auto module = build(*driver);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::device_failed);
  EXPECT_NE(module.error().message.find("CALPE_DEVICE_COMPILE_TIMEOUT_MS"), std::string::npos)
      << module.error().message;
  faults_.reset();
  EXPECT_TRUE(build(*open(std::chrono::hours(1))));
}

// The table kernels do its work.
TEST_F(OpenClDriverTest, a_variant_that_fails_at_its_first_launch_leaves_the_device_in_use) {
  const KernelScope scope(Kernels::compiled);
  const EnvironmentScope no_cache("CALPE_CACHE_DIR", "");
  const CodeSpec spec = {.family = CodeFamily::cauchy, .data_shards = 3, .parity_shards = 2};
  const auto first = must(Codec::create(spec, {.backend = tested_backend()}));
  faults_.fail_function("clEnqueueNDRangeKernel", 0, CL_OUT_OF_RESOURCES);
  const CodeSpec other = {.family = CodeFamily::cauchy, .data_shards = 5, .parity_shards = 2};
  const auto codec = must(Codec::create(other, {.backend = tested_backend()}));
  std::vector<std::vector<std::byte>> shards(7, std::vector<std::byte>(5000, std::byte(3)));
  const std::vector<ConstShard> data(shards.begin(), shards.begin() + 5);
  const std::vector<Shard> parity(shards.begin() + 5, shards.end());
  const std::uint64_t before = faults_.counts().launches;
  ASSERT_TRUE(codec.encode(data, parity));
  EXPECT_GT(faults_.counts().launches, before);
  EXPECT_TRUE(is_on_device(codec));
}

TEST_F(OpenClDriverTest, an_integrated_gpu_works_in_place) {
  const char* kind = std::getenv("CALPE_CL_GPU");
  if (kind == nullptr) GTEST_SKIP() << "no GPU";
  const bool is_integrated = std::string(kind) == "2";
  EXPECT_EQ(open(std::chrono::hours(1))->info().shares_memory, is_integrated);
  const auto codec =
      must(Codec::create({.data_shards = 4, .parity_shards = 2}, {.backend = tested_backend()}));
  std::vector<std::vector<std::byte>> shards(6, std::vector<std::byte>(50'003, std::byte(3)));
  const std::vector<ConstShard> data(shards.begin(), shards.begin() + 4);
  const std::vector<Shard> parity(shards.begin() + 4, shards.end());
  ASSERT_TRUE(codec.encode(data, parity));
  EXPECT_EQ(device_profile(codec).copy_in_bytes == 0, is_integrated);
  EXPECT_TRUE(is_on_device(codec));
}

TEST_F(OpenClDriverTest, devices_have_pci_addresses) {
  if (std::getenv("CALPE_CL_GPU") == nullptr) GTEST_SKIP() << "no GPU";
  const KernelScope scope(Kernels::table);
  const auto found = backend::open_device("opencl:0000:3b:00.1");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->name(), "opencl:0");
  const auto missing = backend::open_device("opencl:0000:3b:00.0");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::backend_unavailable);
}

// Word and registers of a kernel are what its compiler can hold in registers.
class OpenClSpills : public OpenClDriverTest {
 protected:
  void SetUp() override {
    OpenClDriverTest::SetUp();
    const char* kind = std::getenv("CALPE_CL_GPU");
    if (kind == nullptr || std::string(kind) != "1") GTEST_SKIP() << "spills matter on GPUs only";
  }

  // Words of the compiled variants of a 6+3 encoder.
  static std::vector<std::size_t> words_used(std::vector<std::string>* failures = nullptr) {
    const auto field = must(gf::Field::create(8, 0));
    gf::Matrix rows(3, 6);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 6; ++c)
        rows(r, c) = field->inverse(static_cast<gf::Element>((6 + r) ^ c));
    }
    const auto device = must(backend::open_device(tested_backend()));
    const auto kernel = must(device->compile_matrix(field, rows));
    const backend::gpu::KernelReport report = backend::gpu::settle(*device, *kernel);
    if (failures != nullptr) *failures = report.failures;
    return report.word_bytes;
  }

  const KernelScope scope_{Kernels::compiled};
  const EnvironmentScope no_cache_{"CALPE_CACHE_DIR", ""};
};

TEST_F(OpenClSpills, without_them_words_are_wide) {
  EXPECT_EQ(words_used(), std::vector<std::size_t>{emit::sliced_word_bytes});
}

TEST_F(OpenClSpills, in_wide_words_make_words_narrower) {
  faults_.spill(16, 600);
  EXPECT_EQ(words_used(), std::vector<std::size_t>{4});
}

TEST_F(OpenClSpills, in_every_form_leave_the_table_kernel) {
  faults_.spill(4, 600);
  std::vector<std::string> failures;
  EXPECT_TRUE(words_used(&failures).empty());
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("spills 600 bytes"), std::string::npos) << failures[0];
}

TEST_F(OpenClSpills, of_a_few_bytes_are_accepted_in_the_smallest_form) {
  faults_.spill(4, 28);
  EXPECT_EQ(words_used(), std::vector<std::size_t>{4});
}

}  // namespace
}  // namespace calpe::tests
