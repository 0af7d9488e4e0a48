// SPDX-License-Identifier: Apache-2.0
// Reads Ceph's encoding. All numbers are little-endian. A structure starts with its version, the
// oldest compatible version and its length; later versions append fields.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

namespace calpe::ceph {

// After a read past the end, all further values are zero.
class Decoder {
 public:
  static constexpr std::uint64_t structure_header_bytes = 6;

  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool is_good() const noexcept { return is_good_; }
  // The version, if structure() returned this decoder.
  std::uint64_t version() const noexcept { return version_; }

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::span<const std::byte> from = take(bytes);
    for (std::size_t i = from.size(); i-- > 0;)
      value = value << 8U | std::to_integer<std::uint64_t>(from[i]);
    return value;
  }
  std::string string() {
    const std::span<const std::byte> from = take(number(4));
    std::string out;
    std::ranges::transform(from, std::back_inserter(out),
                           [](std::byte byte) { return static_cast<char>(byte); });
    return out;
  }
  // Returns the content of a structure.
  Decoder structure() {
    const std::uint64_t version = number(1);
    skip(1);
    Decoder inside(take(number(4)));
    inside.version_ = version;
    inside.is_good_ = is_good_;
    return inside;
  }
  void skip(std::uint64_t bytes) { take(bytes); }
  // Calls read() for each entry of a list or map.
  template <typename Read>
  void each(Read read) {
    for (std::uint64_t left = number(4); left != 0 && is_good_; --left)
      read();
  }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    is_good_ = is_good_ && bytes <= bytes_.size();
    if (!is_good_) return {};
    const auto taken = bytes_.first(static_cast<std::size_t>(bytes));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(bytes));
    return taken;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t version_ = 0;
  bool is_good_ = true;
};

}  // namespace calpe::ceph
