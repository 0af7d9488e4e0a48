// SPDX-License-Identifier: Apache-2.0
#include "durability/rebuild_time.hpp"

#include <algorithm>

namespace calpe::durability {

namespace {

constexpr double seconds_per_hour = 3600;

}  // namespace

std::string_view name_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::write:
      return "writing the new device";
    case Bottleneck::read:
      return "reading the survivors";
    case Bottleneck::network:
      return "the network";
    case Bottleneck::decode:
      return "decoding";
    case Bottleneck::pool:
      return "the devices of the pool";
    case Bottleneck::given:
      return "the given repair time";
  }
  return "?";
}

RebuildTime rebuild_time(const Inputs& in, double reads) {
  if (in.repair_hours) return {0, *in.repair_hours, Bottleneck::given};
  const double bytes = in.used_bytes();
  RebuildTime time = {in.detect_hours + in.replace_hours, 0, Bottleneck::write};
  const auto consider = [&](double seconds, Bottleneck bottleneck) {
    if (seconds / seconds_per_hour <= time.transfer_hours) return;
    time.transfer_hours = seconds / seconds_per_hour;
    time.bottleneck = bottleneck;
  };
  if (in.pool_devices == 0) {
    consider(bytes / (in.rebuild_share * in.write_bytes_per_s), Bottleneck::write);
    consider(bytes / (in.rebuild_share * in.read_bytes_per_s), Bottleneck::read);
  } else {
    // All remaining devices read and write a share.
    const double device = in.rebuild_share * std::min(in.read_bytes_per_s, in.write_bytes_per_s);
    const double others = std::max(1.0, double(in.pool_devices) - 1);
    consider(bytes * (reads + 1) / (others * device), Bottleneck::pool);
  }
  if (in.network_bytes_per_s)
    consider(bytes * (reads + 1) / *in.network_bytes_per_s, Bottleneck::network);
  if (in.decode_bytes_per_s) consider(bytes * reads / *in.decode_bytes_per_s, Bottleneck::decode);
  return time;
}

}  // namespace calpe::durability
