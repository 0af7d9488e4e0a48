// SPDX-License-Identifier: Apache-2.0
// The device setup under test. ctest runs the same programs with different environments (see
// CMakeLists.txt). CALPE_TEST_BACKEND names the backend and CALPE_TEST_SAMPLES the number of random
// samples. Kernels are either the table kernels, or compiled ones that are waited for.
#pragma once
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include <calpe/codec.hpp>
#include <calpe/device_memory.hpp>

#include "support/environment_scope.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {

inline std::string tested_backend() {
  const char* name = std::getenv("CALPE_TEST_BACKEND");
  return name != nullptr ? name : "opencl:0";
}

inline unsigned sample_count() {
  const char* count = std::getenv("CALPE_TEST_SAMPLES");
  return count != nullptr ? static_cast<unsigned>(std::atoi(count)) : 20;
}

// Why there is nothing to test, or empty.
inline std::string missing_device() {
  const CodeSpec spec = {.data_shards = 2, .parity_shards = 1};
  const EnvironmentScope quick("CALPE_DEVICE_KERNELS", "table");
  const auto codec = Codec::create(spec, {.backend = tested_backend()});
  if (codec) return {};
  return codec.error().code == ErrorCode::backend_unavailable ? codec.error().message : "";
}

enum class Kernels { table, compiled };

// Kernels for the scope: compile nothing, or wait for everything.
class KernelScope {
 public:
  explicit KernelScope(Kernels kernels)
      : table_("CALPE_DEVICE_KERNELS",
               kernels == Kernels::table ? std::optional<std::string>("table") : std::nullopt),
        wait_("CALPE_WAIT_COMPILE",
              kernels == Kernels::compiled ? std::optional<std::string>("1") : std::nullopt) {}

 private:
  EnvironmentScope table_;
  EnvironmentScope wait_;
};

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = missing_device(); !reason.empty()) {
      GTEST_SKIP() << tested_backend() << ": " << reason;
    }
  }
};

// Fails if the device was disabled, which would otherwise go unnoticed because the CPU takes over.
inline testing::AssertionResult is_on_device(const Codec& codec) {
  const std::string name(codec.backend());
  if (name == tested_backend()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "runs on " << name << ", not on " << tested_backend();
}

// True if the host may access the codec's device memory, too.
inline bool codec_shares_memory(const Codec& codec) {
  const auto memory = DeviceMemory::allocate(codec, 1);
  const auto mapped = MappedMemory::map(*memory, 0, 1);
  return mapped->bytes().data() == memory->shard(0, 1).data();
}

}  // namespace calpe::tests
