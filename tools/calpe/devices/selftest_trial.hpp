// SPDX-License-Identifier: Apache-2.0
// Is a backend right? Encodes, decodes, updates and batches through the public interface, each
// compared with what the reference backend writes.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tools {

struct TrialOptions {
  std::string backend;
  // Kernels that are compiled beside the work are waited for, so that they are what is tried;
  // otherwise it is mostly what serves meanwhile.
  bool waits = false;
  bool every_small_loss = true;  // of 3+2, 4+2 and 4+3; otherwise seeded ones
  // Damages one result, to see that this is noticed.
  bool plant_error = false;
  std::function<void(const std::string&)> on_progress = {};
};

struct TrialResult {
  std::size_t checks = 0;  // results compared
  // "4+3 packets, 1003 bytes, lost 0, 5: shard 5 has 0x3a at byte 17, expected 0x4b"; at most
  // failures_max, then it ends.
  std::vector<std::string> failures;
  // What the library said meanwhile: a device was refused, a kernel not compiled.
  std::vector<std::string> remarks;
};
inline constexpr std::size_t failures_max = 5;

// A device that is wrong has the CPU behind it, so that callers get right bytes all the same; here
// that counts as a failure. Fails with the codec's error when the backend cannot even be opened.
Result<TrialResult> try_backend(const TrialOptions& options);

}  // namespace calpe::tools
