// SPDX-License-Identifier: Apache-2.0
// Turns the bytes of a fuzzer into choices, in order; after the end every choice is 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace calpe::fuzz {

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i)
      value |= std::uint32_t{byte()} << 8 * i;
    return value;
  }
  // Returns 0 .. count - 1, for counts up to 256.
  unsigned below(std::size_t count) { return static_cast<unsigned>(byte() % count); }
  bool coin() { return (byte() & 1U) != 0; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace calpe::fuzz
