// SPDX-License-Identifier: Apache-2.0
// Field arithmetic, for callers that build their own matrices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

// GF(2^w) for w = 2..8. Immutable, cheap to copy and safe to share between threads.
class GaloisField {
 public:
  // `polynomial` includes the x^w term; 0 means the default one. Fails with invalid_argument if it
  // is not irreducible of degree w.
  static Result<GaloisField> create(unsigned word_bits = 8, std::uint32_t polynomial = 0);

  unsigned word_bits() const noexcept;
  std::uint32_t polynomial() const noexcept;

  // Fail with invalid_argument if an operand is not below 2^w, and for the inverse of 0.
  Result<std::uint16_t> multiply(std::uint16_t a, std::uint16_t b) const;
  Result<std::uint16_t> inverse(std::uint16_t a) const;
  // Inverts a row-major size x size matrix. Fails with unrecoverable if it is singular.
  Result<std::vector<std::uint16_t>> invert_matrix(std::span<const std::uint16_t> matrix,
                                                   std::size_t size) const;

 private:
  struct Impl;
  explicit GaloisField(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace calpe
