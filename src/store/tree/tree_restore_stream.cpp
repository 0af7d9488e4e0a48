// SPDX-License-Identifier: Apache-2.0
// Writes a file or stream sequentially to a descriptor that cannot seek.
#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/tree/tree.hpp"
#include "store/tree/tree_content.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t zeros_bytes = std::size_t{1} << 16U;

Status put(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    } else if (errno == EAGAIN) {
      pollfd wait = {.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return system_error("write", "the stream");
    }
  }
  return Done{};
}

Status put_zeros(int descriptor, std::uint64_t count) {
  const std::vector<std::byte> zeros(zeros_bytes);
  while (count != 0) {
    const std::uint64_t now = std::min<std::uint64_t>(count, zeros_bytes);
    CALPE_CHECK(put(descriptor, std::span(zeros).first(static_cast<std::size_t>(now))));
    count -= now;
  }
  return Done{};
}

}  // namespace

Status restore_stream(const Entry& entry, const ReadContent& read, int descriptor) {
  CALPE_CHECK(check_data(entry));
  const RestoreOptions options;
  ContentPieces content(read, data_ranges({&entry, 1}), options);
  std::uint64_t at = 0;
  for (const Extent& extent : entry.extents) {
    CALPE_CHECK(put_zeros(descriptor, extent.file_offset - at));
    std::uint64_t done = 0;
    while (done < extent.bytes) {
      CALPE_TRY(const auto piece, content.next(extent.content_offset + done, extent.bytes - done));
      CALPE_CHECK(put(descriptor, piece));
      done += piece.size();
    }
    at = extent.file_offset + extent.bytes;
  }
  return put_zeros(descriptor, entry.file_bytes - at);
}

}  // namespace calpe::store
