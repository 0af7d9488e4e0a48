// SPDX-License-Identifier: Apache-2.0
#include "store/io/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <limits>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/descriptor.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t offset_max = std::numeric_limits<off_t>::max();
// Start writeback each time this much of a file is written, because every file is synced in the
// end. The final sync is then much faster (14 files of 26 MiB: 0.06 s instead of 0.2 s).
constexpr std::uint64_t write_out_bytes = std::uint64_t{1} << 22U;

constexpr int links_max = 40;  // the limit of Linux

Error io_error(std::string_view verb, const std::string& path, int number = errno) {
  return make_error(ErrorCode::io, "cannot ", verb, " ", path, ": ", std::strerror(number));
}

FileId identity_of(const struct stat& about) {
  return {.device = about.st_dev, .number = about.st_ino};
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  const std::string& path() const noexcept override { return path_; }

  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    // An offset beyond the largest file size is beyond the end.
    if (offset > offset_max) return std::size_t{0};
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::uint64_t at = offset + done;
      if (at > offset_max) break;
      const ssize_t got = again_if_interrupted([&] {
        return pread(descriptor_.get(), bytes.data() + done, bytes.size() - done,
                     static_cast<off_t>(at));
      });
      if (got < 0) return io_error("read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
    if (offset > offset_max || bytes.size() > offset_max - offset) {
      return io_error("write", path_, EFBIG);
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t put = again_if_interrupted([&] {
        return pwrite(descriptor_.get(), bytes.data() + done, bytes.size() - done,
                      static_cast<off_t>(offset + done));
      });
      if (put < 0) return io_error("write", path_);
      if (put == 0) return io_error("write", path_, EIO);  // avoids an endless loop
      done += static_cast<std::size_t>(put);
    }
    begin_write_out(offset, offset + bytes.size());
    return Done{};
  }

  Result<std::uint64_t> size() override {
    struct stat about = {};
    if (fstat(descriptor_.get(), &about) != 0) return io_error("access", path_);
    return static_cast<std::uint64_t>(about.st_size);
  }

  // Moves the offset of the descriptor, which no read or write uses.
  DataRange data_from(std::uint64_t offset) override {
    if (offset > offset_max) return {no_more_data, no_more_data};
    const off_t begin = lseek(descriptor_.get(), static_cast<off_t>(offset), SEEK_DATA);
    if (begin < 0) return {errno == ENXIO ? no_more_data : offset, no_more_data};
    const off_t end = lseek(descriptor_.get(), begin, SEEK_HOLE);
    return {static_cast<std::uint64_t>(begin),
            end < 0 ? no_more_data : static_cast<std::uint64_t>(end)};
  }

  Status resize(std::uint64_t bytes) override {
    if (bytes > offset_max) return io_error("resize", path_, EFBIG);
    const int result = again_if_interrupted(
        [&] { return ftruncate(descriptor_.get(), static_cast<off_t>(bytes)); });
    if (result != 0) return io_error("resize", path_);
    return Done{};
  }

  void drop_cached(std::uint64_t offset, std::uint64_t bytes) override {
    posix_fadvise(descriptor_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                  POSIX_FADV_DONTNEED);
  }

  Status sync() override {
    // fsync would also wait for the timestamps, which are not needed.
    if (again_if_interrupted([&] { return fdatasync(descriptor_.get()); }) != 0) {
      return io_error("sync", path_);
    }
    return Done{};
  }

  int descriptor() const noexcept override { return descriptor_.get(); }

  Result<bool> lock(LockKind kind) override {
    const int wanted = kind == LockKind::exclusive ? LOCK_EX : LOCK_SH;
    int number = lock_errno(wanted);
    // NFS grants exclusive locks only on files opened for writing; fall back to a shared lock.
    if (number == EBADF && wanted == LOCK_EX) number = lock_errno(LOCK_SH);
    if (number == 0) return true;
    if (number == EWOULDBLOCK) return false;
    // The file system has no locks.
    if (number == ENOLCK || number == ENOSYS || number == EOPNOTSUPP || number == EINVAL) {
      return true;
    }
    return io_error("lock", path_, number);
  }

  Result<FileId> identity() override {
    struct stat about = {};
    if (fstat(descriptor_.get(), &about) != 0) return io_error("access", path_);
    return identity_of(about);
  }

 private:
  int lock_errno(int operation) const {
    const int result =
        again_if_interrupted([&] { return flock(descriptor_.get(), operation | LOCK_NB); });
    return result == 0 ? 0 : errno;
  }

  void begin_write_out(std::uint64_t begin, std::uint64_t end) const {
    begin = begin / write_out_bytes * write_out_bytes;
    end = end / write_out_bytes * write_out_bytes;
    // Only a hint. Does not wait, so that sync() still gets any error.
    if (end > begin) {
      sync_file_range(descriptor_.get(), static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                      SYNC_FILE_RANGE_WRITE);
    }
  }

  Descriptor descriptor_;
  std::string path_;
};

// Does not block if the path is a pipe.
int open_name(const std::string& path, int flags) {
  return again_if_interrupted(
      [&] { return open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600); });
}

// Target and owner of a link.
struct Link {
  std::string target;
  uid_t owner = 0;
};

std::optional<Link> read_link(const std::string& path) {
  const Descriptor link(open_name(path, O_PATH | O_NOFOLLOW));
  struct stat about = {};
  if (!link || fstat(link.get(), &about) != 0 || !S_ISLNK(about.st_mode)) return std::nullopt;
  std::array<char, PATH_MAX> target = {};
  const ssize_t length = readlinkat(link.get(), "", target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) == target.size()) return std::nullopt;
  const std::string named(target.data(), static_cast<std::size_t>(length));
  return Link{.target = named.starts_with('/') ? named : in_folder(folder_of(path), named),
              .owner = about.st_uid};
}

// Links to shards on other disks are common, so they are followed. A link of another user is
// followed only to a file of that user.
Descriptor open_following(std::string path, int flags) {
  std::vector<uid_t> owners;
  for (int links = 0; links < links_max; ++links) {
    Descriptor opened(open_name(path, flags | O_NOFOLLOW));
    if (opened) {
      struct stat about = {};
      const bool is_allowed =
          owners.empty() || (fstat(opened.get(), &about) == 0 &&
                             std::all_of(owners.begin(), owners.end(),
                                         [&](uid_t owner) { return owner == about.st_uid; }));
      if (is_allowed) return opened;
      errno = EACCES;
      return {};
    }
    if (errno != ELOOP || is_temporary(path)) return {};
    const std::optional<Link> link = read_link(path);
    if (!link) {
      errno = ELOOP;
      return {};
    }
    if (link->owner != 0 && link->owner != geteuid()) owners.push_back(link->owner);
    path = link->target;
  }
  errno = ELOOP;
  return {};
}

Result<std::unique_ptr<File>> open_file(const std::string& path, int flags, std::string_view verb) {
  Descriptor descriptor = open_following(path, flags);
  struct stat about = {};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &about) != 0) return io_error(verb, path);
  if (!S_ISREG(about.st_mode)) {
    return make_error(ErrorCode::io, "cannot ", verb, " ", path, ": not a regular file");
  }
  return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(descriptor), path));
}

class PosixFiles final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path) override {
    return open_file(path, O_RDONLY, "open");
  }
  Result<std::unique_ptr<File>> open_to_change(const std::string& path) override {
    return open_file(path, O_RDWR, "open");
  }
  Result<std::unique_ptr<File>> create(const std::string& path) override {
    return open_file(path, O_RDWR | O_CREAT | O_EXCL, "create");
  }

  Status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return io_error(text("rename ", from, " to"), to);
    return Done{};
  }

  Status remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return io_error("remove", path);
    return Done{};
  }

  Status make_folders(const std::string& path) override {
    struct stat about = {};
    if (stat(path.c_str(), &about) == 0) {
      return S_ISDIR(about.st_mode) ? Status(Done{}) : io_error("create directory", path, ENOTDIR);
    }
    if (errno != ENOENT) return io_error("create directory", path);
    std::string trimmed = path;
    while (trimmed.size() > 1 && trimmed.back() == '/') {
      trimmed.pop_back();
    }
    // Terminates: every parent is shorter, and "/" and "." exist.
    const std::string parent = folder_of(trimmed);
    if (parent == trimmed || path.empty()) return io_error("create directory", path, ENOENT);
    CALPE_CHECK(make_folders(parent));
    // Another process may have created it in the meantime.
    if (mkdir(trimmed.c_str(), 0777) != 0 && errno != EEXIST)
      return io_error("create directory", path);
    return sync_folder(parent);
  }

  Status sync_folder(const std::string& path) override {
    const Descriptor folder(again_if_interrupted(
        [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (folder.get() < 0) return io_error("sync directory", path);
    const int result = again_if_interrupted([&] { return fsync(folder.get()); });
    // EINVAL: not supported, for example by some network file systems.
    if (result != 0 && errno != EINVAL) return io_error("sync directory", path);
    return Done{};
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
    if (!folder) return io_error("list", path);
    std::vector<std::string> names;
    for (;;) {
      errno = 0;  // distinguishes the end from an error
      const dirent* entry = readdir(folder.get());
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    if (errno != 0) return io_error("list", path);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<FileId> identity(const std::string& path) override {
    struct stat about = {};
    if (stat(path.c_str(), &about) != 0) return io_error("access", path);
    return identity_of(about);
  }
};

}  // namespace

Status FileSystem::write_all(std::span<const Write> writes) {
  for (const Write& write : writes) {
    CALPE_CHECK(write.file->write_at(write.bytes, write.offset));
  }
  return Done{};
}

void FileSystem::read_all(std::span<Read> reads) {
  for (Read& read : reads) {
    const Result<std::size_t> got = read.file->read_at(read.bytes, read.offset);
    read.got = got ? *got : 0;
  }
}

FileSystem& posix_files() {
  static PosixFiles files;
  return files;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string in_folder(const std::string& folder, std::string_view name) {
  return text(folder, folder.ends_with('/') ? "" : "/", name);
}

}  // namespace calpe::store
