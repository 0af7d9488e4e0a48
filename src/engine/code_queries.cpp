// SPDX-License-Identifier: Apache-2.0
// Queries about codes and devices that need no codec.
#include <algorithm>

#include <calpe/code_spec.hpp>
#include <calpe/codec.hpp>
#include <calpe/galois.hpp>
#include <calpe/techniques.hpp>

#include "backend/backend.hpp"
#include "backend/techniques.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "code/code.hpp"
#include "code/proof.hpp"
#include "code/spec_rules.hpp"

namespace calpe {

std::vector<Profile> list_profiles() {
  const auto profiles = code::all_profiles();
  std::vector<Profile> listed(profiles.begin(), profiles.end());
  std::erase_if(listed, [](const Profile& p) { return p.family == CodeFamily::custom; });
  return listed;
}

Result<CodeSpec> find_profile(std::string_view name) {
  return guarded([&]() -> Result<CodeSpec> {
    std::string names;
    for (const Profile& profile : code::all_profiles()) {
      if (profile.family == CodeFamily::custom) continue;
      if (profile.name == name) {
        CodeSpec spec;
        spec.family = profile.family;
        spec.layout = profile.bytes_layout ? Layout::bytes : Layout::packets;
        return spec;
      }
      names += names.empty() ? "" : ", ";
      names += profile.name;
    }
    return invalid("profile is ", name, "; expected one of ", names);
  });
}

std::string_view proof_kind_name(CodeProof::Kind kind) noexcept {
  switch (kind) {
    case CodeProof::Kind::cauchy:
      return "cauchy";
    case CodeProof::Kind::minors:
      return "minors";
    case CodeProof::Kind::pyramid:
      return "pyramid";
    case CodeProof::Kind::refuted:
      return "refuted";
    case CodeProof::Kind::undecided:
      return "undecided";
  }
  return {};
}

Result<CodeProof> prove(const CodeSpec& spec) {
  return guarded([&]() -> Result<CodeProof> {
    CALPE_TRY(const code::Code code, code::make_code(spec));
    return code.proof;
  });
}

Result<std::vector<std::uint16_t>> parity_rows(const CodeSpec& spec) {
  return guarded([&]() -> Result<std::vector<std::uint16_t>> {
    CALPE_TRY(const code::Code code, code::make_code(spec));
    constexpr std::size_t cells_max = std::size_t{1} << 26;
    const std::size_t cells = code.parity_shards() * code.data_shards();
    if (cells > cells_max) {
      return invalid("the code has ", cells, " coefficients; expected at most ", cells_max);
    }
    std::vector<std::uint16_t> rows;
    rows.reserve(cells);
    for (std::size_t i = 0; i < code.parity_shards(); ++i) {
      for (std::size_t j = 0; j < code.data_shards(); ++j)
        rows.push_back(code.coefficient(i, j));
    }
    return rows;
  });
}

Result<std::vector<PatternCount>> count_recoverable(const CodeSpec& spec) {
  return guarded([&]() -> Result<std::vector<PatternCount>> {
    CALPE_TRY(const code::Code code, code::make_code(spec));
    return code::count_patterns(code);
  });
}

std::vector<BackendInfo> list_backends() {
  std::vector<BackendInfo> infos;
  for (const backend::Backend& backend : backend::registered_backends()) {
    for (backend::BackendStatus& status : backend.list()) {
      infos.push_back({.name = std::move(status.name),
                       .description = std::move(status.description),
                       .available = status.available,
                       .reason = std::move(status.reason)});
    }
  }
  return infos;
}

std::vector<TechniqueInfo> list_techniques() {
  const auto techniques = backend::techniques();
  return {techniques.begin(), techniques.end()};
}

struct GaloisField::Impl {
  std::shared_ptr<const gf::Field> field;
};

Result<GaloisField> GaloisField::create(unsigned word_bits, std::uint32_t polynomial) {
  return guarded([&]() -> Result<GaloisField> {
    if (word_bits > 8) return invalid("word_bits is ", word_bits, "; expected 2..8");
    CALPE_TRY(auto field, gf::Field::create(word_bits, polynomial));
    return GaloisField(std::make_shared<const Impl>(Impl{std::move(field)}));
  });
}

unsigned GaloisField::word_bits() const noexcept {
  return impl_->field->word_bits();
}
std::uint32_t GaloisField::polynomial() const noexcept {
  return impl_->field->polynomial();
}

Result<std::uint16_t> GaloisField::multiply(std::uint16_t a, std::uint16_t b) const {
  return guarded([&]() -> Result<std::uint16_t> {
    if (std::max(a, b) >= impl_->field->size()) {
      return invalid("operand is ", std::max(a, b), "; expected below ", impl_->field->size());
    }
    return impl_->field->multiply(a, b);
  });
}

Result<std::uint16_t> GaloisField::inverse(std::uint16_t a) const {
  return guarded([&]() -> Result<std::uint16_t> {
    if (a == 0 || a >= impl_->field->size()) {
      return invalid("operand is ", a, "; expected 1..", impl_->field->order());
    }
    return impl_->field->inverse(a);
  });
}

Result<std::vector<std::uint16_t>> GaloisField::invert_matrix(std::span<const std::uint16_t> matrix,
                                                              std::size_t size) const {
  return guarded([&]() -> Result<std::vector<std::uint16_t>> {
    constexpr std::size_t size_max = 4096;
    if (size > size_max || matrix.size() != size * size) {
      return invalid("matrix has ", matrix.size(), " cells; expected the square of size ", size,
                     ", at most ", size_max);
    }
    gf::Matrix square(size, size);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      if (matrix[i] >= impl_->field->size()) {
        return invalid("matrix[", i, "] is ", matrix[i], "; expected below ", impl_->field->size());
      }
      square(i / size, i % size) = matrix[i];
    }
    const auto inverse = gf::invert(*impl_->field, std::move(square));
    if (!inverse) return make_error(ErrorCode::unrecoverable, "matrix is singular");
    return std::vector<std::uint16_t>(inverse->cells().begin(), inverse->cells().end());
  });
}

}  // namespace calpe
