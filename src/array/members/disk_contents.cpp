// SPDX-License-Identifier: Apache-2.0
#include "array/members/disk_contents.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/io/descriptor.hpp"

#if CALPE_HAS_BLKID
#include <blkid/blkid.h>
#endif

namespace calpe::array {

namespace {

Result<store::Descriptor> open_for_reading(const std::string& path) {
  // O_NONBLOCK: do not wait for the other end of a pipe.
  store::Descriptor file(store::again_if_interrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!file) return make_error(ErrorCode::io, "cannot open ", path, ": ", std::strerror(errno));
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0)
    return make_error(ErrorCode::io, "cannot get the status of ", path, ": ", std::strerror(errno));
  if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
    return make_error(ErrorCode::io, path, " is neither a file nor a block device");
  return file;
}

std::optional<Superblock> superblock_on(int file) {
  std::optional<Superblock> newest;
  std::vector<std::byte> bytes(block_bytes);
  for (unsigned copy = 0; copy < 2; ++copy) {
    const ssize_t got = store::again_if_interrupted([&] {
      return ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(copy * block_bytes));
    });
    if (got != static_cast<ssize_t>(bytes.size())) continue;
    auto parsed = parse_superblock(bytes);
    if (parsed && (!newest || parsed->epoch > newest->epoch)) newest = *std::move(parsed);
  }
  return newest;
}

#if CALPE_HAS_BLKID

std::string value_of(blkid_probe probe, const char* name) {
  const char* value = nullptr;
  return blkid_probe_lookup_value(probe, name, &value, nullptr) == 0 && value != nullptr ? value
                                                                                         : "";
}

Result<std::string> signature_on(int file, const std::string& path) {
  const std::unique_ptr<blkid_struct_probe, void (*)(blkid_probe)> probe(blkid_new_probe(),
                                                                         blkid_free_probe);
  if (!probe || blkid_probe_set_device(probe.get(), file, 0, 0) != 0)
    return make_error(ErrorCode::io, "cannot check ", path, " for file systems");
  blkid_probe_enable_superblocks(probe.get(), 1);
  blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
  blkid_probe_enable_partitions(probe.get(), 1);
  constexpr int nothing = 1;
  constexpr int several = -2;
  const int found = blkid_do_safeprobe(probe.get());
  if (found == nothing) return std::string();
  if (found == several) return std::string("several file systems or partition tables");
  if (found != 0) return make_error(ErrorCode::io, "cannot check ", path, " for file systems");
  const std::string type = value_of(probe.get(), "TYPE");
  if (!type.empty()) {
    const bool is_files = value_of(probe.get(), "USAGE") == "filesystem";
    return text(type, is_files ? " file system" : " contents");
  }
  return text(value_of(probe.get(), "PTTYPE"), " partition table");
}

#else

Result<std::string> signature_on(int, const std::string&) {
  return std::string();  // holds_bytes() looks at start and end
}

#endif

// Reads this many bytes of data of a file. Files of zeros are a usual way to make members, and
// may be as large as disks.
constexpr std::uint64_t read_bytes_max = std::uint64_t{256} << 20U;
// At both ends of a disk, and at the end of a larger file.
constexpr std::uint64_t end_bytes = std::uint64_t{1} << 20U;

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// True if the range has a byte that is not zero.
Result<bool> has_nonzero(int file, ByteRange range, const std::string& path) {
  std::vector<char> bytes(end_bytes);
  while (range.begin < range.end) {
    const std::size_t length = std::min<std::uint64_t>(bytes.size(), range.end - range.begin);
    const ssize_t got = store::again_if_interrupted(
        [&] { return ::pread(file, bytes.data(), length, static_cast<off_t>(range.begin)); });
    if (got < 0) return make_error(ErrorCode::io, "cannot read ", path, ": ", std::strerror(errno));
    if (got == 0) return false;
    if (std::any_of(bytes.begin(), bytes.begin() + got, [](char byte) { return byte != 0; }))
      return true;
    range.begin += static_cast<std::uint64_t>(got);
  }
  return false;
}

// The first range of data at or after `from`. Empty if there are only holes.
ByteRange next_data(int file, std::uint64_t from, std::uint64_t size) {
  const off_t begin = ::lseek(file, static_cast<off_t>(from), SEEK_DATA);
  if (begin < 0) return errno == ENXIO ? ByteRange{size, size} : ByteRange{from, size};
  const off_t end = ::lseek(file, begin, SEEK_HOLE);
  return {static_cast<std::uint64_t>(begin), end < 0 ? size : static_cast<std::uint64_t>(end)};
}

// "30.0 MB"
std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> units = {" kB", " MB", " GB", " TB", " PB", " EB"};
  if (bytes < 1000) return text(bytes, " B");
  std::size_t unit = 0;
  std::uint64_t tenths = bytes / 100;
  for (; tenths >= 10000 && unit + 1 < units.size(); ++unit)
    tenths /= 1000;
  return text(tenths / 10, ".", tenths % 10, units[unit]);
}

Result<bool> holds_bytes(int file, std::uint64_t size, const std::string& path) {
  struct stat status = {};
  const bool is_disk = ::fstat(file, &status) == 0 && S_ISBLK(status.st_mode);
  std::uint64_t left = is_disk ? end_bytes : read_bytes_max;
  for (std::uint64_t from = 0; from < size && left > 0;) {
    ByteRange data = is_disk ? ByteRange{0, size} : next_data(file, from, size);
    data.end = std::min(data.end, data.begin + left);
    CALPE_TRY(const bool is_found, has_nonzero(file, data, path));
    if (is_found) return true;
    left -= data.end - data.begin;
    from = data.end;
  }
  return has_nonzero(file, {size - std::min(size, end_bytes), size}, path);
}

}  // namespace

Result<DiskContents> contents_of(const std::string& path) {
  return guarded([&]() -> Result<DiskContents> {
    CALPE_TRY(const store::Descriptor file, open_for_reading(path));
    DiskContents contents;
    contents.member = superblock_on(file.get());
    if (!contents.member) {
      CALPE_TRY(contents.other, signature_on(file.get(), path));
    }
    if (!contents.member && contents.other.empty()) {
      const off_t end = ::lseek(file.get(), 0, SEEK_END);
      const auto size = static_cast<std::uint64_t>(std::max(off_t{0}, end));
      CALPE_TRY(const bool is_found, holds_bytes(file.get(), size, path));
      if (is_found) contents.unknown_bytes = size;
    }
    return contents;
  });
}

Result<std::optional<Superblock>> superblock_of(const std::string& path) {
  return guarded([&]() -> Result<std::optional<Superblock>> {
    CALPE_TRY(const store::Descriptor file, open_for_reading(path));
    return superblock_on(file.get());
  });
}

Status check_blank(const std::string& path) {
  CALPE_TRY(const DiskContents contents, contents_of(path));
  if (contents.member) {
    return invalid(path, " is a member of array ", uuid_text(contents.member->array),
                   "; --force erases it");
  }
  if (!contents.other.empty())
    return invalid(path, " holds data (", contents.other, ")", "; --force erases it");
  if (contents.unknown_bytes != 0) {
    return invalid(path, " is not empty (", size_text(contents.unknown_bytes),
                   "); --force erases it");
  }
  return Done{};
}

}  // namespace calpe::array
