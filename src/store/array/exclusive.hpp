// SPDX-License-Identifier: Apache-2.0
// Opens an array for one server at a time: honours the lease of another, then holds one itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "store/array/array.hpp"
#include "store/array/file_members.hpp"

namespace calpe::store::array {

// The lease of this process on one array. One that was not given up by Array::close() ends with it.
class OwnLease {
 public:
  explicit OwnLease(std::uint32_t renewal_milliseconds = lease_renewal_milliseconds);
  ~OwnLease();
  OwnLease(const OwnLease&) = delete;
  OwnLease& operator=(const OwnLease&) = delete;

  std::uint64_t id() const noexcept { return id_; }
  std::uint32_t renewal_milliseconds() const noexcept { return renewal_milliseconds_; }
  Status renew(Array& array);  // as Array::renew_lease()
  bool is_late() const;  // the last renewal is so long ago that another may wait for the lease

 private:
  std::uint32_t renewal_milliseconds_;
  std::uint64_t id_;
  std::atomic<std::int64_t> renewed_at_;
};

// Returns at once where no lease is held, or its holder ran on this host and has ended. Otherwise
// watches the superblocks for as long as the holder may take to renew it (lease_waits times its
// renewal time, 10 s if that was not changed). Fails with invalid_argument when it is renewed.
Status wait_for_lease(Members& members);

// wait_for_lease(), then Array::open() with our lease, which must outlive the array.
Result<std::unique_ptr<Array>> open_exclusively(FileMembers& members, OwnLease& lease,
                                                const OpenOptions& options = {});
Status grow_parity_exclusively(FileMembers& members, unsigned place);

}  // namespace calpe::store::array
