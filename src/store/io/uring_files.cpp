// SPDX-License-Identifier: Apache-2.0
#include "store/io/uring_files.hpp"

#include <cstring>

#include "base/text.hpp"
#include "base/try.hpp"

#if CALPE_HAS_URING
#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

#include "store/io/uring_ring.hpp"
#endif

namespace calpe::store {

#if CALPE_HAS_URING

namespace {

constexpr std::size_t direct_alignment = 4096;
constexpr std::size_t direct_bytes_min = std::size_t{1} << 16U;

// A file opened for writing, with a second descriptor that bypasses the page cache. Shards are not
// read again soon, and copying into the cache took half of the time.
class UringFile final : public File {
 public:
  explicit UringFile(std::unique_ptr<File> file)
      : file_(std::move(file)),
        // Not by name, which may be another file's by now. -1: the file system cannot do it.
        direct_(::open(text("/proc/self/fd/", file_->descriptor()).c_str(),
                       O_WRONLY | O_DIRECT | O_CLOEXEC)) {}
  ~UringFile() override {
    if (direct_ >= 0) ::close(direct_);
  }
  UringFile(const UringFile&) = delete;
  UringFile& operator=(const UringFile&) = delete;

  const std::string& path() const noexcept override { return file_->path(); }
  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    return file_->read_at(bytes, offset);
  }
  Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
    return file_->write_at(bytes, offset);
  }
  Result<std::uint64_t> size() override { return file_->size(); }
  DataRange data_from(std::uint64_t offset) override { return file_->data_from(offset); }
  void drop_cached(std::uint64_t offset, std::uint64_t bytes) override {
    file_->drop_cached(offset, bytes);
  }
  Status resize(std::uint64_t bytes) override { return file_->resize(bytes); }
  Status sync() override { return file_->sync(); }
  Result<bool> lock(LockKind kind) override { return file_->lock(kind); }
  Result<FileId> identity() override { return file_->identity(); }
  int descriptor() const noexcept override { return file_->descriptor(); }
  int direct_descriptor() const noexcept override { return direct_; }

 private:
  std::unique_ptr<File> file_;
  int direct_;
};

Result<std::unique_ptr<File>> with_direct(Result<std::unique_ptr<File>> file) {
  if (!file) return file;
  return std::unique_ptr<File>(std::make_unique<UringFile>(*std::move(file)));
}

class UringFiles final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path) override {
    return posix_files().open(path);
  }
  Result<std::unique_ptr<File>> open_to_change(const std::string& path) override {
    return with_direct(posix_files().open_to_change(path));
  }
  Result<std::unique_ptr<File>> create(const std::string& path) override {
    return with_direct(posix_files().create(path));
  }
  Status rename(const std::string& from, const std::string& to) override {
    return posix_files().rename(from, to);
  }
  Status remove(const std::string& path) override { return posix_files().remove(path); }
  Status make_folders(const std::string& path) override { return posix_files().make_folders(path); }
  Status sync_folder(const std::string& path) override { return posix_files().sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return posix_files().list(path);
  }
  Result<FileId> identity(const std::string& path) override { return posix_files().identity(path); }

  Status write_all(std::span<const Write> writes) override {
    UringRing& ring = uring_of_this_thread();
    if (ring.error() != 0 || !can_take(writes) ||
        !std::all_of(writes.begin(), writes.end(), can_be_direct)) {
      return FileSystem::write_all(writes);
    }
    Status all = Done{};
    ring.run(
        writes.size(),
        [&](io_uring_sqe* entry, std::size_t i) {
          io_uring_prep_write(entry, writes[i].file->direct_descriptor(), writes[i].bytes.data(),
                              static_cast<unsigned>(writes[i].bytes.size()), writes[i].offset);
        },
        [&](std::size_t i, int result) {
          const std::size_t done = result > 0 ? static_cast<std::size_t>(result) : 0;
          if (done == writes[i].bytes.size()) return;
          // Short transfer, EINTR, EAGAIN or a stricter alignment: finish with ordinary calls,
          // which also report errors.
          Status rest =
              writes[i].file->write_at(writes[i].bytes.subspan(done), writes[i].offset + done);
          if (all && !rest) all = std::move(rest);
        });
    return all;
  }

  void read_all(std::span<Read> reads) override {
    UringRing& ring = uring_of_this_thread();
    if (ring.error() != 0 || !can_take(reads)) return FileSystem::read_all(reads);
    ring.run(
        reads.size(),
        [&](io_uring_sqe* entry, std::size_t i) {
          io_uring_prep_read(entry, reads[i].file->descriptor(), reads[i].bytes.data(),
                             static_cast<unsigned>(reads[i].bytes.size()), reads[i].offset);
        },
        [&](std::size_t i, int result) {
          Read& read = reads[i];
          read.got = result > 0 ? static_cast<std::size_t>(result) : 0;
          if (read.got == read.bytes.size()) return;
          const Result<std::size_t> rest =
              read.file->read_at(read.bytes.subspan(read.got), read.offset + read.got);
          read.got += rest ? *rest : 0;
        });
  }
  bool reads_together() const noexcept override { return true; }

 private:
  template <class Transfers>
  static bool can_take(const Transfers& transfers) {
    for (const auto& transfer : transfers) {
      const bool is_usual = transfer.file->descriptor() >= 0 &&
                            transfer.offset <= std::uint64_t{1} << 62U &&
                            transfer.bytes.size() <= std::size_t{1} << 30U;
      if (!is_usual) return false;
    }
    return true;
  }
  // Direct I/O must be aligned, and is not worth it for little data.
  static bool can_be_direct(const Write& write) {
    const auto address = reinterpret_cast<std::uintptr_t>(write.bytes.data());
    return write.file->direct_descriptor() >= 0 &&
           (address | write.offset | write.bytes.size()) % direct_alignment == 0 &&
           write.bytes.size() >= direct_bytes_min;
  }
};

}  // namespace

Result<FileSystem*> uring_files() {
  const int error = uring_of_this_thread().error();
  if (error != 0) {
    return make_error(ErrorCode::backend_unavailable,
                      "the kernel refuses io_uring: ", std::strerror(-error));
  }
  static UringFiles files;
  return &files;
}

#else

Result<FileSystem*> uring_files() {
  return make_error(ErrorCode::backend_unavailable,
                    "this build has no io_uring support (built without liburing)");
}

#endif

}  // namespace calpe::store
