// SPDX-License-Identifier: Apache-2.0
#include "array/exclusive.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "array/state/member_probe.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"

namespace calpe::array {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t renewal_milliseconds_max = 10'000;  // bounds the wait for a forged lease
// Longer than a server needs from its last check of a free lease to its claim.
constexpr std::chrono::milliseconds claims_settle(100);
constexpr unsigned late_after = 3;  // renewal times

// Leases that this process holds. Any other lease of this process has ended.
struct Held {
  std::mutex mutex;
  std::set<std::uint64_t> ids;
};
Held& held() {
  static auto* const all = new Held();
  return *all;
}

bool is_ours_and_over(const Lease& lease) {
  if (lease.holder.pid == 0) return false;
  const LeaseHolder us = this_process();
  if (lease.holder.boot != us.boot || lease.holder.pid_namespace != us.pid_namespace ||
      lease.holder.pid != us.pid || lease.holder.started != us.started) {
    return false;
  }
  const std::lock_guard lock(held().mutex);
  return !held().ids.contains(lease.id);
}

struct Look {
  LeaseMarks marks;                // one per place
  std::vector<Lease> held_leases;  // their processes may still run
};

Look look(Members& members) {
  Look all;
  for (unsigned place = 0; place < members.count(); ++place) {
    const FoundPlace found = look_at(members, place);
    if (!found.superblock) {
      all.marks.emplace_back();
      continue;
    }
    const Lease& lease = found.superblock->lease;
    all.marks.emplace_back(found.superblock->epoch, lease.id, lease.renewals);
    if (lease.is_held && !is_ours_and_over(lease) && !has_surely_ended(lease.holder)) {
      all.held_leases.push_back(lease);
    }
  }
  return all;
}

Error in_use(const Lease& lease) {
  return invalid("the array is in use: ", described(lease.holder),
                 " serves it; stop that server first, or use calpe array --control SOCKET");
}

bool is_of_this_kernel(const LeaseHolder& holder) {
  const LeaseHolder us = this_process();
  return us.boot != Uuid{} && holder.boot == us.boot && holder.pid_namespace == us.pid_namespace &&
         holder.pid != 0;
}

// Waits until the lease is free, and returns what was found.
Result<Look> look_until_free(Members& members) {
  Look first = look(members);
  if (first.held_leases.empty()) return first;
  std::uint32_t renewal = 0;
  for (const Lease& lease : first.held_leases) {
    if (is_of_this_kernel(lease.holder)) return in_use(lease);  // it is still running
    renewal = std::max(renewal, lease.holder.renewal_milliseconds);
  }
  renewal = std::clamp(renewal, 10U, renewal_milliseconds_max);
  const Clock::time_point end = Clock::now() + lease_waits * std::chrono::milliseconds(renewal);
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(renewal) / 2);
    if (look(members).marks != first.marks) return in_use(first.held_leases.front());
  }
  return first;
}

}  // namespace

OwnLease::OwnLease(std::uint32_t renewal_milliseconds)
    : renewal_milliseconds_(std::clamp(renewal_milliseconds, 10U, renewal_milliseconds_max)),
      id_(load_little<std::uint64_t>(random_uuid().data()) | 1U),
      renewed_at_(now()) {
  const std::lock_guard lock(held().mutex);
  held().ids.insert(id_);
}

OwnLease::~OwnLease() {
  const std::lock_guard lock(held().mutex);
  held().ids.erase(id_);
}

// Not CLOCK_MONOTONIC, which stops while the machine is suspended.
std::int64_t OwnLease::now() const {
  timespec time = {};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

bool OwnLease::is_due() const {
  return now() - renewed_at_ >= renewal_milliseconds_;
}

bool OwnLease::is_late() const {
  return now() - renewed_at_ > std::int64_t{late_after} * renewal_milliseconds_;
}

Status OwnLease::wait_until_free(Members& members, bool has_block_device) {
  members_ = &members;
  has_block_device_ = has_block_device;
  CALPE_TRY(Look free, look_until_free(members));
  seen_ = std::move(free.marks);
  return Done{};
}

Status OwnLease::check_free() {
  if (members_ == nullptr) return Done{};
  const Look now = look(*members_);
  if (now.marks == seen_) return Done{};
  if (!now.held_leases.empty()) return in_use(now.held_leases.front());
  return invalid("another server changed the array while it was being opened; try again");
}

// Files are protected by their locks; disks may be reachable over other paths or from other hosts.
void OwnLease::settle() {
  if (members_ != nullptr && has_block_device_) std::this_thread::sleep_for(claims_settle);
}

Status wait_for_lease(Members& members) {
  CALPE_TRY(const Look free, look_until_free(members));
  static_cast<void>(free);
  return Done{};
}

Result<std::unique_ptr<Array>> open_exclusively(FileMembers& members, OwnLease& lease,
                                                const OpenOptions& options) {
  CALPE_CHECK(lease.wait_until_free(members, members.has_block_device()));
  OpenOptions with_lease = options;
  with_lease.lease = &lease;
  return Array::open(members, with_lease);
}

Result<std::unique_ptr<Array>> open_exclusively(Members& io, const FileMembers& files,
                                                OwnLease& lease) {
  CALPE_CHECK(lease.wait_until_free(io, files.has_block_device()));
  return Array::open(io, {.lease = &lease});
}

Status grow_parity_exclusively(FileMembers& members, unsigned place) {
  OwnLease lease;
  CALPE_CHECK(lease.wait_until_free(members, members.has_block_device()));
  return grow_parity(members, place, {.lease = &lease});
}

}  // namespace calpe::array
