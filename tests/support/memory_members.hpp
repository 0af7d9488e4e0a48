// SPDX-License-Identifier: Apache-2.0
// Members in memory with simulated power cuts: each sector that was neither durable nor flushed is
// kept or lost, depending on a seed.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "array/format/members.hpp"

namespace calpe::array {

class MemoryMembers : public Members {
 public:
  struct Disk {
    std::vector<std::byte> now = {};      // visible to reads
    std::vector<std::byte> durable = {};  // certain to survive a power loss
    bool is_failing = false;
    bool is_absent = false;
  };

  MemoryMembers(unsigned count, std::uint64_t bytes) : disks(count) {
    for (Disk& disk : disks) {
      disk.now.resize(bytes, std::byte{0xEE});
      disk.durable = disk.now;
    }
  }

  unsigned count() const override { return static_cast<unsigned>(disks.size()); }
  std::uint64_t bytes(unsigned member) const override {
    return disks[member].is_absent ? 0 : disks[member].now.size();
  }
  void run(std::span<MemberRequest> batch) override {
    for (MemberRequest& request : batch) {
      if (on_request) on_request(request);
      ++requests;
      Disk& disk = disks[request.member];
      if (disk.is_failing || disk.is_absent) {
        request.error = Error{ErrorCode::io, "input/output error"};
        continue;
      }
      const auto at = static_cast<std::ptrdiff_t>(request.offset);
      const auto count = static_cast<std::ptrdiff_t>(request.bytes.size());
      switch (request.call) {
        case MemberCall::read:
          std::copy_n(disk.now.begin() + at, count, request.bytes.begin());
          break;
        case MemberCall::write:
          std::copy(request.bytes.begin(), request.bytes.end(), disk.now.begin() + at);
          if (request.is_durable) {
            std::copy(request.bytes.begin(), request.bytes.end(), disk.durable.begin() + at);
          }
          break;
        case MemberCall::flush:
          disk.durable = disk.now;
          break;
      }
    }
  }

  // Each sector that is not durable survives with probability 1/2.
  void lose_power(std::mt19937_64& random) {
    constexpr std::size_t sector = 512;
    for (Disk& disk : disks) {
      for (std::size_t at = 0; at < disk.now.size(); at += sector) {
        const bool is_equal =
            std::memcmp(disk.now.data() + at, disk.durable.data() + at, sector) == 0;
        if (is_equal) continue;
        if (random() % 2 == 0) {
          std::memcpy(disk.now.data() + at, disk.durable.data() + at, sector);
        } else {
          std::memcpy(disk.durable.data() + at, disk.now.data() + at, sector);
        }
      }
    }
  }

  std::vector<Disk> disks;
  std::uint64_t requests = 0;
  std::function<void(const MemberRequest&)> on_request = {};
};

}  // namespace calpe::array
