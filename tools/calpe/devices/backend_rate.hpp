// SPDX-License-Identifier: Apache-2.0
// The self-test rate of a backend: what a caller gets.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <calpe/codec.hpp>

namespace calpe::tools {

inline constexpr std::size_t rate_shard_bytes = std::size_t{1} << 20U;
inline constexpr unsigned rate_data = 10;
inline constexpr unsigned rate_parity = 4;

// Where the shards lie: then copies are included, or there are none.
enum class Place : std::uint8_t { host_memory, device_memory };

// 10^9 bytes of data a second, the median of encodes of 10+4 with shards of 1 MiB for about so
// many seconds, on the caller's thread. Compiled kernels are waited for first. Fails as
// Codec::create, DeviceMemory::allocate and encode do.
Result<double> encode_rate(const std::string& backend, Layout layout, double seconds,
                           Place place = Place::host_memory);

// Why nothing that this backend does has a speed worth measuring, such as a test's stand-in for a
// device; empty for all others.
std::string_view why_no_rate(const BackendInfo& backend);

// Sets CALPE_WAIT_COMPILE or removes it, and puts it back: backends read it when a codec is made.
class WaitCompile {
 public:
  explicit WaitCompile(bool is_wanted);
  ~WaitCompile();
  WaitCompile(const WaitCompile&) = delete;
  WaitCompile& operator=(const WaitCompile&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace calpe::tools
