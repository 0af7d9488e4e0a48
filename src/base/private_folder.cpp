// SPDX-License-Identifier: Apache-2.0
#include "base/private_folder.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe {

namespace {

constexpr mode_t owner_only = 0600;
constexpr mode_t written_by_others = S_IWGRP | S_IWOTH;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

Status write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return make_error(ErrorCode::io, "write ", path, ": ", std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return Done{};
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<PrivateFolder> PrivateFolder::open(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) {
    if (errno == ENOTDIR) return make_error(ErrorCode::io, path, " is not a directory");
    return make_error(ErrorCode::io, "directory ", path, ": ", std::strerror(errno));
  }
  struct stat about = {};
  if (fstat(folder.get(), &about) != 0) {
    return make_error(ErrorCode::io, "directory ", path, ": ", std::strerror(errno));
  }
  if (about.st_uid != geteuid()) {
    return make_error(ErrorCode::io, "directory ", path, " belongs to user ", about.st_uid,
                      "; expected ", geteuid());
  }
  if ((about.st_mode & written_by_others) != 0) {
    return make_error(ErrorCode::io, "directory ", path,
                      " is writable by other users; expected only by its owner");
  }
  return PrivateFolder(path, folder.release());
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PrivateFolder::~PrivateFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::string> PrivateFolder::read(const std::string& name) const {
  const std::string path = text(path_, "/", name);
  // O_NONBLOCK: do not wait for the other end of a pipe.
  const Descriptor file(
      openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat about = {};
  if (file.get() < 0 || fstat(file.get(), &about) != 0) {
    return make_error(ErrorCode::io, "read ", path, ": ", std::strerror(errno));
  }
  if (!S_ISREG(about.st_mode)) return make_error(ErrorCode::io, path, " is not a regular file");
  if (about.st_uid != geteuid() || (about.st_mode & written_by_others) != 0) {
    return make_error(ErrorCode::io, path,
                      " is writable by other users; expected only by its owner");
  }
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return make_error(ErrorCode::io, "read ", path, ": ", std::strerror(errno));
    if (got == 0) break;  // the file was truncated
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Status PrivateFolder::create(const std::string& name, std::string_view bytes) const {
  const std::string path = text(path_, "/", name);
  const Descriptor file(openat(descriptor_, name.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, owner_only));
  if (file.get() < 0) {
    return make_error(ErrorCode::io, "create ", path, ": ", std::strerror(errno));
  }
  Status written = write_all(file.get(), bytes, path);
  if (!written) remove(name);
  return written;
}

Status PrivateFolder::replace(const std::string& name, std::string_view bytes) const {
  static std::atomic<unsigned> count = 0;
  const std::string aside = text(name, ".", getpid(), ".", count++, ".new");
  CALPE_CHECK(create(aside, bytes));
  if (renameat(descriptor_, aside.c_str(), descriptor_, name.c_str()) == 0) return Done{};
  Error error =
      make_error(ErrorCode::io, "rename to ", path_, "/", name, ": ", std::strerror(errno));
  remove(aside);
  return error;
}

void PrivateFolder::remove(const std::string& name) const noexcept {
  unlinkat(descriptor_, name.c_str(), 0);
}

void PrivateFolder::mark_used(const std::string& name) const noexcept {
  utimensat(descriptor_, name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<PrivateFolder::Entry> PrivateFolder::list() const {
  std::vector<Entry> entries;
  // Use a new descriptor, because reading moves its position.
  Descriptor again(openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      again.get() < 0 ? nullptr : fdopendir(again.get()), &closedir);
  if (!folder) return entries;
  again.release();  // now owned by the DIR
  while (const dirent* const found = readdir(folder.get())) {
    struct stat about = {};
    if (fstatat(descriptor_, found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(about.st_mode)) continue;
    entries.push_back({.name = found->d_name,
                       .used = nanoseconds(about.st_mtim),
                       .bytes = static_cast<std::uint64_t>(about.st_size)});
  }
  return entries;
}

}  // namespace calpe
