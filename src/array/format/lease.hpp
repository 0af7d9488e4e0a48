// SPDX-License-Identifier: Apache-2.0
// The lease in the superblocks names the process that serves an array. It keeps a second server
// away that has another path to the same disks or runs on another host (docs/adr/0018-array.md).
#pragma once
#include <cstdint>
#include <string>

#include "base/uuid.hpp"

namespace calpe::array {

// The process that holds a lease. All zeros = unknown.
struct LeaseHolder {
  std::uint32_t renewal_milliseconds = 0;  // time between renewals
  Uuid boot = {};                          // boot id of its kernel
  std::uint64_t pid_namespace = 0;
  std::uint32_t pid = 0;
  std::uint64_t started = 0;  // distinguishes processes with the same pid
  std::string host = {};      // at most 47 bytes, for messages
  bool operator==(const LeaseHolder&) const = default;
};

struct Lease {
  bool is_held = false;
  std::uint64_t id = 0;        // random; 0 = written by a version without leases
  std::uint64_t renewals = 0;  // increases with every claim and renewal
  LeaseHolder holder = {};
  bool operator==(const Lease&) const = default;
};

inline constexpr std::uint32_t lease_renewal_milliseconds = 1000;
// A lease that was not renewed for this many renewal times may be taken over.
inline constexpr unsigned lease_waits = 10;

// Describes this process. Unavailable fields are 0.
LeaseHolder this_process(std::uint32_t renewal_milliseconds = lease_renewal_milliseconds);
// True only if the holder ran under this kernel and has ended.
bool has_surely_ended(const LeaseHolder& holder);
std::string described(const LeaseHolder& holder);  // "process 123 on host a"

}  // namespace calpe::array
