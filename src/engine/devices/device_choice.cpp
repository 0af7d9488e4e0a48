// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/device_choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/devices/failover_device.hpp"
#include "engine/devices/multi_device.hpp"

namespace calpe::engine {

namespace {

using DevicePointer = std::unique_ptr<backend::Device>;

// Opens the best device for the dialect that needs no driver.
Result<DevicePointer> open_trusted(ir::Dialect dialect, OpenDevice open) {
  Result<DevicePointer> best = open("auto", dialect);
  if (best && (*best)->is_trusted()) return best;
  return open("cpu", dialect);
}

Result<DevicePointer> open_one(std::string_view name, ir::Dialect dialect, OpenDevice open) {
  CALPE_TRY(DevicePointer device, open(name, dialect));
  if (device->is_trusted()) return device;
  CALPE_TRY(DevicePointer trusted, open_trusted(dialect, open));
  return DevicePointer(std::make_unique<FailoverDevice>(std::move(device), std::move(trusted)));
}

}  // namespace

Result<DevicePointer> choose_device(std::string_view name, ir::Dialect dialect, OpenDevice open) {
  if (name.find('+') == std::string_view::npos) return open_one(name, dialect, open);
  std::vector<DevicePointer> devices;
  if (name.front() == '+' || name.back() == '+' || name.find("++") != std::string_view::npos)
    return invalid("backend is \"", name, "\"; expected a name before and after each +");
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t end = std::min(rest.find('+'), rest.size());
    CALPE_TRY(DevicePointer device, open_one(rest.substr(0, end), dialect, open));
    devices.push_back(std::move(device));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return DevicePointer(std::make_unique<MultiDevice>(std::move(devices)));
}

}  // namespace calpe::engine
