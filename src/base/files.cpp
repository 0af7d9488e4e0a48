// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.hpp"
#include "base/text.hpp"

namespace calpe {

namespace {

Error io_error(std::string_view what, const std::string& path) {
  return make_error(ErrorCode::io, "cannot ", what, " ", path, ": ", std::strerror(errno));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  // O_NONBLOCK: do not wait for the other end of a pipe.
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about = {};
  if (file.get() < 0 || fstat(file.get(), &about) != 0) return io_error("read", path);
  if (!S_ISREG(about.st_mode)) return make_error(ErrorCode::io, path, " is not a regular file");
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path);
    if (got == 0) break;  // the file was truncated
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Status replace_file(const std::string& path, std::string_view bytes, Readers readers) {
  static std::atomic<unsigned> count = 0;
  const std::string aside = text(path, ".", getpid(), ".", count++, ".new");
  {
    const File file(
        open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(readers)));
    if (file.get() < 0) return io_error("create", aside);
    if (!write_all(file.get(), bytes)) {
      Error error = io_error("write", aside);
      remove_file(aside);
      return error;
    }
  }
  if (std::rename(aside.c_str(), path.c_str()) != 0) {
    Error error = io_error("rename to", path);
    remove_file(aside);
    return error;
  }
  return Done{};
}

void remove_file(const std::string& path) noexcept {
  unlink(path.c_str());
}

Result<TemporaryFolder> TemporaryFolder::create() {
  std::string path = environment("TMPDIR").value_or("/tmp") + "/calpe-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return io_error("create", path);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace calpe
