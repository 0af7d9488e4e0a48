// SPDX-License-Identifier: Apache-2.0
// Loops of the checksums for some CPUs, each compiled with its own flags.
#pragma once
#include <cstddef>
#include <cstdint>

#include "isal/crc_form.hpp"
#include "isal/isal_abi.hpp"

namespace calpe_isal {

// Returns the register after the first `done` bytes of a message, and sets `done`, the largest
// multiple of 16. Requires at least 16 bytes.
using CrcFold = std::uint64_t(const CrcFolds& folds, std::uint64_t reg, const Byte* data,
                              std::size_t bytes, std::size_t& done);

// Sums of Adler-32, not reduced: a = sum of the bytes, b = sum of (bytes - i) * byte i.
struct AdlerSums {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};
// Reads 32 * blocks bytes. At most `adler_blocks_max` blocks.
using AdlerSum = AdlerSums(const Byte* data, std::size_t blocks);
inline constexpr std::size_t adler_blocks_max = 1024;

#if defined(__x86_64__)
CrcFold fold_pclmul;   // PCLMULQDQ and SSSE3
CrcFold fold_vpclmul;  // VPCLMULQDQ and AVX-512; requires at least 64 bytes
AdlerSum adler_avx2;
#endif

// The kernels of Calpe's CPU path, chosen once; null for plain loops.
struct ChecksumKernels {
  CrcFold* fold = nullptr;       // at least 16 bytes
  CrcFold* fold_long = nullptr;  // at least 256 bytes
  AdlerSum* adler = nullptr;
};
const ChecksumKernels& checksum_kernels();

}  // namespace calpe_isal
