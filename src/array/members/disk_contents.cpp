// SPDX-License-Identifier: Apache-2.0
#include "array/members/disk_contents.hpp"

#include <algorithm>
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

// Signatures are near the start or the end.
Result<std::string> signature_on(int file, const std::string& path) {
  constexpr std::size_t looked_at = std::size_t{128} << 10U;
  std::vector<char> bytes(looked_at);
  const off_t end = ::lseek(file, 0, SEEK_END);
  for (const off_t at : {off_t{0}, std::max(off_t{0}, end - static_cast<off_t>(looked_at))}) {
    const ssize_t got =
        store::again_if_interrupted([&] { return ::pread(file, bytes.data(), bytes.size(), at); });
    if (got < 0) return make_error(ErrorCode::io, "cannot read ", path, ": ", std::strerror(errno));
    if (std::any_of(bytes.begin(), bytes.begin() + got, [](char byte) { return byte != 0; })) {
      return std::string("unknown contents (Calpe was built without libblkid)");
    }
  }
  return std::string();
}

#endif

}  // namespace

Result<DiskContents> contents_of(const std::string& path) {
  return guarded([&]() -> Result<DiskContents> {
    CALPE_TRY(const store::Descriptor file, open_for_reading(path));
    DiskContents contents;
    contents.member = superblock_on(file.get());
    if (!contents.member) {
      CALPE_TRY(contents.other, signature_on(file.get(), path));
    }
    return contents;
  });
}

Status check_blank(const std::string& path) {
  CALPE_TRY(const DiskContents contents, contents_of(path));
  if (contents.member) {
    return invalid(path, " is a member of array ", uuid_text(contents.member->array),
                   "; --force erases it");
  }
  if (contents.other.empty()) return Done{};
  return invalid(path, " holds data (", contents.other, ")", "; --force erases it");
}

}  // namespace calpe::array
