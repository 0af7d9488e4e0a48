// SPDX-License-Identifier: Apache-2.0
// Constructs the parity rows (m x k) of each family (docs/codes.md). The caller checks sizes
// (code/spec_rules); nothing here fails. lch has its own header.
#pragma once
#include <cstddef>

#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

struct Size {
  std::size_t data = 0;    // k
  std::size_t parity = 0;  // m
};

// cauchy.cpp
gf::Matrix cauchy_rows(const gf::Field& field, Size size);
gf::Matrix hybrid_rows(const gf::Field& field, Size size);
gf::Matrix cauchy_orig_rows(const gf::Field& field, Size size);
gf::Matrix cauchy_good_rows(const gf::Field& field, Size size);

// hybrid_good.cpp
gf::Matrix hybrid_good_rows(const gf::Field& field, Size size);

// vandermonde.cpp
gf::Matrix vandermonde_rows(const gf::Field& field, Size size);
gf::Matrix vandermonde_jerasure_rows(const gf::Field& field, Size size);
gf::Matrix vandermonde_isal_rows(const gf::Field& field, Size size);
gf::Matrix vandermonde_zfec_rows(const gf::Field& field, Size size);
gf::Matrix vandermonde_lec_rows(const gf::Field& field, Size size);
gf::Matrix raid6_rows(const gf::Field& field, Size size);

// lrc.cpp
std::size_t lrc_group_of(std::size_t data, std::size_t local_groups, std::size_t data_index);
gf::Matrix lrc_rows(const gf::Field& field, Size size, std::size_t local_groups);

}  // namespace calpe::code
