// SPDX-License-Identifier: Apache-2.0
// Names of sets: random, as everybody's version 4.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/random.h>

#include "base/assert.hpp"
#include "base/hex_digits.hpp"
#include "store/shard_header.hpp"

namespace calpe::store {

std::string to_text(const Uuid& uuid) {
  std::string out = hex_digits(uuid);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    out.insert(at, 1, '-');
  }
  return out;
}

Uuid random_uuid() {
  Uuid uuid = {};
  ssize_t got = -1;
  do {
    got = getrandom(uuid.data(), uuid.size(), 0);
  } while (got < 0 && errno == EINTR);
  // Up to 256 bytes are never cut short. Without them two sets could be taken for one.
  CALPE_ASSERT(got == static_cast<ssize_t>(uuid.size()));
  // Version 4, variant 1, as everybody's random ones.
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  return uuid;
}

std::string shard_number(ShardIndex index) {
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
  return number;
}

std::uint64_t next_generation(std::uint64_t generation) {
  const Uuid random = random_uuid();
  std::uint32_t step = 0;  // the first four bytes have no fixed bits
  std::memcpy(&step, random.data(), sizeof(step));
  using std::chrono::duration_cast;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = duration_cast<std::chrono::microseconds>(since_1970).count();
  const auto by_clock = microseconds < 0 ? 0 : static_cast<std::uint64_t>(microseconds) * 4;
  return std::max(generation + 1 + step, by_clock + step % 4);
}

}  // namespace calpe::store
