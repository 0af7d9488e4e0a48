// SPDX-License-Identifier: Apache-2.0
// Measures the encode rate of a backend as a caller sees it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <calpe/codec.hpp>

#include "calpe/devices/scoped_variable.hpp"

namespace calpe::tools {

inline constexpr std::size_t rate_shard_bytes = std::size_t{1} << 20U;
inline constexpr unsigned rate_data = 10;
inline constexpr unsigned rate_parity = 4;

// Location of the shards. With host_memory, the rate includes copies to and from the device.
enum class Place : std::uint8_t { host_memory, device_memory };

// Returns GB/s of data: the median of 10+4 encodes of 1 MiB shards, repeated for about `seconds` on
// the calling thread. Waits for compiled kernels first. Fails as Codec::create,
// DeviceMemory::allocate and encode do.
Result<double> encode_rate(const std::string& backend, Layout layout, double seconds,
                           Place place = Place::host_memory);

// Returns why the backend has no meaningful rate (simulator or test stand-in), or an empty string.
std::string_view why_no_rate(const BackendInfo& backend);

// Whether codecs made meanwhile wait for compiled kernels.
class WaitCompile {
 public:
  explicit WaitCompile(bool is_wanted)
      : variable_("CALPE_WAIT_COMPILE",
                  is_wanted ? std::optional<std::string>("1") : std::nullopt) {}

 private:
  ScopedVariable variable_;
};

}  // namespace calpe::tools
