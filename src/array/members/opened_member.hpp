// SPDX-License-Identifier: Apache-2.0
// One file or block device that is a member, and the calls that do one request to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "array/format/members.hpp"
#include "store/io/descriptor.hpp"

namespace calpe::array {

inline constexpr std::size_t direct_alignment = 4096;
// One call of the kernel takes no more; Linux ends transfers just below 2 GiB.
inline constexpr std::size_t transfer_bytes_max = std::size_t{1} << 30U;

struct OpenedMember {
  store::Descriptor descriptor;
  store::Descriptor direct;  // past the caches; -1: the file system cannot
  std::uint64_t bytes;
  dev_t device;
  ino_t inode;
  dev_t block_device;  // 0: a file
  std::string path;

  Error failed(const char* verb, int error) const;
  bool is_same(const struct stat& status) const;
  // Really closes both, whoever still knows their numbers: what is under way ends, and nothing that
  // begins later does anything but fail.
  void close_for_good() const;

  int descriptor_for(const MemberRequest& request) const;
  void read(MemberRequest& request, std::size_t begin) const;  // from that byte of it on
  void write(MemberRequest& request, std::size_t begin) const;
  void flush(MemberRequest& request) const;
  void run(MemberRequest& request) const;

  // Whether it was read, all of it, as it is in memory; does not wait for the disk.
  bool read_if_cached(const MemberRequest& request) const;
};

// A request and whom it is for.
struct MemberWork {
  MemberRequest* request;
  const OpenedMember* member;
};

// Does the requests with one call of the kernel. False, and nothing is done: io_uring is not there.
bool run_with_uring(std::span<const MemberWork> batch);

}  // namespace calpe::array
