// SPDX-License-Identifier: Apache-2.0
// Lists where a backend may differ from the suite. Two lists, as in IREE's CTS, because they age
// differently: `unsupported` stays, `expected_failure` shrinks.
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace calpe::conformance {

struct Exception {
  std::string_view device;  // "opencl" means all of its variants, "opencl:0" only that one
  std::string_view test;
  std::string_view reason;
};

// Never supported: the case is skipped.
inline constexpr std::span<const Exception> unsupported = {};

// Not supported yet: the case runs and must fail. When it passes, delete its line.
inline constexpr std::span<const Exception> expected_failure = {};

inline std::optional<std::string_view> reason_in(std::span<const Exception> list,
                                                 std::string_view device, std::string_view test) {
  for (const Exception& exception : list) {
    const std::string_view backend = device.substr(0, device.find(':'));
    if (exception.test != test) continue;
    if (exception.device == device || exception.device == backend) return exception.reason;
  }
  return std::nullopt;
}

}  // namespace calpe::conformance
