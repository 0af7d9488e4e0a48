// SPDX-License-Identifier: Apache-2.0
#include "store/array/exclusive.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/array/places.hpp"

namespace calpe::store::array {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t renewal_milliseconds_max = 10'000;  // a forged one must not wait for ever
// Longer than a server takes from its last look at a free lease to its claim.
constexpr std::chrono::milliseconds claims_settle(100);
constexpr unsigned late_after = 3;  // renewal times

// Leases that this process holds: one that is not among them has ended, though its process lives.
struct Held {
  std::mutex mutex;
  std::set<std::uint64_t> ids;
};
Held& held() {
  static auto* const all = new Held();
  return *all;
}

std::int64_t now_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
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
  // Of each place: changes with every superblock and renewal.
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> marks;
  std::vector<Lease> held_leases;  // by processes that may still run
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
                 " serves it and renews its lease; stop that server first, or name its control "
                 "socket");
}

bool is_of_this_kernel(const LeaseHolder& holder) {
  const LeaseHolder us = this_process();
  return us.boot != Uuid{} && holder.boot == us.boot && holder.pid_namespace == us.pid_namespace &&
         holder.pid != 0;
}

OpenOptions with_lease(const FileMembers& members, OwnLease& lease, const OpenOptions& options) {
  OpenOptions all = options;
  all.lease_id = lease.id();
  all.holder = this_process(lease.renewal_milliseconds());
  all.is_lease_late = [&lease] { return lease.is_late(); };
  // Files are locked; disks may have other paths and other hosts.
  if (members.has_block_device()) all.settle = [] { std::this_thread::sleep_for(claims_settle); };
  return all;
}

}  // namespace

OwnLease::OwnLease(std::uint32_t renewal_milliseconds)
    : renewal_milliseconds_(std::clamp(renewal_milliseconds, 10U, renewal_milliseconds_max)),
      id_(load_little<std::uint64_t>(random_uuid().data()) | 1U),
      renewed_at_(now_milliseconds()) {
  const std::lock_guard lock(held().mutex);
  held().ids.insert(id_);
}

OwnLease::~OwnLease() {
  const std::lock_guard lock(held().mutex);
  held().ids.erase(id_);
}

Status OwnLease::renew(Array& array) {
  const std::int64_t begun = now_milliseconds();
  CALPE_CHECK(array.renew_lease(this_process(renewal_milliseconds_)));
  renewed_at_ = begun;
  return Done{};
}

bool OwnLease::is_late() const {
  return now_milliseconds() - renewed_at_ > std::int64_t{late_after} * renewal_milliseconds_;
}

Status wait_for_lease(Members& members) {
  const Look first = look(members);
  if (first.held_leases.empty()) return Done{};
  std::uint32_t renewal = 0;
  for (const Lease& lease : first.held_leases) {
    if (is_of_this_kernel(lease.holder)) return in_use(lease);  // it runs
    renewal = std::max(renewal, lease.holder.renewal_milliseconds);
  }
  renewal = std::clamp(renewal, 10U, renewal_milliseconds_max);
  const Clock::time_point end = Clock::now() + lease_waits * std::chrono::milliseconds(renewal);
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(renewal) / 2);
    if (look(members).marks != first.marks) return in_use(first.held_leases.front());
  }
  return Done{};
}

Result<std::unique_ptr<Array>> open_exclusively(FileMembers& members, OwnLease& lease,
                                                const OpenOptions& options) {
  CALPE_CHECK(wait_for_lease(members));
  return Array::open(members, with_lease(members, lease, options));
}

Status grow_parity_exclusively(FileMembers& members, unsigned place) {
  OwnLease lease;
  CALPE_CHECK(wait_for_lease(members));
  return grow_parity(members, place, with_lease(members, lease, {}));
}

}  // namespace calpe::store::array
