// SPDX-License-Identifier: Apache-2.0
// What an encoder computes, and whether it keeps the promise of an erasure code.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::tools {

// The bit blocks of a map as elements of GF(2^w), where they are multiplications.
struct FieldView {
  std::uint32_t polynomial = 0;
  gf::Matrix coefficients = {};  // parity x data
};

// Tries the usual polynomial and, up to w = 8, all others. Nothing when no field fits.
std::optional<FieldView> field_view(const ir::Program& program);

struct MdsAnswer {
  bool is_mds = false;
  std::uint64_t patterns = 0;         // losses of m shards that were tried; 0: proven otherwise
  std::vector<ShardIndex> dead = {};  // not MDS: a loss that cannot be rebuilt, as small as it gets
  std::string text = {};              // one sentence
};

// All losses of m shards by rank over GF(2), which covers all smaller ones. When they are too many
// to be tried, a view with a Cauchy form is proof enough; fails with unproven otherwise.
Result<MdsAnswer> prove_mds(const ir::Program& program, const std::optional<FieldView>& view);

}  // namespace calpe::tools
