// SPDX-License-Identifier: Apache-2.0
// Reads a pipe as a content: its bytes up to the end, then a manifest built from its length.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include "base/try.hpp"
#include "store/tree/tree.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

namespace {

class StreamSource final : public ContentSource {
 public:
  explicit StreamSource(int descriptor) : descriptor_(descriptor) {}

  std::optional<std::uint64_t> bytes_expected() const override { return std::nullopt; }
  std::uint64_t manifest_offset() const override { return data_bytes_; }
  std::uint64_t manifest_bytes() const override { return manifest_.size(); }

  Result<std::size_t> read(std::span<std::byte> bytes) override {
    std::size_t filled = 0;
    while (filled < bytes.size() && !is_at_end_) {
      CALPE_TRY(const std::size_t got, read_some(bytes.subspan(filled)));
      filled += got;
      data_bytes_ += got;
      if (got == 0) end();
    }
    const std::size_t rest = std::min(bytes.size() - filled, manifest_.size() - manifest_done_);
    if (rest != 0) std::memcpy(&bytes[filled], &manifest_[manifest_done_], rest);
    manifest_done_ += rest;
    return filled + rest;
  }

 private:
  Result<std::size_t> read_some(std::span<std::byte> bytes) const {
    while (true) {
      const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EAGAIN) {  // non-blocking mode is shared, and another program set it
        pollfd wait = {.fd = descriptor_, .events = POLLIN, .revents = 0};
        ::poll(&wait, 1, -1);
      } else if (errno != EINTR) {
        return system_error("read", "the stream");
      }
    }
  }

  void end() {
    is_at_end_ = true;
    Entry entry;
    entry.type = EntryType::stream;
    entry.file_bytes = data_bytes_;
    if (data_bytes_ != 0) entry.extents = {{0, 0, data_bytes_}};
    manifest_ = to_bytes({.entries = {std::move(entry)}});
  }

  int descriptor_;
  bool is_at_end_ = false;
  std::uint64_t data_bytes_ = 0;
  std::vector<std::byte> manifest_;
  std::size_t manifest_done_ = 0;
};

}  // namespace

std::unique_ptr<ContentSource> make_stream_source(int descriptor) {
  return std::make_unique<StreamSource>(descriptor);
}

}  // namespace calpe::store
