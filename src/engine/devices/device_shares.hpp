// SPDX-License-Identifier: Apache-2.0
// Computes each device's share of a job from measured speeds.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace calpe::engine {

// A job of n bytes takes overhead_seconds + n / bytes_per_second.
struct DeviceSpeed {
  double overhead_seconds = 0;
  double bytes_per_second = 1;

  double seconds(double bytes) const noexcept {
    return overhead_seconds + bytes / bytes_per_second;
  }
  // Fits both values to two runs, of which the second was smaller.
  static DeviceSpeed from_runs(double bytes, double seconds, double fewer_bytes,
                               double fewer_seconds) noexcept;
};

// Minimum gain. A device that shortens the job by less is not worth its threads, its power and its
// risk of failure.
inline constexpr double least_gain = 0.1;

// Returns one share per device, with sum 1, so that all devices finish at the same time. A device
// gets 0 if it would gain less than least_gain, or if its overhead exceeds the whole job. At least
// one device gets a share.
std::vector<double> choose_shares(std::span<const DeviceSpeed> speeds, double bytes);

// Returns the time of a job that is divided this way.
double shared_seconds(std::span<const DeviceSpeed> speeds, std::span<const double> shares,
                      double bytes);

// Returns where each share of `count` items ends, in steps of `granule`. The last ends at count.
std::vector<std::size_t> share_ends(std::span<const double> shares, std::size_t count,
                                    std::size_t granule = 1);

}  // namespace calpe::engine
