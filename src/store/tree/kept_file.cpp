// SPDX-License-Identifier: Apache-2.0
#include "store/tree/kept_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "base/all_zero.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/descriptor.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t piece_bytes_max = std::uint64_t{1} << 20U;

class KeptFile {
 public:
  KeptFile(int file, const std::string& shown) : file_(file), shown_(shown) {}

  // Valid until the next call; shorter at the end of the file.
  Result<std::span<const std::byte>> read(std::uint64_t offset, std::uint64_t bytes) {
    buffer_.resize(static_cast<std::size_t>(bytes));
    std::size_t got = 0;
    while (got < buffer_.size()) {
      const ssize_t count = ::pread(file_, buffer_.data() + got, buffer_.size() - got,
                                    static_cast<off_t>(offset + got));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return system_error("read", shown_);
      if (count == 0) break;
      got += static_cast<std::size_t>(count);
    }
    return std::span<const std::byte>(buffer_).first(got);
  }

  // Skips holes of the file.
  Result<bool> is_zero(std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const off_t data = ::lseek(file_, static_cast<off_t>(begin), SEEK_DATA);
      if (data < 0 && errno == ENXIO) return true;
      if (data > 0) begin = std::max(begin, static_cast<std::uint64_t>(data));
      if (begin >= end) return true;
      CALPE_TRY(const auto piece, read(begin, std::min(end - begin, piece_bytes_max)));
      if (piece.empty() || !is_all_zero(piece)) return false;
      begin += piece.size();
    }
    return true;
  }

 private:
  int file_;
  const std::string& shown_;
  std::vector<std::byte> buffer_;
};

Result<bool> has_target(int folder, const std::string& name, const Entry& entry,
                        const std::string& shown) {
  std::string target(entry.target.size() + 1, '\0');
  const ssize_t got = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (got < 0) return system_error("read link", shown);
  target.resize(static_cast<std::size_t>(got));
  return target == entry.target;
}

}  // namespace

Result<bool> has_content(int folder, const std::string& name, const Entry& entry,
                         const std::string& shown, ContentPieces& content) {
  if (entry.type == EntryType::link) return has_target(folder, name, entry, shown);
  const Descriptor opened(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened) return system_error("open", shown);
  KeptFile file(opened.get(), shown);
  std::uint64_t at = 0;
  for (const Extent& extent : entry.extents) {
    CALPE_TRY(const bool is_hole, file.is_zero(at, extent.file_offset));
    if (!is_hole) return false;
    for (std::uint64_t done = 0; done < extent.bytes;) {
      CALPE_TRY(const auto wanted, content.next(extent.content_offset + done, extent.bytes - done));
      CALPE_TRY(const auto there, file.read(extent.file_offset + done, wanted.size()));
      if (!std::equal(wanted.begin(), wanted.end(), there.begin(), there.end())) return false;
      done += wanted.size();
    }
    at = extent.file_offset + extent.bytes;
  }
  return file.is_zero(at, entry.file_bytes);
}

Error other_bytes_error(const std::string& shown) {
  return make_error(ErrorCode::invalid_argument, shown_path(shown),
                    " has the size and time of the protected file, but other bytes; use "
                    "--overwrite to replace it");
}

}  // namespace calpe::store
