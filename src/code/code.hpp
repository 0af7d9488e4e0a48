// SPDX-License-Identifier: Apache-2.0
// Turns a CodeSpec into a generator matrix and a proof that every promised loss can be rebuilt.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include <calpe/code_spec.hpp>

#include "code/cauchy_form.hpp"
#include "code/lch.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

struct Code {
  CodeSpec spec;  // resolved: no defaults left, matrix_hash filled in
  gf::FieldRef field;
  // m x k: parity i = sum over j of parity(i, j) * data j. Empty if the code is wide, which may
  // have a billion coefficients; coefficient() computes each.
  gf::Matrix parity;
  std::optional<CauchyForm> cauchy;  // closed forms for plans, if any
  std::optional<LchForm> lch;        // family lch only: its rows as transforms
  CodeProof proof;

  bool is_wide() const noexcept { return spec.word_bits == lch_wide_bits; }
  std::size_t data_shards() const noexcept { return spec.data_shards; }
  std::size_t parity_shards() const noexcept { return spec.parity_shards; }
  std::size_t shards() const noexcept { return data_shards() + parity_shards(); }
  // Coefficient of data shard j in parity shard i.
  gf::Element coefficient(std::size_t i, std::size_t j) const noexcept {
    return is_wide() ? lch_coefficient(*field, *lch, i, j) : parity(i, j);
  }
  // Coefficient of data shard j in shard `index`, data shards included.
  gf::Element generator(std::size_t index, std::size_t j) const noexcept {
    return index < data_shards() ? static_cast<gf::Element>(index == j)
                                 : coefficient(index - data_shards(), j);
  }
};

// Accepts any well-formed spec; the caller checks the proof. Fails with invalid_argument, or with
// corrupt if spec.matrix_hash is set and differs.
Result<Code> make_code(const CodeSpec& spec);

// The same for the caller's own m x k rows; spec.family must be custom.
Result<Code> make_custom_code(const CodeSpec& spec, std::span<const gf::Element> parity_rows);

}  // namespace calpe::code
