// SPDX-License-Identifier: Apache-2.0
// Tests a backend: encodes, decodes, updates and runs batches through the public API, and compares
// every result with that of the reference backend.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tools {

struct TrialOptions {
  std::string backend;
  // Wait for kernels that compile in the background, and test those. Otherwise mostly the fallback
  // is tested.
  bool waits = false;
  bool every_small_loss = true;  // of 3+2, 4+2 and 4+3; otherwise a random sample
  // Corrupt one result, to show that the test detects it.
  bool plant_error = false;
  std::function<void(const std::string&)> on_progress = {};
};

struct TrialResult {
  std::size_t checks = 0;  // results compared
  // "4+3 packets, 1003 bytes, lost 0, 5: shard 5 has 0x3a at byte 17; expected 0x4b". The test
  // stops after failures_max of them.
  std::vector<std::string> failures;
  // Log lines of the library, such as a refused device or a kernel that did not compile.
  std::vector<std::string> remarks;
};
inline constexpr std::size_t failures_max = 5;

// The CPU normally takes over from a device that returns wrong bytes, so callers still get the
// right ones. Here that counts as a failure. Fails with the codec's error if the backend does not
// open.
Result<TrialResult> try_backend(const TrialOptions& options);

}  // namespace calpe::tools
