// SPDX-License-Identifier: Apache-2.0
#include "array/members/opened_member.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/uio.h>

#include "base/text.hpp"

namespace calpe::array {

Error OpenedMember::failed(const char* verb, int error) const {
  return make_error(ErrorCode::io, "cannot ", verb, " ", path, ": ", std::strerror(error));
}

bool OpenedMember::is_same(const struct stat& status) const {
  return S_ISBLK(status.st_mode) ? block_device == status.st_rdev
                                 : device == status.st_dev && inode == status.st_ino;
}

void OpenedMember::close_for_good() const {
  const store::Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.get() < 0) return;
  for (const int number : {descriptor.get(), direct.get()}) {
    if (number >= 0) ::dup3(nothing.get(), number, O_CLOEXEC);
  }
}

int OpenedMember::descriptor_for(const MemberRequest& request) const {
  const auto address = reinterpret_cast<std::uintptr_t>(request.bytes.data());
  const bool is_direct = request.is_past_cache && direct.get() >= 0 &&
                         (address | request.offset | request.bytes.size()) % direct_alignment == 0;
  return is_direct ? direct.get() : descriptor.get();
}

void OpenedMember::read(MemberRequest& request, std::size_t begin) const {
  std::span<std::byte> rest = request.bytes.subspan(begin);
  std::uint64_t offset = request.offset + begin;
  int number = begin == 0 ? descriptor_for(request) : descriptor.get();
  // Without O_DIRECT, drop the cached pages instead.
  const auto forget_cached = [&] {
    ::posix_fadvise(descriptor.get(), static_cast<off_t>(request.offset),
                    static_cast<off_t>(request.bytes.size()), POSIX_FADV_DONTNEED);
  };
  if (request.is_past_cache && number == descriptor.get()) forget_cached();
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.size(), transfer_bytes_max);
    const ssize_t got = store::again_if_interrupted(
        [&] { return ::pread(number, rest.data(), length, static_cast<off_t>(offset)); });
    if (got < 0 && errno == EINVAL && number == direct.get()) {
      number = descriptor.get();
      forget_cached();
      continue;
    }
    if (got <= 0) {
      request.error = got < 0 ? failed("read", errno)
                              : make_error(ErrorCode::io, path, " ends at byte ", offset,
                                           "; expected ", rest.size(), " bytes more");
      return;
    }
    rest = rest.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void OpenedMember::write(MemberRequest& request, std::size_t begin) const {
  std::span<const std::byte> rest = request.bytes.subspan(begin);
  std::uint64_t offset = request.offset + begin;
  // The rest of a short direct write may be unaligned; write it through the cache.
  const int number = begin == 0 ? descriptor_for(request) : descriptor.get();
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.size(), transfer_bytes_max);
    // pwritev2 only reads the buffer, although its type is not const.
    const iovec piece = {const_cast<std::byte*>(rest.data()), length};
    const ssize_t put = store::again_if_interrupted([&] {
      return ::pwritev2(number, &piece, 1, static_cast<off_t>(offset),
                        request.is_durable ? RWF_DSYNC : 0);
    });
    if (put <= 0) {
      const int code = put < 0 ? errno : ENOSPC;
      // The device needs a larger alignment, or the file system or an emulated kernel does not
      // support durable writes.
      const bool is_cached = code == EINVAL && number == direct.get();
      const bool is_flushed = code == EOPNOTSUPP && request.is_durable;
      if (!is_cached && !is_flushed) {
        request.error = failed("write", code);
        return;
      }
      MemberRequest plainer = request;
      if (is_cached) plainer.is_past_cache = false;
      if (is_flushed) plainer.is_durable = false;
      write(plainer, static_cast<std::size_t>(offset - request.offset));
      if (is_flushed && !plainer.error) flush(plainer);
      request.error = std::move(plainer.error);
      return;
    }
    rest = rest.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void OpenedMember::flush(MemberRequest& request) const {
  if (store::again_if_interrupted([&] { return ::fdatasync(descriptor.get()); }) != 0)
    request.error = failed("flush", errno);
}

void OpenedMember::run(MemberRequest& request) const {
  switch (request.call) {
    case MemberCall::read:
      return read(request, 0);
    case MemberCall::write:
      return write(request, 0);
    case MemberCall::flush:
      return flush(request);
  }
}

bool OpenedMember::read_if_cached(const MemberRequest& request) const {
  const iovec piece = {request.bytes.data(), request.bytes.size()};
  const ssize_t got =
      ::preadv2(descriptor.get(), &piece, 1, static_cast<off_t>(request.offset), RWF_NOWAIT);
  return got == static_cast<ssize_t>(request.bytes.size());
}

}  // namespace calpe::array
