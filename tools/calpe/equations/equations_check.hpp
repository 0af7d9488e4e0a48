// SPDX-License-Identifier: Apache-2.0
// Finds what an encoder computes and whether it is MDS.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::tools {

// The bit blocks of a map as elements of GF(2^w), if they are multiplications.
struct FieldView {
  std::uint32_t polynomial = 0;
  gf::Matrix coefficients = {};  // parity x data
};

// Tries the usual polynomial and, up to w = 8, all others. Returns nullopt if no field fits.
std::optional<FieldView> field_view(const ir::Program& program);

struct MdsAnswer {
  bool is_mds = false;
  std::uint64_t patterns = 0;         // losses of m shards tried; 0: proven in another way
  std::vector<ShardIndex> dead = {};  // not MDS: a minimal loss that cannot be rebuilt
  std::string text = {};              // one sentence
};

// Tries all losses of m shards by rank over GF(2), which covers all smaller losses. If there are
// too many to try, a view with a Cauchy form is enough proof; otherwise fails with unproven.
Result<MdsAnswer> prove_mds(const ir::Program& program, const std::optional<FieldView>& view);

}  // namespace calpe::tools
