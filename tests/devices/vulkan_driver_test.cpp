// SPDX-License-Identifier: Apache-2.0
// The Vulkan driver below the backend: names of devices, emitted equations, binaries on disk, and
// wrong use.
#include "backend/vulkan/vulkan_driver.hpp"

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "devices/device_setup.hpp"
#include "emit/emit.hpp"
#include "support/emitted_cases.hpp"
#include "support/emitted_units.hpp"

namespace calpe::backend::vulkan {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::chrono::milliseconds long_enough = std::chrono::minutes(5);

class VulkanDriverTest : public tests::DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    const auto api = open_api();
    ASSERT_TRUE(api) << api.error().message;
    const auto devices = find_devices(**api);
    ASSERT_TRUE(devices) << devices.error().message;
    device_ = devices->front();
    auto driver = open_vulkan_driver(
        **api, {.name = "vulkan:0", .device = device_, .first_launch_limit = long_enough});
    ASSERT_TRUE(driver) << driver.error().message;
    driver_ = *std::move(driver);
  }

  static emit::DeviceForm form(unsigned group_items) {
    return {.language = emit::DeviceLanguage::spirv, .group_items = group_items};
  }
  static void finish(gpu::Queue& queue) {
    auto event = queue.mark();
    ASSERT_TRUE(event) << event.error().message;
    const Status done = (*event)->wait(long_enough);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_FALSE((*event)->may_be_running());
  }

  FoundDevice device_;
  std::unique_ptr<gpu::Driver> driver_;
};

std::string message_of(const Result<std::unique_ptr<Device>>& opened) {
  return opened ? "opened" : opened.error().message;
}

// The kernels that `calpe equations --emit spirv` writes: push constants are the addresses of n and
// r, first, unit_bytes and unit_stride, in the places of a device kernel's first five arguments.
// With a constant length they would not return from the driver's first launch, whose arguments are
// 0.
TEST_F(VulkanDriverTest, emitted_equations_compute_the_parity) {
  const code::Code code = tests::cauchy_code({5, 2, 3});
  const ir::Program program =
      ir::lower_to_xor(ir::build(code.field, plan::encode_recipe(code).coefficients));
  conformance::Random random = conformance::Random::of_test("emitted spirv");
  constexpr std::size_t unit_bytes = 203;
  constexpr std::size_t stride = 256;
  const auto text = emit::emit(program, emit::Target::spirv, {.name = "crs"});
  ASSERT_TRUE(text);
  const auto module =
      driver_->build({.text = *text, .entries = {"crs", "crs_4"}}, form(emit::spirv_group_items));
  ASSERT_TRUE(module) << module.error().message;

  tests::EmittedUnits units(random, program, unit_bytes, stride);
  const auto inputs = *driver_->allocate(units.n_bytes());
  const auto outputs = *driver_->allocate(units.r_bytes());
  const auto queue = *driver_->open_queue({});
  const auto* const n = reinterpret_cast<const std::byte*>(units.n());
  auto* const r = reinterpret_cast<std::byte*>(units.r());
  ASSERT_TRUE(queue->copy_in(inputs, n, units.n_bytes()));
  ASSERT_TRUE(queue->copy_in(outputs, r, units.r_bytes()));
  const std::size_t words = unit_bytes / 4;
  gpu::Launch launch = {.entry = 1,
                        .n_base = reinterpret_cast<void*>(inputs.at),
                        .r_base = reinterpret_cast<void*>(outputs.at),
                        .shards = {.at = 4 * words},
                        .first = unit_bytes,
                        .column_bytes = stride,
                        .words = words};
  ASSERT_TRUE(queue->launch(**module, launch));
  launch.entry = 0;
  launch.words = 100;  // more than are left
  ASSERT_TRUE(queue->launch(**module, launch));
  ASSERT_TRUE(queue->copy_out(r, outputs, units.r_bytes()));
  finish(*queue);
  driver_->release(inputs);
  driver_->release(outputs);
  EXPECT_TRUE(units.take_result());
}

TEST_F(VulkanDriverTest, devices_have_names_that_do_not_change) {
  EXPECT_EQ(message_of(open_device("vulkan", ir::Dialect::xor_)), "opened");
  EXPECT_EQ(message_of(open_device("vulkan:" + device_.uuid, ir::Dialect::xor_)), "opened");
  EXPECT_EQ(message_of(open_device("vulkan:0000-00", ir::Dialect::xor_)),
            "no Vulkan device has the UUID 0000-00; calpe devices lists them");
  EXPECT_EQ(message_of(open_device("vulkan:ffff:00:00.0", ir::Dialect::xor_)),
            "no Vulkan device has the PCI address ffff:00:00.0; calpe devices lists them");
  EXPECT_EQ(message_of(open_device("vulkan:99", ir::Dialect::xor_)).substr(0, 14),
            "no vulkan:99: ");
  EXPECT_EQ(message_of(open_device("vulkan:x", ir::Dialect::xor_)),
            "vulkan has no variant \"x\"; expected the number, PCI address or UUID of a device");
}

// Desktops have such a device by chance.
TEST_F(VulkanDriverTest, a_device_on_the_cpu_must_be_asked_for) {
  if (!device_.is_cpu) GTEST_SKIP() << device_.name << " is a GPU";
  const tests::EnvironmentScope not_asked("CALPE_VULKAN_CPU", std::nullopt);
  EXPECT_EQ(message_of(open_device("vulkan", ir::Dialect::xor_)),
            "Vulkan has no GPU, only " + device_.name +
                ", which runs on the CPU; set CALPE_VULKAN_CPU=1 to use it");
}

TEST_F(VulkanDriverTest, binaries_of_other_devices_are_refused) {
  const auto made = emit::emit_table(emit::TableStyle::units, form(64));
  ASSERT_TRUE(made);
  const auto module = driver_->build(*made, form(64));
  ASSERT_TRUE(module) << module.error().message;
  const auto binary = driver_->binary(**module);
  ASSERT_TRUE(binary) << binary.error().message;
  const emit::DeviceText names = {.text = {}, .entries = made->entries};
  EXPECT_TRUE(driver_->load(*binary, names, form(64)));

  const std::size_t cache_at = sizeof(std::uint64_t) + made->text.size();
  const auto is_refused = [&](const Bytes& wrong) {
    const auto loaded = driver_->load(wrong, names, form(64));
    return !loaded && loaded.error().code == ErrorCode::compile_failed;
  };
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{100}, cache_at + 31})
    EXPECT_TRUE(is_refused(Bytes(binary->begin(), binary->begin() + static_cast<long>(length))));
  for (const std::size_t at : {4U, 8U, 12U, 16U, 31U}) {  // version, vendor, device, UUID
    Bytes wrong = *binary;
    wrong[cache_at + at] ^= std::byte{1};
    EXPECT_TRUE(is_refused(wrong)) << at;
  }
}

TEST_F(VulkanDriverTest, wrong_use_is_an_error) {
  const auto made = emit::emit_table(emit::TableStyle::units, form(64));
  const auto module = *driver_->build(*made, form(64));
  const auto queue = *driver_->open_queue({});
  EXPECT_FALSE(queue->launch(*module, {.entry = 1}));
  EXPECT_FALSE(queue->launch(*module, {.words = std::size_t{1} << 40U}));
  EXPECT_FALSE(driver_->build({.text = "", .entries = {}}, {}));  // OpenCL
  EXPECT_FALSE(driver_->import(HandleKind::cuda_pointer, 4096, 16));
  const auto memory = *driver_->allocate(100);
  Bytes bytes(101);
  EXPECT_FALSE(queue->copy_in(memory, bytes.data(), 101));
  EXPECT_FALSE(queue->copy_out(bytes.data(), {.at = memory.at + 1}, 100));
  EXPECT_FALSE(queue->copy_within(memory, {.at = memory.at - 1}, 1));
  EXPECT_TRUE(queue->copy_in({.at = memory.at + 99}, bytes.data(), 1));
  EXPECT_TRUE(queue->copy_in({.at = memory.at + 100}, bytes.data(), 0));
  const auto huge = driver_->allocate(std::size_t{1} << 60U);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::out_of_memory);
  finish(*queue);
  driver_->release(memory);
}

// The caller may free its memory after a failed wait, so a later one must not write there.
TEST_F(VulkanDriverTest, results_are_forgotten_after_a_failed_wait) {
  const Bytes ones(std::size_t{16} << 20U, std::byte{1});
  Bytes result(ones.size());
  const auto memory = *driver_->allocate(ones.size());
  const auto queue = *driver_->open_queue({});
  ASSERT_TRUE(queue->copy_in(memory, ones.data(), ones.size()));
  ASSERT_TRUE(queue->copy_out(result.data(), memory, result.size()));
  const auto event = *queue->mark();
  const Status in_time = event->wait(std::chrono::milliseconds(0));  // fails, as a rule
  ASSERT_TRUE(event->wait(long_enough));
  EXPECT_EQ(result.back(), in_time ? std::byte{1} : std::byte{0});
  driver_->release(memory);
}

// As with CUDA; the first registration stays valid.
TEST_F(VulkanDriverTest, memory_is_registered_once) {
  if (!device_.imports_host_memory) GTEST_SKIP() << device_.name << " cannot import memory";
  Bytes often(10'000, std::byte{1});
  EXPECT_FALSE(driver_->register_host(often.data(), 0));
  const Status first = driver_->register_host(often.data(), often.size());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(driver_->register_host(often.data(), often.size()));
  Bytes result(often.size());
  const auto memory = *driver_->allocate(often.size());
  const auto queue = *driver_->open_queue({});
  ASSERT_TRUE(queue->copy_in(memory, often.data(), often.size()));
  ASSERT_TRUE(queue->copy_out(result.data(), memory, result.size()));
  finish(*queue);
  EXPECT_EQ(result, often);
  driver_->release(memory);
  driver_->unregister_host(often.data());
  EXPECT_TRUE(driver_->register_host(often.data(), often.size()));
  driver_->unregister_host(often.data());
}

// What is recorded and not submitted ends with the queue.
TEST_F(VulkanDriverTest, a_queue_may_end_with_recorded_work) {
  const auto memory = *driver_->allocate(100);
  const Bytes bytes(100);
  {
    const auto queue = *driver_->open_queue({.profiling = true});
    ASSERT_TRUE(queue->copy_in(memory, bytes.data(), bytes.size()));
  }
  driver_->release(memory);
}

}  // namespace
}  // namespace calpe::backend::vulkan
