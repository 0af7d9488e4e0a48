// SPDX-License-Identifier: Apache-2.0
// A small copy of a job in separate memory, to measure the speed of devices.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "engine/devices/batch_bytes.hpp"
#include "engine/devices/device_shares.hpp"

namespace calpe::engine {

// Returns as many stripes, else groups, else columns as move at most `bytes_max` bytes, or a single
// column.
backend::Batch shrunk(const backend::Batch& batch, const KernelShape& shape, std::size_t bytes_max);

class ScratchJob {
 public:
  ScratchJob(const backend::Batch& like, const KernelShape& shape, std::size_t bytes_max);

  const backend::Batch& batch() const noexcept { return batch_; }
  double bytes() const noexcept { return static_cast<double>(moved_bytes(batch_, shape_)); }

  Result<DeviceSpeed> measure(backend::Device& device, const backend::Kernel& kernel) const;

 private:
  KernelShape shape_;
  backend::Batch batch_;
  std::vector<std::byte> memory_;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

// Returns the minimum time of a few runs of `work`, after a warm-up run that may compile, check or
// touch memory for the first time.
template <class Work>
Result<double> least_seconds(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr int runs = 4;
  constexpr double enough = 0.2;  // seconds for all runs together
  const Clock::time_point begin = Clock::now();
  double least = 0;
  for (int i = 0; i <= runs; ++i) {
    const Clock::time_point start = Clock::now();
    CALPE_CHECK(work());
    const double taken = std::max(seconds_since(start), 1e-9);
    if (i == 1 || (i > 1 && taken < least)) least = taken;
    if (i >= 1 && seconds_since(begin) > enough) break;
  }
  return least;
}

}  // namespace calpe::engine
