// SPDX-License-Identifier: Apache-2.0
#include "engine/device_choice.hpp"

#include <utility>

#include "base/try.hpp"
#include "engine/failover_device.hpp"

namespace calpe::engine {

namespace {

using DevicePointer = std::unique_ptr<backend::Device>;

// The best device for the dialect that is not beyond a driver.
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
  return open_one(name, dialect, open);
}

}  // namespace calpe::engine
