// SPDX-License-Identifier: Apache-2.0
// Interface to the operating system: the store accesses files only through it, so that tests can
// make any call fail. Errors are io, with the path and the system's message.
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
  shared,     // for reading
  exclusive,  // for changing
};

// Identifies a file independently of its name. All zeros: unknown.
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
  // Returns fewer bytes than requested only at the end of the file.
  virtual Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) = 0;
  virtual Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) = 0;
  virtual Result<std::uint64_t> size() = 0;
  // Returns the first range at or after `offset` that is not a hole; it begins at no_more_data if
  // the rest is a hole. File systems without holes report one range of data.
  virtual DataRange data_from(std::uint64_t offset) { return {offset, no_more_data}; }
  // Removes these bytes from the page cache, except those not written to the disk yet. Only a hint.
  virtual void drop_cached([[maybe_unused]] std::uint64_t offset,
                           [[maybe_unused]] std::uint64_t bytes) {}
  virtual Status resize(std::uint64_t bytes) = 0;
  virtual Status sync() = 0;  // makes data and size durable
  // For file systems that batch transfers; -1: use the calls above.
  virtual int descriptor() const noexcept { return -1; }
  virtual int direct_descriptor() const noexcept { return -1; }  // bypasses the page cache
  // Takes a lock that other processes see, held until close. Returns false if another open file
  // holds a conflicting lock. A further call may change the kind. File systems without locks always
  // succeed. Fails with io.
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
  std::size_t got = 0;  // bytes; fewer at the end of the file or after an error
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Opens for reading. Does not follow a link whose owner is neither the caller, root nor the owner
  // of its target: the link could point to a file that only the caller may open. Never follows a
  // link with a temporary name.
  virtual Result<std::unique_ptr<File>> open(const std::string& path) = 0;
  virtual Result<std::unique_ptr<File>> open_to_change(const std::string& path) = 0;
  // Fails if the file exists. Only the owner gets access, as the data may be private.
  virtual Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  virtual Status remove(const std::string& path) = 0;  // succeeds if there is no such file
  virtual Status make_folders(const std::string& path) = 0;
  virtual Status sync_folder(const std::string& path) = 0;  // makes names durable
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;  // names, sorted
  // Identifies the file with this name. Fails with io, also if there is none.
  virtual Result<FileId> identity([[maybe_unused]] const std::string& path) { return FileId{}; }

  // Runs all transfers, in any order, and waits for them. By default one after the other.
  virtual Status write_all(std::span<const Write> writes);
  virtual void read_all(std::span<Read> reads);
  // Returns true if that is faster than one thread per transfer.
  virtual bool reads_together() const noexcept { return false; }
};

FileSystem& posix_files();

// Split a path: "a" into "." and "a", "/a" into "/" and "a", "a/b/c" into "a/b" and "c".
std::string folder_of(const std::string& path);
std::string_view name_of(std::string_view path) noexcept;
// Joins the two parts.
std::string in_folder(const std::string& folder, std::string_view name);

}  // namespace calpe::store
