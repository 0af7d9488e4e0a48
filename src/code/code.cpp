// SPDX-License-Identifier: Apache-2.0
#include "code/code.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "code/families.hpp"
#include "code/matrix_hash.hpp"
#include "code/proof.hpp"
#include "code/spec_rules.hpp"

namespace calpe::code {

namespace {

gf::Matrix build_rows(const gf::Field& field, const CodeSpec& spec) {
  const Size size{.data = spec.data_shards, .parity = spec.parity_shards};
  switch (spec.family) {
    case CodeFamily::cauchy:
      return cauchy_rows(field, size);
    case CodeFamily::hybrid:
      return hybrid_rows(field, size);
    case CodeFamily::lch:
      return lch_rows(field, size);
    case CodeFamily::hybrid_good:
      return hybrid_good_rows(field, size);
    case CodeFamily::vandermonde:
      return vandermonde_rows(field, size);
    case CodeFamily::vandermonde_jerasure:
      return vandermonde_jerasure_rows(field, size);
    case CodeFamily::vandermonde_isal:
      return vandermonde_isal_rows(field, size);
    case CodeFamily::vandermonde_zfec:
      return vandermonde_zfec_rows(field, size);
    case CodeFamily::vandermonde_lec:
      return vandermonde_lec_rows(field, size);
    case CodeFamily::cauchy_orig:
      return cauchy_orig_rows(field, size);
    case CodeFamily::cauchy_good:
      return cauchy_good_rows(field, size);
    case CodeFamily::raid6:
      return raid6_rows(field, size);
    case CodeFamily::lrc:
      return lrc_rows(field, size, spec.local_groups);
    case CodeFamily::custom:        // rows come from the caller
    case CodeFamily::default_code:  // already resolved
      break;
  }
  return {};
}

Result<Code> finish(Code code) {
  const std::uint64_t hash = matrix_hash(code);
  if (code.spec.matrix_hash != 0 && code.spec.matrix_hash != hash) {
    return make_error(ErrorCode::corrupt, "matrix_hash is ", code.spec.matrix_hash,
                      ", but these rows hash to ", hash,
                      ": the shards were written with another matrix");
  }
  code.spec.matrix_hash = hash;
  if (!code.is_wide()) code.cauchy = recognise_cauchy(*code.field, code.parity);
  code.proof = prove_rows(code);
  return code;
}

}  // namespace

Result<Code> make_code(const CodeSpec& spec) {
  if (spec.family == CodeFamily::custom) {
    return invalid("family is custom; expected a profile; custom rows are given with the spec");
  }
  Code code;
  CALPE_TRY(code.spec, resolve(spec));
  CALPE_TRY(code.field, field_of(code.spec));
  if (!code.is_wide()) code.parity = build_rows(*code.field, code.spec);
  if (code.spec.family == CodeFamily::lch) {
    code.lch = lch_form(*code.field, code.spec.parity_shards);
  }
  return finish(std::move(code));
}

Result<Code> make_custom_code(const CodeSpec& spec, std::span<const gf::Element> parity_rows) {
  if (spec.family != CodeFamily::custom) {
    return invalid("family is ", static_cast<unsigned>(spec.family), "; expected ",
                   static_cast<unsigned>(CodeFamily::custom), " (custom): rows were given");
  }
  Code code;
  CALPE_TRY(code.spec, resolve(spec));
  CALPE_TRY(code.field, field_of(code.spec));
  const std::size_t k = code.spec.data_shards;
  const std::size_t m = code.spec.parity_shards;
  if (parity_rows.size() != k * m) {
    return invalid("parity_rows has ", parity_rows.size(), " coefficients; expected ", m, " x ", k);
  }
  code.parity = gf::Matrix(m, k);
  for (std::size_t i = 0; i < m * k; ++i) {
    if (parity_rows[i] >= code.field->size()) {
      return invalid("parity_rows[", i, "] is ", parity_rows[i], "; expected below ",
                     code.field->size());
    }
    code.parity(i / k, i % k) = parity_rows[i];
  }
  return finish(std::move(code));
}

}  // namespace calpe::code
