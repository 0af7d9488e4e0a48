// SPDX-License-Identifier: Apache-2.0
// The seam to the operating system: all that the store does to files goes through here, so that
// tests can make any call fail. Errors are io, name the path and say what the system said.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::store {

enum class LockKind : std::uint8_t {
  shared,     // with other shared ones: for reading
  exclusive,  // alone: for changing
};

// Which file it is, whatever its name. All zeros: the file system cannot tell.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool is_known() const noexcept { return device != 0 || number != 0; }
  bool operator==(const FileId&) const = default;
};

// Bytes of a file from `begin` up to `end`.
struct DataRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
inline constexpr std::uint64_t no_more_data = ~std::uint64_t{0};

class File {
 public:
  virtual ~File() = default;  // closes
  virtual const std::string& path() const noexcept = 0;
  // Fewer bytes than asked for only at the end of the file.
  virtual Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) = 0;
  virtual Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) = 0;
  virtual Result<std::uint64_t> size() = 0;
  // The first bytes at or after `offset` that are not a hole, which reads as zeros; begins with
  // no_more_data where a hole goes to the end. File systems that cannot tell report one range of
  // data.
  virtual DataRange data_from(std::uint64_t offset) { return {offset, no_more_data}; }
  virtual Status resize(std::uint64_t bytes) = 0;
  virtual Status sync() = 0;  // data and size are on the disk
  // For file systems that do several transfers at once; -1: only by the calls above.
  virtual int descriptor() const noexcept { return -1; }
  virtual int direct_descriptor() const noexcept { return -1; }  // past the caches
  // Takes a lock that other processes see, held until close; false: another open file holds one
  // that excludes it. Taken again it may become stronger or weaker. File systems without locks
  // always succeed. Fails with io.
  virtual Result<bool> lock([[maybe_unused]] LockKind kind) { return true; }
  // Fails with io.
  virtual Result<FileId> identity() { return FileId{}; }
};

struct Write {
  File* file = nullptr;
  std::span<const std::byte> bytes;
  std::uint64_t offset = 0;
};

struct Read {
  File* file = nullptr;
  std::span<std::byte> bytes;
  std::uint64_t offset = 0;
  std::size_t got = 0;  // bytes; fewer at the end of the file, and where reading failed
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // To read. A link is followed unless it belongs to another user than its file and the caller:
  // such a user could name files that only the caller may open. A link with a temporary name is
  // never followed.
  virtual Result<std::unique_ptr<File>> open(const std::string& path) = 0;
  virtual Result<std::unique_ptr<File>> open_to_change(const std::string& path) = 0;
  // Must not exist; for the owner alone: what is in it may come from a file that nobody else reads.
  virtual Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;  // replaces
  virtual Status remove(const std::string& path) = 0;  // one that is not there is fine
  virtual Status make_folders(const std::string& path) = 0;
  virtual Status sync_folder(const std::string& path) = 0;  // names are on the disk
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;  // names, sorted
  // The file that has this name now. Fails with io, also if no file has it.
  virtual Result<FileId> identity([[maybe_unused]] const std::string& path) { return FileId{}; }

  // Several transfers, in any order; all have ended when it returns. Here: one after the other.
  virtual Status write_all(std::span<const Write> writes);
  virtual void read_all(std::span<Read> reads);
  // Whether that is faster than as many threads that read.
  virtual bool reads_together() const noexcept { return false; }
};

FileSystem& posix_files();

// The parts of a path: "." and "a" of "a", "/" and "a" of "/a", "a/b" and "c" of "a/b/c".
std::string folder_of(const std::string& path);
std::string_view name_of(std::string_view path) noexcept;
// And back.
std::string in_folder(const std::string& folder, std::string_view name);

}  // namespace calpe::store
