// SPDX-License-Identifier: Apache-2.0
// Members of an array that are files or block devices: every batch is one call of the kernel where
// io_uring is there. Each is locked while it is open, and block devices are claimed (O_EXCL), so
// that no two programs write to one array, and none takes a disk that is mounted.
#pragma once
#include <atomic>
#include <cstdint>
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
  read,        // to look at
  serve_read,  // to serve: block devices are claimed
  write,
};

class FileMembers final : public Members {
 public:
  // In the order of paths. One that is not there or cannot be opened is an empty slot, and why()
  // says why: arrays live with that. Fails with invalid_argument when a path is there twice, under
  // whatever names, or when another program has one of them open.
  static Result<std::unique_ptr<FileMembers>> open(std::vector<std::string> paths,
                                                   MemberAccess access);
  ~FileMembers() override;
  FileMembers(const FileMembers&) = delete;
  FileMembers& operator=(const FileMembers&) = delete;

  unsigned count() const override;
  std::uint64_t bytes(unsigned member) const override;
  void run(std::span<MemberRequest> batch) override;

  std::string name(unsigned member) const override { return path(member); }
  std::string path(unsigned member) const;
  std::string why(unsigned member) const;  // it is empty; "" if it is not
  // The slot that has this path, under whatever name.
  std::optional<unsigned> slot_of(const std::string& path) const;

  // Opens what is at `path` now and puts it into the slot, in place of what was there, which is
  // closed. Requests that are under way go on with what they began with. Fails with io and
  // invalid_argument, as open() does, and nothing is changed then.
  Status put(unsigned member, const std::string& path);
  Result<unsigned> add(const std::string& path);  // into a new slot behind the others
  bool has_block_device() const;
  // A file that has no name any more: it is gone with us.
  bool is_deleted(unsigned member) const;
  bool is_truncated(unsigned member) const;  // a file that is shorter than when it was opened
  // A member that is not used any more: whoever wants it may have it.
  void release(unsigned member);

  // Rings of io_uring do not survive a fork: not before the process is the one that serves.
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
  mutable std::mutex mutex_;  // of names and of changes; requests take none
  std::atomic<unsigned> count_ = 0;
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(slots_max);
  // Never closed before the end: a request may have begun with one that was replaced since.
  std::vector<std::unique_ptr<OpenedMember>> all_;
};

// An error that speaks of places, with what is at each of them. Where none could be opened, that is
// the error.
Error with_paths(Error error, const FileMembers& members);

}  // namespace calpe::array
