// SPDX-License-Identifier: Apache-2.0
// Checksums: CRCs of four polynomials, and Adler-32.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "isal/checksum_kernels.hpp"
#include "isal/crc_tables.hpp"
#include "isal/isal_abi.hpp"

using namespace calpe_isal;

namespace {

constexpr std::size_t fold_bytes_min = 16;
constexpr std::size_t fold_long_bytes_min = 256;

template <CrcForm form>
struct Crc {
  static constexpr CrcTables tables = make_crc_tables(form);
  static constexpr CrcFolds folds = make_crc_folds(form);

  // Byte i of the message that was added to the register.
  static std::size_t byte_of(std::uint64_t reg, unsigned i) {
    return static_cast<Byte>(reg >> 8 * (form.is_reflected ? i : 7 - i));
  }

  // Written out, because compilers then see that it is one load.
  static std::uint64_t word_at(const Byte* data) {
    const auto byte = [&](unsigned i) { return std::uint64_t{data[i]} << 8 * i; };
    const std::uint64_t little =
        byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
    return form.is_reflected ? little : __builtin_bswap64(little);
  }

  static std::uint64_t by_tables(std::uint64_t reg, const Byte* data, std::size_t bytes) {
    for (; bytes >= 8; bytes -= 8, data += 8) {
      const std::uint64_t sum = reg ^ word_at(data);
      reg = tables[7][byte_of(sum, 0)] ^ tables[6][byte_of(sum, 1)] ^ tables[5][byte_of(sum, 2)] ^
            tables[4][byte_of(sum, 3)] ^ tables[3][byte_of(sum, 4)] ^ tables[2][byte_of(sum, 5)] ^
            tables[1][byte_of(sum, 6)] ^ tables[0][byte_of(sum, 7)];
    }
    for (; bytes > 0; --bytes, ++data) {
      const std::uint64_t rest = form.is_reflected ? reg >> 8 : reg << 8;
      reg = rest ^ tables[0][byte_of(reg, 0) ^ *data];
    }
    return reg;
  }

  static std::uint64_t update(std::uint64_t reg, const Byte* data, std::size_t bytes) {
    if (bytes < fold_bytes_min) return by_tables(reg, data, bytes);
    const ChecksumKernels& kernels = checksum_kernels();
    CrcFold* const fold = bytes < fold_long_bytes_min ? kernels.fold : kernels.fold_long;
    if (fold == nullptr) return by_tables(reg, data, bytes);
    std::size_t done = 0;
    const std::uint64_t after = fold(folds, reg, data, bytes, done);
    return by_tables(after, data + done, bytes - done);
  }
};

constexpr CrcForm gzip = {.polynomial = 0xEDB88320, .is_reflected = true};
constexpr CrcForm iscsi = {.polynomial = 0x82F63B78, .is_reflected = true};
constexpr CrcForm ecma = {.polynomial = 0xC96C5795D7870F42, .is_reflected = true};
constexpr CrcForm t10dif = {.polynomial = std::uint64_t{0x8BB7} << 48, .is_reflected = false};

constexpr std::uint64_t adler_modulus = 65521;

AdlerSums adler_plainly(const Byte* data, std::size_t bytes) {
  AdlerSums sums;
  for (std::size_t i = 0; i < bytes; ++i) {
    sums.a += data[i];
    sums.b += sums.a;
  }
  return sums;
}

}  // namespace

std::uint32_t crc32_gzip_refl(std::uint32_t init, const unsigned char* data, std::uint64_t bytes) {
  return ~static_cast<std::uint32_t>(
      Crc<gzip>::update(static_cast<std::uint32_t>(~init), data, bytes));
}

unsigned int crc32_iscsi(unsigned char* data, int bytes, unsigned int init) {
  if (bytes <= 0) return init;
  return static_cast<unsigned int>(Crc<iscsi>::update(init, data, static_cast<std::size_t>(bytes)));
}

std::uint64_t crc64_ecma_refl(std::uint64_t init, const unsigned char* data, std::uint64_t bytes) {
  return ~Crc<ecma>::update(~init, data, bytes);
}

std::uint16_t crc16_t10dif(std::uint16_t init, const unsigned char* data, std::uint64_t bytes) {
  return static_cast<std::uint16_t>(Crc<t10dif>::update(std::uint64_t{init} << 48, data, bytes) >>
                                    48);
}

// a = 1 + sum of the bytes and b = sum of all a, modulo 65521, for the initial value 1.
std::uint32_t isal_adler32(std::uint32_t init, const unsigned char* data, std::uint64_t bytes) {
  std::uint64_t a = init & 0xFFFF;
  std::uint64_t b = init >> 16;
  const auto add = [&](const AdlerSums& sums, std::size_t count) {
    b = (b + a * count + sums.b) % adler_modulus;
    a = (a + sums.a) % adler_modulus;
    data += count;
    bytes -= count;
  };
  AdlerSum* const kernel = checksum_kernels().adler;
  while (kernel != nullptr && bytes >= 32) {
    const std::size_t blocks = std::min<std::size_t>(bytes / 32, adler_blocks_max);
    add(kernel(data, blocks), 32 * blocks);
  }
  do {
    const std::size_t count = std::min<std::size_t>(bytes, 32 * adler_blocks_max);
    add(adler_plainly(data, count), count);
  } while (bytes > 0);
  return static_cast<std::uint32_t>(b << 16 | a);
}
