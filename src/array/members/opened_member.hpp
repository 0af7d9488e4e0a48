// SPDX-License-Identifier: Apache-2.0
// One opened file or block device, and the system calls for one request.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "array/format/members.hpp"
#include "store/io/descriptor.hpp"

namespace calpe::array {

inline constexpr std::size_t direct_alignment = 4096;
// Maximum bytes per system call; Linux limits transfers to just below 2 GiB.
inline constexpr std::size_t transfer_bytes_max = std::size_t{1} << 30U;

struct OpenedMember {
  store::Descriptor descriptor;
  store::Descriptor direct;                  // O_DIRECT; -1 = not supported
  mutable std::atomic<std::uint64_t> bytes;  // more after FileMembers::measure()
  dev_t device;
  ino_t inode;
  dev_t block_device;  // 0 = regular file
  std::string path;
  bool is_remote;  // behind a network or another program, which may stop answering

  Error failed(const char* verb, int error) const;
  bool is_same(const struct stat& status) const;
  // Closes both descriptors, even if other threads still use their numbers. Running requests
  // finish; later ones fail.
  void close_for_good() const;

  int descriptor_for(const MemberRequest& request) const;
  void read(MemberRequest& request, std::size_t begin) const;  // from byte `begin` on
  void write(MemberRequest& request, std::size_t begin) const;
  void flush(MemberRequest& request) const;
  void run(MemberRequest& request) const;

  // Reads from the page cache without waiting for the disk. True if all of it was there.
  bool read_if_cached(const MemberRequest& request) const;
};

// A request and its member.
struct MemberWork {
  MemberRequest* request;
  const OpenedMember* member;
};

// Runs the requests with one system call, except cached writes, and calls meanwhile() once if it is
// not empty, while they run if possible. Returns false, doing nothing, if io_uring is unavailable.
bool run_with_uring(std::span<const MemberWork> batch, const std::function<void()>& meanwhile);

}  // namespace calpe::array
