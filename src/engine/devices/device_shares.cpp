// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/device_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace calpe::engine {

namespace {

// Returns the time at which all `members` finish if they start and end together. Removes members
// whose overhead is longer than that.
double common_end(std::span<const DeviceSpeed> speeds, double bytes,
                  std::vector<std::size_t>& members) {
  for (;;) {
    double work = bytes;  // overheads count as bytes that were not done
    double rate = 0;
    for (const std::size_t i : members) {
      work += speeds[i].overhead_seconds * speeds[i].bytes_per_second;
      rate += speeds[i].bytes_per_second;
    }
    const double end = work / rate;
    const auto late = std::ranges::max_element(
        members, {}, [&](std::size_t i) { return speeds[i].overhead_seconds; });
    if (members.size() == 1 || speeds[*late].overhead_seconds < end) return end;
    members.erase(late);
  }
}

}  // namespace

DeviceSpeed DeviceSpeed::from_runs(double bytes, double seconds, double fewer_bytes,
                                   double fewer_seconds) noexcept {
  if (bytes <= fewer_bytes) return {.overhead_seconds = 0, .bytes_per_second = bytes / seconds};
  // Clocks are coarse and machines busy: limit the overhead to between zero and nearly everything.
  const double most = seconds * (bytes - fewer_bytes) / bytes;
  const double more = std::clamp(seconds - fewer_seconds, most / 20, most);
  const double rate = (bytes - fewer_bytes) / more;
  return {.overhead_seconds = std::max(seconds - bytes / rate, 0.0), .bytes_per_second = rate};
}

std::vector<double> choose_shares(std::span<const DeviceSpeed> speeds, double bytes) {
  std::vector<std::size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return speeds[i].seconds(bytes); });
  std::vector<std::size_t> members = {order.front()};
  double end = speeds[order.front()].seconds(bytes);
  for (const std::size_t next : std::span(order).subspan(1)) {
    std::vector<std::size_t> with = members;
    with.push_back(next);
    const double sooner = common_end(speeds, bytes, with);
    if (sooner > end * (1 - least_gain)) continue;
    members = std::move(with);
    end = sooner;
  }
  std::vector<double> shares(speeds.size());
  for (const std::size_t i : members) {
    shares[i] = members.size() == 1 || bytes <= 0
                    ? 1
                    : (end - speeds[i].overhead_seconds) * speeds[i].bytes_per_second / bytes;
  }
  return shares;
}

double shared_seconds(std::span<const DeviceSpeed> speeds, std::span<const double> shares,
                      double bytes) {
  double end = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (shares[i] > 0) end = std::max(end, speeds[i].seconds(shares[i] * bytes));
  }
  return end;
}

std::vector<std::size_t> share_ends(std::span<const double> shares, std::size_t count,
                                    std::size_t granule) {
  std::vector<std::size_t> ends;
  std::size_t last = shares.size();  // last device with a share
  while (last > 1 && shares[last - 1] <= 0)
    --last;
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    const double steps =
        std::round(sum * static_cast<double>(count) / static_cast<double>(granule));
    const std::size_t end = static_cast<std::size_t>(std::max(steps, 0.0)) * granule;
    const std::size_t begin = ends.empty() ? 0 : ends.back();
    ends.push_back(i + 1 >= last ? count : shares[i] <= 0 ? begin : std::clamp(end, begin, count));
  }
  return ends;
}

}  // namespace calpe::engine
