// SPDX-License-Identifier: Apache-2.0
#include "array/state/log_reader.hpp"

#include <algorithm>

namespace calpe::array {

namespace {

constexpr std::uint64_t window_most = std::uint64_t{1} << 20U;

}  // namespace

LogReader::LogReader(const MemberLayout& layout, Roster& roster)
    : layout_(layout), roster_(roster), windows_(layout.roles()) {}

bool LogReader::fill(unsigned role, std::uint64_t at, std::uint64_t bytes) {
  Window& window = windows_[role];
  window.from = at;
  window.bytes.resize(bytes);
  MemberRequest request;
  request.member = role;
  request.offset = log_at + at;
  request.bytes = window.bytes;
  if (roster_.run(std::span(&request, 1)) == 0) return true;
  window.bytes.clear();
  return false;
}

std::span<const std::byte> LogReader::read(unsigned role, std::uint64_t at, std::uint64_t bytes) {
  if (bytes > layout_.log_bytes || at > layout_.log_bytes - bytes) return {};
  Window& window = windows_[role];
  const bool is_here =
      at >= window.from && at + bytes <= window.from + window.bytes.size() && bytes != 0;
  if (!is_here) {
    const std::uint64_t run = std::min(std::max(bytes, window.next_bytes), layout_.log_bytes - at);
    window.next_bytes = std::min(2 * window.next_bytes, window_most);
    // The unreadable part may lie after the requested bytes; read only those.
    if (!fill(role, at, run) && (run == bytes || !fill(role, at, bytes))) return {};
  }
  return std::span<const std::byte>(window.bytes).subspan(at - window.from, bytes);
}

}  // namespace calpe::array
