// SPDX-License-Identifier: Apache-2.0
#include "store/tree/prefix_source.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace calpe::store {

Status PeekedSource::peek(std::size_t bytes) {
  ahead_.resize(bytes);
  CALPE_TRY(const std::size_t got, source_.read(ahead_));
  is_all_ahead_ = got < bytes;
  ahead_.resize(got);
  return Done{};
}

std::optional<std::uint64_t> PeekedSource::bytes_expected() const {
  if (is_all_ahead_) return ahead_.size();
  return source_.bytes_expected();
}

Result<std::size_t> PeekedSource::read(std::span<std::byte> bytes) {
  if (given_ == ahead_.size() && !is_all_ahead_) return source_.read(bytes);
  const std::size_t now = std::min(bytes.size(), ahead_.size() - given_);
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(given_), now, bytes.begin());
  given_ += now;
  if (now == bytes.size() || is_all_ahead_) return now;
  CALPE_TRY(const std::size_t rest, source_.read(bytes.subspan(now)));
  return now + rest;
}

Status PeekedSource::skip(std::uint64_t bytes) {
  if (ahead_.empty()) return source_.skip(bytes);
  return ContentSource::skip(bytes);
}

}  // namespace calpe::store
