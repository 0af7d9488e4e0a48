// SPDX-License-Identifier: Apache-2.0
// Members that are files or block devices. A batch is one system call if io_uring is available.
// Each member is locked while it is open, and block devices are claimed (O_EXCL), so that two
// programs never write to one array, and mounted disks are refused.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "array/format/members.hpp"
#include "array/format/types.hpp"

namespace calpe::array {

struct OpenedMember;

enum class MemberAccess {
  read,        // inspect only
  serve_read,  // serve read-only: block devices are claimed
  write,
};

class FileMembers final : public Members {
 public:
  // Opens the paths in order. A path that cannot be opened becomes an empty slot, with the reason
  // in why(). Fails with invalid_argument if a file occurs twice, under any name, or is in use by
  // another program.
  static Result<std::unique_ptr<FileMembers>> open(std::vector<std::string> paths,
                                                   MemberAccess access);
  ~FileMembers() override;
  FileMembers(const FileMembers&) = delete;
  FileMembers& operator=(const FileMembers&) = delete;

  unsigned count() const override;
  std::uint64_t bytes(unsigned member) const override;
  void run(std::span<MemberRequest> batch) override;
  void run_with(std::span<MemberRequest> batch, const std::function<void()>& work) override;

  std::string name(unsigned member) const override { return path(member); }
  std::string path(unsigned member) const;
  std::string why(unsigned member) const;  // why the slot is empty; "" if it is not
  // The slot of this file or disk, under any name.
  std::optional<unsigned> slot_of(const std::string& path) const;

  // Opens `path` into the slot and closes the file that was there. Running requests finish with the
  // old file. Fails with io or invalid_argument as open() does, and then changes nothing.
  Status put(unsigned member, const std::string& path);
  Result<unsigned> add(const std::string& path);  // into a new slot at the end
  bool has_block_device() const;
  // True for a file without a name, which disappears when we close it.
  bool is_deleted(unsigned member) const;
  bool is_truncated(unsigned member) const;  // shorter than when it was opened
  // Takes note of a file or disk that was made larger. Does nothing if it was not.
  void measure(unsigned member);
  // On FUSE, a network file system or a network block device.
  bool is_remote(unsigned member) const;
  // Closes a member that is no longer used, and unlocks it.
  void release(unsigned member);

  // Call it after the last fork, which rings of io_uring do not survive.
  void use_uring() { is_uring_wanted_ = true; }

 private:
  struct Slot {
    std::string path;
    std::string why;
    std::atomic<const OpenedMember*> opened = nullptr;
  };
  static constexpr unsigned slots_max = members_most;

  explicit FileMembers(MemberAccess access);
  const OpenedMember* opened(unsigned member) const;
  Result<std::unique_ptr<OpenedMember>> open_member(const std::string& path, unsigned for_slot);

  MemberAccess access_;
  std::atomic<bool> is_uring_wanted_ = false;
  mutable std::mutex mutex_;  // guards names and changes; requests do not take it
  std::atomic<unsigned> count_ = 0;
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(slots_max);
  // Kept until the end, because a request may still use a member that was replaced.
  std::vector<std::unique_ptr<OpenedMember>> all_;
};

// Adds why members could not be opened. If none could be opened, that becomes the error.
Error with_paths(Error error, const FileMembers& members);

}  // namespace calpe::array
