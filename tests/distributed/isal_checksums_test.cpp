// SPDX-License-Identifier: Apache-2.0
// Compares the checksums of our libisal.so.2 with ISA-L's, at guard pages, and with known values.
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "support/isal_pair.hpp"

namespace calpe::tests {
namespace {

using Byte = unsigned char;

// One signature for all functions. A narrow function takes the low bits of `init`.
struct Checksum {
  const char* name;
  std::uint64_t (*run)(const IsalFunctions& isal, std::uint64_t init, Byte* data,
                       std::size_t bytes);
  std::uint64_t start;  // initial value of a message
  std::uint64_t known;  // result for "123456789", from the standards
};

constexpr std::array checksums = {
    Checksum{"crc32_gzip_refl",
             [](const IsalFunctions& isal, std::uint64_t init, Byte* data,
                std::size_t bytes) -> std::uint64_t {
               return isal.crc32_gzip_refl(static_cast<std::uint32_t>(init), data, bytes);
             },
             0, 0xCBF43926},
    Checksum{"crc32_iscsi",
             [](const IsalFunctions& isal, std::uint64_t init, Byte* data,
                std::size_t bytes) -> std::uint64_t {
               return isal.crc32_iscsi(data, static_cast<int>(bytes), static_cast<unsigned>(init));
             },
             0xFFFFFFFF, 0xFFFFFFFF - 0xE3069283},
    Checksum{"crc64_ecma_refl",
             [](const IsalFunctions& isal, std::uint64_t init, Byte* data, std::size_t bytes)
                 -> std::uint64_t { return isal.crc64_ecma_refl(init, data, bytes); },
             0, 0x995DC9BBDF1939FA},
    Checksum{"crc16_t10dif",
             [](const IsalFunctions& isal, std::uint64_t init, Byte* data,
                std::size_t bytes) -> std::uint64_t {
               return isal.crc16_t10dif(static_cast<std::uint16_t>(init), data, bytes);
             },
             0, 0xD0DB},
    Checksum{"isal_adler32",
             [](const IsalFunctions& isal, std::uint64_t init, Byte* data,
                std::size_t bytes) -> std::uint64_t {
               return isal.isal_adler32(static_cast<std::uint32_t>(init), data, bytes);
             },
             1, 0x091E01DE},
};

class IsalChecksums : public IsalPair {
 protected:
  std::uint64_t random_word() {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i)
      word = word << 8 | below(256);
    return word;
  }

  void compare(std::uint64_t init, Byte* data, std::size_t bytes) {
    for (const Checksum& checksum : checksums) {
      ASSERT_EQ(checksum.run(ours, init, data, bytes), checksum.run(theirs, init, data, bytes))
          << checksum.name << " from " << init << ", " << bytes << " bytes at "
          << reinterpret_cast<std::uintptr_t>(data) % 64;
      ++compared_;
    }
  }

  std::size_t compared_ = 0;
};

TEST_F(IsalChecksums, KnownValues) {
  constexpr std::string_view text = "123456789";
  std::vector<Byte> message(text.begin(), text.end());
  for (const Checksum& checksum : checksums) {
    EXPECT_EQ(checksum.run(ours, checksum.start, message.data(), message.size()), checksum.known)
        << checksum.name;
  }
}

// Messages end or begin at an inaccessible page, so that reads beyond them fault.
TEST_F(IsalChecksums, EveryShortLengthAtEveryOffset) {
  constexpr std::size_t bytes_max = 300;
  const GuardedShard memory(bytes_max + 64);
  for (std::size_t bytes = 0; bytes <= bytes_max; ++bytes) {
    for (std::size_t gap = 0; gap < 64; ++gap) {
      const Guard guard = gap % 2 == 0 ? Guard::trailing : Guard::leading;
      Byte* const data =
          reinterpret_cast<Byte*>(memory.place({.guard = guard, .gap = gap}, bytes).data());
      std::ranges::copy(random_bytes(bytes), data);
      ASSERT_NO_FATAL_FAILURE(compare(random_word(), data, bytes));
    }
  }
  EXPECT_EQ(compared_, checksums.size() * (bytes_max + 1) * 64);
}

TEST_F(IsalChecksums, LongMessages) {
  constexpr std::size_t bytes_max = 200'000;
  std::vector<Byte> message = random_bytes(bytes_max + 64);
  for (int round = 0; round < 300; ++round) {
    const std::size_t bytes = below(round < 200 ? 6000 : bytes_max);
    ASSERT_NO_FATAL_FAILURE(compare(random_word(), message.data() + below(64), bytes));
  }
  // The largest sums of Adler-32.
  std::ranges::fill(message, Byte{0xFF});
  for (const std::size_t bytes : {5552U, 32767U, 32768U, 32769U, 65536U, 200'000U})
    ASSERT_NO_FATAL_FAILURE(compare(~std::uint64_t{0}, message.data(), bytes));
}

// A message in parts, by turns with both libraries, has the checksum of the whole.
TEST_F(IsalChecksums, ChainedCalls) {
  for (int round = 0; round < 500; ++round) {
    std::vector<Byte> message = random_bytes(below(2000));
    for (const Checksum& checksum : checksums) {
      const std::uint64_t expected =
          checksum.run(theirs, checksum.start, message.data(), message.size());
      std::uint64_t chained = checksum.start;
      std::uint64_t mixed = checksum.start;
      for (std::size_t done = 0, parts = 0; done < message.size(); ++parts) {
        const std::size_t bytes = std::min(message.size() - done, below(500));
        chained = checksum.run(ours, chained, message.data() + done, bytes);
        mixed = checksum.run(parts % 2 == 0 ? ours : theirs, mixed, message.data() + done, bytes);
        done += bytes;
      }
      ASSERT_EQ(chained, expected) << checksum.name << ", " << message.size() << " bytes";
      ASSERT_EQ(mixed, expected) << checksum.name << ", " << message.size() << " bytes";
    }
  }
}

// ISA-L documents no result. Ours reads nothing.
TEST_F(IsalChecksums, NegativeLengthReadsNothing) {
  EXPECT_EQ(ours.crc32_iscsi(nullptr, -1, 0x12345678), 0x12345678U);
  EXPECT_EQ(ours.crc32_gzip_refl(0x12345678, nullptr, 0), 0x12345678U);
}

}  // namespace
}  // namespace calpe::tests
