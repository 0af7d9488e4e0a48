// SPDX-License-Identifier: Apache-2.0
#include "code/proof.hpp"

#include <algorithm>
#include <numeric>

#include "base/assert.hpp"
#include "base/next_subset.hpp"
#include "base/text.hpp"
#include "code/families.hpp"
#include "code/minors.hpp"

namespace calpe::code {

namespace {

constexpr std::uint64_t minors_max = 50'000'000;
constexpr std::uint64_t patterns_max = 10'000'000;

gf::Matrix leading(const gf::Matrix& matrix, std::size_t rows, std::size_t columns) {
  gf::Matrix part(std::min(rows, matrix.rows()), std::min(columns, matrix.columns()));
  for (std::size_t r = 0; r < part.rows(); ++r) {
    for (std::size_t c = 0; c < part.columns(); ++c)
      part(r, c) = matrix(r, c);
  }
  return part;
}

CodeProof proven_by_cauchy(const Code& code) {
  CodeProof proof;
  proof.kind = CodeProof::Kind::cauchy;
  proof.losses = code.spec.parity_shards;
  proof.text = text("MDS: every coefficient equals r_i * c_j / (x_i + y_j) over GF(2^",
                    code.field->word_bits(), "), with ", code.shards(),
                    " distinct points and non-zero scales, all ", code.parity.cells().size(),
                    " entries checked; so every minor is a non-zero Cauchy determinant and any ",
                    code.parity_shards(), " lost shards can be rebuilt");
  return proof;
}

// The text of docs/codes.md, "lch": only the points have to be checked.
CodeProof proven_by_points(const Code& code) {
  const std::size_t count = lch_size(code.parity_shards()) + code.data_shards();
  std::vector<bool> is_taken(code.field->size());
  for (const gf::Element point : code.lch->points.first(count)) {
    CALPE_ASSERT(!is_taken[point]);
    is_taken[point] = true;
  }
  CodeProof proof;
  proof.kind = CodeProof::Kind::cauchy;
  proof.losses = code.spec.parity_shards;
  proof.text = text("MDS: every coefficient is c_j / (x_i + y_j) over GF(2^16), with ", count,
                    " points, all checked to be distinct, and scales c_j that are such points and "
                    "not 0; so every minor is a non-zero Cauchy determinant and any ",
                    code.parity_shards(), " lost shards can be rebuilt");
  return proof;
}

// The loss consists of the columns of the singular sub-matrix and every parity not among its rows.
CodeProof refuted_by(const Code& code, const MinorSearch& search) {
  CodeProof proof;
  proof.kind = CodeProof::Kind::refuted;
  proof.minors = search.evaluated;
  std::vector<ShardIndex> data;
  std::vector<ShardIndex> parity;
  for (const std::size_t c : search.columns)
    data.push_back(static_cast<ShardIndex>(c));
  for (std::size_t i = 0; i < code.parity_shards(); ++i) {
    if (std::ranges::find(search.rows, i) == search.rows.end()) {
      parity.push_back(static_cast<ShardIndex>(i));
    }
  }
  proof.dead_pattern = data;
  for (const ShardIndex i : parity) {
    proof.dead_pattern.push_back(static_cast<ShardIndex>(code.data_shards() + i));
  }
  proof.text = text("not MDS: losing data ", join<ShardIndex>(data),
                    parity.empty() ? "" : " with parity ", join<ShardIndex>(parity),
                    " cannot be rebuilt: the remaining rows for these data shards are singular");
  return proof;
}

CodeProof proven_by_pyramid(const Code& code) {
  const std::size_t locals = code.spec.local_groups;
  const std::size_t globals = code.parity_shards() - locals;
  gf::Matrix base(globals + 1, code.data_shards());
  for (std::size_t j = 0; j < code.data_shards(); ++j) {
    for (std::size_t i = 0; i < locals; ++i) {
      base(0, j) = static_cast<gf::Element>(base(0, j) ^ code.parity(i, j));
    }
    for (std::size_t i = 0; i < globals; ++i)
      base(i + 1, j) = code.parity(locals + i, j);
  }
  CodeProof proof;
  if (!recognise_cauchy(*code.field, base)) {
    const MinorSearch search = search_minors(*code.field, base, minors_max);
    proof.minors = search.evaluated;
    if (search.found_singular() || !search.complete) return proof;
  }
  proof.kind = CodeProof::Kind::pyramid;
  proof.losses = static_cast<std::uint32_t>(globals + 1);
  proof.text = text("any ", globals + 1, " lost shards can be rebuilt: the sum of the ", locals,
                    " local parities and the ", globals,
                    " global ones are the parities of a proven MDS code, and splitting its first "
                    "row into groups only adds weight; one lost shard of a group reads its group");
  return proof;
}

}  // namespace

CodeProof prove_rows(const Code& code) {
  if (code.is_wide()) return proven_by_points(code);
  if (code.cauchy) return proven_by_cauchy(code);
  if (code.spec.family == CodeFamily::lrc) return proven_by_pyramid(code);

  // Search small leading parts first: a singular minor there is one of the whole matrix.
  MinorSearch search = search_minors(*code.field, leading(code.parity, 8, 24), minors_max);
  const std::uint64_t all = minor_count(code.parity.rows(), code.parity.columns());
  if (!search.found_singular()) {
    search = search_minors(*code.field, code.parity, minors_max);
  }
  if (search.found_singular()) return refuted_by(code, search);
  CodeProof proof;
  proof.minors = search.evaluated;
  if (!search.complete) {
    proof.text = text("undecided: ", search.evaluated, " of ", all,
                      " minors were evaluated, none is singular, but no Cauchy form was found");
    return proof;
  }
  proof.kind = CodeProof::Kind::minors;
  proof.losses = code.spec.parity_shards;
  proof.text = text("MDS: all ", search.evaluated,
                    " square sub-matrices of the parity rows were evaluated and none is singular");
  return proof;
}

bool is_recoverable(const Code& code, std::span<const ShardIndex> lost) {
  // Unknowns: the lost data shards. Equations: the remaining parity shards.
  std::vector<std::size_t> columns;
  std::vector<bool> is_lost(code.shards());
  for (const ShardIndex index : lost)
    is_lost[index] = true;
  for (std::size_t j = 0; j < code.data_shards(); ++j) {
    if (is_lost[j]) columns.push_back(j);
  }
  gf::Matrix rows(code.parity_shards(), columns.size());
  for (std::size_t i = 0; i < code.parity_shards(); ++i) {
    if (is_lost[code.data_shards() + i]) continue;
    for (std::size_t c = 0; c < columns.size(); ++c)
      rows(i, c) = code.coefficient(i, columns[c]);
  }
  return gf::rank(*code.field, std::move(rows)) == columns.size();
}

Result<std::vector<PatternCount>> count_patterns(const Code& code) {
  const std::size_t n = code.shards();
  std::uint64_t total = 0;
  std::vector<PatternCount> counts;
  for (std::size_t e = 1; e <= code.parity_shards(); ++e) {
    const std::uint64_t patterns = minor_count(e, n - e) + 1;  // C(n, e)
    if (patterns > patterns_max || (total += patterns) > patterns_max) {
      return invalid("k + m is ", n, ", which has more than ", patterns_max, " loss patterns");
    }
    counts.push_back(
        {.losses = static_cast<std::uint32_t>(e), .patterns = patterns, .recoverable = 0});
  }
  for (PatternCount& count : counts) {
    std::vector<ShardIndex> lost(count.losses);
    std::iota(lost.begin(), lost.end(), ShardIndex{0});
    do {
      count.recoverable += is_recoverable(code, lost) ? 1 : 0;
    } while (next_subset(std::span(lost), n));
  }
  return counts;
}

}  // namespace calpe::code
