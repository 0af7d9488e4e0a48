// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/energy.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

namespace calpe::bench {

namespace {

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// "intel-rapl:0" is a package; "intel-rapl:0:1" is a part of it and already counted there.
bool is_package(const std::string& name) {
  const std::size_t colon = name.find(':');
  return name.rfind("intel-rapl", 0) == 0 && colon != std::string::npos &&
         name.find(':', colon + 1) == std::string::npos && name.find("mmio") == std::string::npos;
}

}  // namespace

Result<EnergyCounters> EnergyCounters::open(const std::string& folder) {
  std::error_code error;
  EnergyCounters energy;
  std::string unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!is_package(entry.path().filename().string())) continue;
    const std::filesystem::path path = entry.path() / "energy_uj";
    const auto now = read_number(path);
    if (!now) {
      unreadable = path.string();
      continue;
    }
    const auto range = read_number(entry.path() / "max_energy_range_uj");
    energy.counters_.push_back({path.string(), range.value_or(0), *now});
  }
  if (!energy.counters_.empty()) return energy;
  if (!unreadable.empty()) {
    return Error{ErrorCode::backend_unavailable,
                 "cannot read " + unreadable + "; most systems require root"};
  }
  return Error{ErrorCode::backend_unavailable,
               "no energy counters (intel-rapl packages) in " + folder};
}

Result<double> EnergyCounters::joules() {
  double sum = 0;
  for (Counter& counter : counters_) {
    const auto now = read_number(counter.path);
    if (!now) return Error{ErrorCode::io, "cannot read " + counter.path};
    const std::uint64_t wrapped = *now < counter.before ? counter.range : 0;
    sum += static_cast<double>(*now + wrapped - counter.before) * 1e-6;
    counter.before = *now;
  }
  return sum;
}

}  // namespace calpe::bench
