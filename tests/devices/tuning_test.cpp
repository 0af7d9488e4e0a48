// SPDX-License-Identifier: Apache-2.0
// What a device measures and caches: its tuning, its binaries, and the times of its work.
#include <cstdio>
#include <vector>

#include "devices/device_setup.hpp"
#include "devices/native_memory.hpp"

namespace calpe::tests {
namespace {

const CodeSpec spec = {
    .family = CodeFamily::cauchy, .layout = Layout::bytes, .data_shards = 4, .parity_shards = 2};

class DeviceTuning : public DeviceTest {
 protected:
  const Workshop workshop_{};
  const EnvironmentScope cache_{"CALPE_CACHE_DIR", workshop_.path("cache")};
  const EnvironmentScope tune_{"CALPE_DEVICE_TUNE", "1"};
  const KernelScope kernels_{Kernels::compiled};

  static DeviceProfile profile_of_new_codec() {
    const auto codec = Codec::create(spec, {.backend = tested_backend()});
    EXPECT_TRUE(codec) << codec.error().message;
    EXPECT_TRUE(is_on_device(*codec));
    return codec ? device_profile(*codec) : DeviceProfile{};
  }
};

// The second device object has nothing left to compile or measure. If the driver caches its own
// binaries (CUDA), only the tuning is cached.
TEST_F(DeviceTuning, is_measured_once) {
  const DeviceProfile first = profile_of_new_codec();
  const DeviceProfile second = profile_of_new_codec();
  std::printf("programs compiled: %llu, then %llu\n", static_cast<unsigned long long>(first.builds),
              static_cast<unsigned long long>(second.builds));
  EXPECT_GE(first.builds, 5U);  // two words, two groups, the table kernels, the encoder
  EXPECT_LE(second.builds, tested_backend().starts_with("cuda") ? 3U : 0U);
  if (!tested_backend().starts_with("cuda")) return;  // elsewhere the compilers are too slow
  const EnvironmentScope forgotten("CALPE_CACHE_DIR", workshop_.path("other"));
  EXPECT_GE(profile_of_new_codec().builds, 5U);
}

// Kernels are measured on memory of the device. Copies over the bus would hide their differences:
// then the first candidate always wins.
TEST_F(DeviceTuning, copies_no_shards) {
  const CopyCount before = CopyCount::now();
  static_cast<void>(profile_of_new_codec());
  const CopyCount tuned = CopyCount::now() - before;
  const EnvironmentScope untuned("CALPE_DEVICE_TUNE", "0");
  const CopyCount second = CopyCount::now();
  static_cast<void>(profile_of_new_codec());
  const CopyCount plain = CopyCount::now() - second;
  std::printf("bytes to the device: %llu with tuning, %llu without\n",
              static_cast<unsigned long long>(tuned.in), static_cast<unsigned long long>(plain.in));
  // One check of each candidate on a small sample, which is compared with the CPU.
  EXPECT_LT(tuned.in, plain.in + (std::size_t{2} << 20U));
  EXPECT_LT(tuned.out, plain.out + (std::size_t{1} << 20U));
}

TEST_F(DeviceTuning, every_phase_has_its_time) {
  const EnvironmentScope profile("CALPE_PROFILE", "1");
  const EnvironmentScope quick("CALPE_DEVICE_TUNE", "0");
  const auto codec = Codec::create(spec, {.backend = tested_backend()});
  ASSERT_TRUE(codec) << codec.error().message;
  std::vector<std::vector<std::byte>> shards(6, std::vector<std::byte>(200'000));
  const std::vector<ConstShard> data(shards.begin(), shards.begin() + 4);
  const std::vector<Shard> parity(shards.begin() + 4, shards.end());
  const DeviceProfile before = device_profile(*codec);
  ASSERT_TRUE(codec->encode(data, parity));
  const DeviceProfile after = device_profile(*codec);
  EXPECT_GT(after.build_seconds, 0.0);
  EXPECT_GT(after.kernel_seconds, before.kernel_seconds);
  EXPECT_GT(after.launches, before.launches);
  const bool copies = after.copy_in_bytes > before.copy_in_bytes;
  EXPECT_EQ(after.copy_in_seconds > before.copy_in_seconds, copies);
  EXPECT_EQ(after.copy_out_seconds > before.copy_out_seconds, copies);
  if (copies) {
    EXPECT_GE(after.copy_in_bytes - before.copy_in_bytes, 4U * 200'000);
    EXPECT_GE(after.copy_out_bytes - before.copy_out_bytes, 2U * 200'000);
  }
}

}  // namespace
}  // namespace calpe::tests
