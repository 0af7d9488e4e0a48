// SPDX-License-Identifier: Apache-2.0
// How much of a job each of several devices gets, from what was measured. Pure arithmetic.
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
  // From two runs, of which the second was the smaller.
  static DeviceSpeed from_runs(double bytes, double seconds, double fewer_bytes,
                               double fewer_seconds) noexcept;
};

// A device that shortens the job by less than this is not worth its threads, its power and the
// chance that it fails.
inline constexpr double least_gain = 0.1;

// One per device, adding up to 1: those that make all devices end at the same time. 0 for a device
// that would bring less than least_gain, or whose overhead alone is longer than the whole job.
// At least one device.
std::vector<double> choose_shares(std::span<const DeviceSpeed> speeds, double bytes);

// How long a job takes that is shared out so.
double shared_seconds(std::span<const DeviceSpeed> speeds, std::span<const double> shares,
                      double bytes);

// Where each share of `count` equal things ends, in steps of `granule`: the last at count.
std::vector<std::size_t> share_ends(std::span<const double> shares, std::size_t count,
                                    std::size_t granule = 1);

}  // namespace calpe::engine
