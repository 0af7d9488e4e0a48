// SPDX-License-Identifier: Apache-2.0
#include "store/tree/filled_time.hpp"

#include "base/text.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

namespace {

// More than the 2 seconds that some file systems round to.
constexpr std::int64_t seconds_apart = 10;

std::int64_t mark_of(const Entry& entry, std::int64_t seconds) {
  const std::string all = text("calpe filled ", entry.path, "/", entry.file_bytes, "/",
                               entry.seconds, "/", entry.nanoseconds, "/", seconds);
  // 0 would fit any time on a file system without nanoseconds.
  return static_cast<std::int64_t>(plain_checksum(std::as_bytes(std::span(all))) % 999'999'999) + 1;
}

bool is_apart(const Entry& entry, std::int64_t seconds) {
  return seconds < entry.seconds - seconds_apart || seconds > entry.seconds + seconds_apart;
}

}  // namespace

timespec filled_time(const Entry& entry, std::int64_t now) {
  const std::int64_t seconds = is_apart(entry, now) ? now : entry.seconds + seconds_apart + 1;
  return {.tv_sec = seconds, .tv_nsec = mark_of(entry, seconds)};
}

bool has_filled_time(const Entry& entry, const struct stat& about) {
  return entry.type == EntryType::file && S_ISREG(about.st_mode) &&
         static_cast<std::uint64_t>(about.st_size) == entry.file_bytes &&
         is_apart(entry, about.st_mtim.tv_sec) &&
         about.st_mtim.tv_nsec == mark_of(entry, about.st_mtim.tv_sec);
}

}  // namespace calpe::store
