// SPDX-License-Identifier: Apache-2.0
// Opens an array for one server at a time: respects the lease of another server, then takes its
// own.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "array/array.hpp"
#include "array/format/members.hpp"
#include "array/members/file_members.hpp"

namespace calpe::array {

// Identifies the superblocks that were read; changes with every superblock and renewal.
using LeaseMarks = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;

// The lease of this process on one array. If Array::close() did not release it, it ends with this
// object.
class OwnLease final : public LeaseKeeper {
 public:
  explicit OwnLease(std::uint32_t renewal_milliseconds = lease_renewal_milliseconds);
  ~OwnLease() override;
  OwnLease(const OwnLease&) = delete;
  OwnLease& operator=(const OwnLease&) = delete;

  // Waits as wait_for_lease() does. Call it before the array on these members is opened.
  Status wait_until_free(Members& members, bool has_block_device);

  std::uint64_t id() const noexcept override { return id_; }
  LeaseHolder holder() const override { return this_process(renewal_milliseconds_); }
  Status check_free() override;
  void settle() override;
  std::int64_t now() const override;
  void set_renewed(std::int64_t when) noexcept override { renewed_at_ = when; }
  bool is_due() const override;
  bool is_late() const override;

 private:
  std::uint32_t renewal_milliseconds_;
  std::uint64_t id_;
  std::atomic<std::int64_t> renewed_at_;
  Members* members_ = nullptr;
  bool has_block_device_ = false;
  LeaseMarks seen_;  // at the time the lease was free
};

// Returns at once if no lease is held, or its holder ran on this host and has ended. Otherwise
// watches the superblocks for lease_waits renewal times (10 s by default). Fails with
// invalid_argument if the lease is renewed.
Status wait_for_lease(Members& members);

// wait_for_lease(), then Array::open() with our lease, which must outlive the array.
Result<std::unique_ptr<Array>> open_exclusively(FileMembers& members, OwnLease& lease,
                                                const OpenOptions& options = {});
// The same, with requests that pass through `io`, members on top of `files`.
Result<std::unique_ptr<Array>> open_exclusively(Members& io, const FileMembers& files,
                                                OwnLease& lease);
Status grow_parity_exclusively(FileMembers& members, unsigned place);

}  // namespace calpe::array
