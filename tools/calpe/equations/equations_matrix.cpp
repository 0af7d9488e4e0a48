// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/equations_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/progress.hpp"
#include "kernel_cache/cache_folder.hpp"
#include "opt/known_matrices.hpp"

namespace calpe::tools {

namespace {

constexpr const char* memory_name = "matrices.txt";

std::string remembered_text() {
  const std::string path = kernel::cache_location().folder;
  if (path.empty()) return {};
  const auto folder = PrivateFolder::open(path);
  if (!folder) return {};
  auto text = folder->read(memory_name);
  return text ? *std::move(text) : std::string();
}

bool is_for(const opt::FoundMatrix& found, const opt::MatrixSpec& spec) {
  const bool has_ones_row = found.points.row_points[0] == opt::CauchyPoints::infinity;
  return found.data() == spec.data && found.parity() == spec.parity &&
         found.field->polynomial() == spec.field->polynomial() && has_ones_row == spec.has_ones_row;
}

// Skips lines it cannot parse: a newer release may have written them.
std::optional<opt::FoundMatrix> remembered(const opt::MatrixSpec& spec, opt::Budget budget,
                                           std::uint64_t seed) {
  const std::string text = remembered_text();
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    auto found = opt::parse_found(std::string_view(text).substr(start, end - start));
    if (found && is_for(*found, spec) && found->budget == budget && found->seed == seed) {
      return *std::move(found);
    }
    start = end + 1;
  }
  return std::nullopt;
}

Status remember(const opt::FoundMatrix& found) {
  const kernel::CacheLocation location = kernel::cache_location();
  if (location.folder.empty()) return Done{};  // caching is disabled, or there is no home
  CALPE_TRY(const PrivateFolder folder, kernel::prepare_folder(location.folder));
  return folder.replace(memory_name, remembered_text() + opt::print(found) + "\n");
}

Result<ChosenMatrix> searched(const opt::MatrixSpec& spec, opt::Budget budget, std::uint64_t seed) {
  if (auto found = remembered(spec, budget, seed)) {
    return ChosenMatrix{.found = *std::move(found), .origin = "remembered", .not_kept = {}};
  }
  auto found = [&] {
    const Progress progress(fmt::format("searching a matrix for {}+{}, w={}", spec.data,
                                        spec.parity, spec.field->word_bits()));
    return opt::search_matrix(spec, budget, seed);
  }();
  if (!found) return std::move(found).error();
  const Status kept = remember(found->found);
  return ChosenMatrix{.found = std::move(found->found),
                      .origin = "searched",
                      .not_kept = kept ? "" : kept.error().message};
}

}  // namespace

Result<ChosenMatrix> matrix_of_table(const opt::MatrixSpec& spec) {
  if (auto known = opt::known_matrix(*spec.field, spec.data, spec.parity))
    return ChosenMatrix{.found = *std::move(known), .origin = "known", .not_kept = {}};
  std::vector<std::string> shapes;
  for (const std::string_view line : opt::known_matrix_lines()) {
    if (const auto found = opt::parse_found(line)) {
      shapes.push_back(
          fmt::format("{}+{} w={}", found->data(), found->parity(), found->field->word_bits()));
    }
  }
  return invalid("no matrix is known for ", spec.data, "+", spec.parity,
                 " w=", spec.field->word_bits(), ", only for ",
                 fmt::format("{}", fmt::join(shapes, ", ")), "; --matrix search finds one");
}

Result<ChosenMatrix> fewest_xors_matrix(const opt::MatrixSpec& spec, opt::Budget budget,
                                        std::uint64_t seed) {
  CALPE_TRY(ChosenMatrix best, searched(spec, budget, seed));
  auto known = matrix_of_table(spec);
  if (!known || known->found.xors >= best.found.xors) return best;
  known->not_kept = best.not_kept;
  return known;
}

}  // namespace calpe::tools
