// SPDX-License-Identifier: Apache-2.0
// CRCs with carry-less multiplication of 16 bytes.
#include "isal/crc_fold.hpp"

namespace calpe_isal {

namespace {

template <bool is_reflected>
std::uint64_t fold(const CrcFolds& folds, std::uint64_t reg, const Byte* data, std::size_t bytes,
                   std::size_t& done) {
  const auto sum =
      fold_all<Vector16<is_reflected>, 8>(folds.by_128, folds.by_16, reg, data, bytes, done);
  return remainder_of<is_reflected>(folds, sum.value);
}

}  // namespace

std::uint64_t fold_pclmul(const CrcFolds& folds, std::uint64_t reg, const Byte* data,
                          std::size_t bytes, std::size_t& done) {
  return folds.is_reflected ? fold<true>(folds, reg, data, bytes, done)
                            : fold<false>(folds, reg, data, bytes, done);
}

}  // namespace calpe_isal
