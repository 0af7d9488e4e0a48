// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/backend_rate.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include <calpe/device_memory.hpp>

#include "base/try.hpp"

namespace calpe::tools {

namespace {

// Gap between shards, so that they do not all map to the same cache set.
constexpr std::size_t gap_bytes = 64;

constexpr std::size_t distance = rate_shard_bytes + gap_bytes;
constexpr std::size_t stripe_bytes = (rate_data + rate_parity) * distance;

// Pseudo-random bytes, the same in every run.
std::span<std::byte> stripe_memory() {
  static std::vector<std::byte> memory = [] {
    std::vector<std::byte> filled(stripe_bytes);
    std::uint32_t state = 1;
    for (std::byte& byte : filled) {
      state = state * 1664525U + 1013904223U;
      byte = std::byte(state >> 24U);
    }
    return filled;
  }();
  return memory;
}

}  // namespace

std::string_view why_no_rate(const BackendInfo& backend) {
  if (backend.description.find("PTX interpreter") != std::string::npos)
    return "not measured: a stand-in for tests, not a device";
  if (backend.name == "reram") return "not measured: its time is simulated";
  return {};
}

Result<double> encode_rate(const std::string& backend, Layout layout, double seconds, Place place) {
  using Clock = std::chrono::steady_clock;
  const WaitCompile wait(true);
  CALPE_TRY(const Codec codec, Codec::create({.family = CodeFamily::hybrid,
                                              .layout = layout,
                                              .data_shards = rate_data,
                                              .parity_shards = rate_parity},
                                             {.backend = backend}));
  Shard stripe = stripe_memory();
  std::optional<DeviceMemory> memory;
  if (place == Place::device_memory) {
    CALPE_TRY(memory, DeviceMemory::allocate(codec, stripe_bytes));
    CALPE_CHECK(memory->write(0, stripe));
    stripe = memory->shard(0, stripe_bytes);
  }
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  for (std::size_t i = 0; i < rate_data; ++i)
    data.emplace_back(stripe.subspan(i * distance, rate_shard_bytes));
  for (std::size_t i = rate_data; i < rate_data + rate_parity; ++i)
    parity.push_back(stripe.subspan(i * distance, rate_shard_bytes));

  CALPE_CHECK(codec.encode(data, parity));  // warm up caches, pages and clocks
  std::vector<double> runs;
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  do {
    CALPE_CHECK(codec.encode(data, parity));
    const Clock::time_point now = Clock::now();
    runs.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
  } while (std::chrono::duration<double>(last - start).count() < seconds);
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end());
  return static_cast<double>(rate_data * rate_shard_bytes) / *middle * 1e-9;
}

}  // namespace calpe::tools
