// SPDX-License-Identifier: Apache-2.0
#include "array/members/file_members.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <linux/fs.h>
#include <string_view>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "array/members/opened_member.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

// io_uring requests of a killed program hold its files for a moment after its end.
template <class Try>
bool retry_while_held(const Try& is_done) {
  constexpr int tries = 100;
  constexpr std::chrono::milliseconds between_tries(10);
  for (int i = 0; i < tries; ++i) {
    if (is_done()) return true;
    std::this_thread::sleep_for(between_tries);
  }
  return false;
}

bool lock(int descriptor, int kind) {
  return retry_while_held([&] {
    return store::again_if_interrupted([&] { return ::flock(descriptor, kind | LOCK_NB); }) == 0;
  });
}

Error in_use(const std::string& path) {
  return invalid(path, " is in use by another program or mounted; if nbdkit serves the array, ",
                 "use calpe array --control SOCKET");
}

Result<std::uint64_t> size_of(int descriptor, const struct stat& status, const std::string& path) {
  if (S_ISREG(status.st_mode)) return static_cast<std::uint64_t>(status.st_size);
  std::uint64_t size = 0;
  if (S_ISBLK(status.st_mode) && ::ioctl(descriptor, BLKGETSIZE64, &size) == 0) return size;
  return make_error(
      ErrorCode::io, "cannot get the size of ", path, ": ",
      S_ISBLK(status.st_mode) ? std::strerror(errno) : "it is neither a file nor a block device");
}

// Local disks report an error when they do not answer: the kernel has its own time limits. FUSE,
// network file systems and network block devices may wait for ever.
bool is_remote_file(int descriptor, const struct stat& status) {
  if (S_ISBLK(status.st_mode)) {
    const std::string link =
        text("/sys/dev/block/", major(status.st_rdev), ":", minor(status.st_rdev));
    char target[PATH_MAX] = {};
    if (::readlink(link.c_str(), target, sizeof target - 1) < 0) return false;
    const std::string_view name(
        std::strrchr(target, '/') == nullptr ? target : std::strrchr(target, '/') + 1);
    return name.starts_with("nbd") || name.starts_with("rbd");
  }
  constexpr std::uint32_t remote_types[] = {
      0x65735546,  // FUSE
      0x6969,      // NFS
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x01021997,  // 9P
      0x00C36400,  // Ceph
  };
  struct statfs file_system = {};
  if (::fstatfs(descriptor, &file_system) != 0) return false;
  const auto type = static_cast<std::uint32_t>(file_system.f_type);
  return std::find(std::begin(remote_types), std::end(remote_types), type) !=
         std::end(remote_types);
}

}  // namespace

Result<std::unique_ptr<FileMembers>> FileMembers::open(std::vector<std::string> paths,
                                                       MemberAccess access) {
  return guarded([&]() -> Result<std::unique_ptr<FileMembers>> {
    if (paths.size() > slots_max)
      return invalid(paths.size(), " members given; expected at most ", slots_max);
    std::unique_ptr<FileMembers> members(new FileMembers(access));
    for (std::string& path : paths) {
      const unsigned member = members->count_;
      Slot& slot = members->slots_[member];
      auto opened = members->open_member(path, member);
      if (!opened && opened.error().code != ErrorCode::io) return std::move(opened).error();
      if (opened) {
        slot.opened = opened->get();
        members->all_.push_back(*std::move(opened));
      } else {
        slot.why = std::move(opened).error().message;
      }
      slot.path = std::move(path);
      ++members->count_;
    }
    return members;
  });
}

FileMembers::FileMembers(MemberAccess access) : access_(access) {}

FileMembers::~FileMembers() = default;

Result<std::unique_ptr<OpenedMember>> FileMembers::open_member(const std::string& path,
                                                               unsigned for_slot) {
  const int rights = access_ == MemberAccess::write ? O_RDWR : O_RDONLY;
  // O_NONBLOCK: do not wait for the writer of a pipe.
  store::Descriptor descriptor(store::again_if_interrupted(
      [&] { return ::open(path.c_str(), rights | O_CLOEXEC | O_NONBLOCK); }));
  if (descriptor.get() < 0 && errno == EBUSY) return in_use(path);
  if (descriptor.get() < 0)
    return make_error(ErrorCode::io, "cannot open ", path, ": ", std::strerror(errno));
  struct stat status = {};
  if (::fstat(descriptor.get(), &status) != 0)
    return make_error(ErrorCode::io, "cannot get the status of ", path, ": ", std::strerror(errno));
  ::fcntl(descriptor.get(), F_SETFL, rights);  // without O_NONBLOCK, so that io_uring waits
  for (unsigned other = 0; other < count_; ++other) {
    const OpenedMember* const there = slots_[other].opened;
    if (other != for_slot && there != nullptr && there->is_same(status)) {
      return invalid(path, " and ", slots_[other].path,
                     " are the same file; give each member once");
    }
  }
  CALPE_TRY(const std::uint64_t size, size_of(descriptor.get(), status, path));
  const int kind = access_ == MemberAccess::write ? LOCK_EX : LOCK_SH;
  const OpenedMember* const before = slots_[for_slot].opened;
  const bool is_ours = before != nullptr && before->is_same(status);  // then the lock is ours, too
  if (is_ours) ::flock(before->descriptor.get(), LOCK_UN);
  if (!lock(descriptor.get(), kind)) return in_use(path);
  // No read-ahead: a third of it would be parity that the call does not need.
  ::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_RANDOM);
  // Reopen by descriptor, as the path may name another file by now.
  const std::string number = text("/proc/self/fd/", descriptor.get());
  const bool is_claimed = S_ISBLK(status.st_mode) && access_ != MemberAccess::read;
  if (is_claimed && is_ours) {  // we already hold the claim
    before->close_for_good();
    slots_[for_slot].opened = nullptr;
  }
  store::Descriptor direct;
  retry_while_held([&] {
    const int claim = is_claimed ? O_EXCL : 0;
    direct = store::Descriptor(::open(number.c_str(), rights | O_DIRECT | O_CLOEXEC | claim));
    return direct.get() >= 0 || !is_claimed || errno != EBUSY;
  });
  if (is_claimed && !direct) return in_use(path);
  const bool is_remote = is_remote_file(descriptor.get(), status);
  return std::unique_ptr<OpenedMember>(
      new OpenedMember{std::move(descriptor), std::move(direct), size, status.st_dev, status.st_ino,
                       S_ISBLK(status.st_mode) ? status.st_rdev : dev_t{0}, path, is_remote});
}

unsigned FileMembers::count() const {
  return count_;
}

const OpenedMember* FileMembers::opened(unsigned member) const {
  return member < count_ ? slots_[member].opened.load() : nullptr;
}

std::uint64_t FileMembers::bytes(unsigned member) const {
  const OpenedMember* const there = opened(member);
  return there == nullptr ? 0 : there->bytes.load();
}

std::string FileMembers::path(unsigned member) const {
  const std::lock_guard lock(mutex_);
  return member < count_ ? slots_[member].path : "";
}

std::string FileMembers::why(unsigned member) const {
  const std::lock_guard lock(mutex_);
  return member < count_ ? slots_[member].why : "";
}

std::optional<unsigned> FileMembers::slot_of(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  struct stat status = {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  for (unsigned member = 0; member < count_; ++member) {
    const OpenedMember* const there = slots_[member].opened;
    if (slots_[member].path == path || (is_there && there != nullptr && there->is_same(status)))
      return member;
  }
  return std::nullopt;
}

Status FileMembers::put(unsigned member, const std::string& path) {
  return guarded([&]() -> Status {
    const std::lock_guard lock(mutex_);
    if (member >= count_) return invalid("slot is ", member, "; expected less than ", count());
    CALPE_TRY(std::unique_ptr<OpenedMember> opened, open_member(path, member));
    all_.reserve(all_.size() + 1);
    Slot& slot = slots_[member];
    const OpenedMember* const before = slot.opened.exchange(opened.get());
    if (before != nullptr) before->close_for_good();
    slot.path = path;
    slot.why.clear();
    all_.push_back(std::move(opened));
    return Done{};
  });
}

Result<unsigned> FileMembers::add(const std::string& path) {
  return guarded([&]() -> Result<unsigned> {
    const std::lock_guard lock(mutex_);
    const unsigned member = count_;
    if (member == slots_max) return invalid("the array already has ", slots_max, " files or disks");
    CALPE_TRY(std::unique_ptr<OpenedMember> opened, open_member(path, member));
    all_.reserve(all_.size() + 1);
    slots_[member].path = path;
    slots_[member].opened = opened.get();
    all_.push_back(std::move(opened));
    ++count_;
    return member;
  });
}

bool FileMembers::is_deleted(unsigned member) const {
  const OpenedMember* const there = opened(member);
  struct stat status = {};
  return there != nullptr && there->block_device == 0 &&
         ::fstat(there->descriptor.get(), &status) == 0 && status.st_nlink == 0;
}

bool FileMembers::is_truncated(unsigned member) const {
  const OpenedMember* const there = opened(member);
  struct stat status = {};
  return there != nullptr && there->block_device == 0 &&
         ::fstat(there->descriptor.get(), &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) < there->bytes;
}

void FileMembers::measure(unsigned member) {
  const OpenedMember* const there = opened(member);
  struct stat status = {};
  if (there == nullptr || ::fstat(there->descriptor.get(), &status) != 0) return;
  const auto size = size_of(there->descriptor.get(), status, there->path);
  if (size && *size > there->bytes) there->bytes = *size;
}

bool FileMembers::is_remote(unsigned member) const {
  const OpenedMember* const there = opened(member);
  return there != nullptr && there->is_remote;
}

void FileMembers::release(unsigned member) {
  const std::lock_guard lock(mutex_);
  if (member >= count_) return;
  const OpenedMember* const before = slots_[member].opened.exchange(nullptr);
  if (before != nullptr) before->close_for_good();
  slots_[member].why = text(slots_[member].path, " is no longer used");
}

bool FileMembers::has_block_device() const {
  for (unsigned member = 0; member < count_; ++member) {
    const OpenedMember* const there = opened(member);
    if (there != nullptr && there->block_device != 0) return true;
  }
  return false;
}

Error with_paths(Error error, const FileMembers& members) {
  std::string reasons;
  bool is_any_open = false;
  for (unsigned place = 0; place < members.count(); ++place) {
    const std::string why = members.why(place);
    is_any_open = is_any_open || why.empty();
    reasons += text(reasons.empty() ? "" : "; ", why);
  }
  if (!is_any_open && !reasons.empty()) return {ErrorCode::io, reasons};
  for (unsigned place = 0; place < members.count(); ++place) {
    const std::string why = members.why(place);
    if (!why.empty()) error.message += text("; ", why);
  }
  return error;
}

void FileMembers::run(std::span<MemberRequest> batch) {
  run_with(batch, nullptr);
}

void FileMembers::run_with(std::span<MemberRequest> batch, const std::function<void()>& work) {
  thread_local std::vector<MemberWork> works;
  works.clear();
  for (MemberRequest& request : batch) {
    request.error.reset();
    const OpenedMember* const there = opened(request.member);
    if (there == nullptr) {
      request.error = make_error(ErrorCode::io, path(request.member), " is not open");
      continue;
    }
    works.push_back({&request, there});
  }
  if (works.size() > 1 && is_uring_wanted_ && run_with_uring(works, work)) return;
  for (const MemberWork& one : works)
    one.member->run(*one.request);
  if (work) work();
}

}  // namespace calpe::array
