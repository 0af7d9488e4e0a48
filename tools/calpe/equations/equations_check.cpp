// SPDX-License-Identifier: Apache-2.0
#include "calpe/equations/equations_check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <span>

#include <calpe/codec.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/equations/equations_program.hpp"
#include "ir/linear_map.hpp"

namespace calpe::tools {

namespace {

// The rank of an 80 x 80 bit matrix takes about 10 us, so this limits a check to about ten seconds.
constexpr std::uint64_t patterns_max = 1'000'000;
constexpr std::uint32_t units_max = 64;

// Returns n over r, saturated.
std::uint64_t choose(std::uint64_t n, std::uint64_t r) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= r; ++i) {
    if (result > std::numeric_limits<std::uint64_t>::max() / n) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    result = result * (n - r + i) / i;
  }
  return result;
}

// Bits of the map by output and data shard: unit b of the shard is bit b.
class Blocks {
 public:
  explicit Blocks(const ir::Program& program)
      : w_(program.unit_count()),
        data_shards_(program.input_shards()),
        parity_shards_(program.output_shards()),
        words_(std::size_t{program.outputs()} * data_shards_) {
    const auto map = ir::bit_map(program);
    for (std::size_t r = 0; r < map.rows(); ++r) {
      for (std::size_t c = 0; c < map.columns(); ++c) {
        if (map.get(r, c)) words_[r * data_shards_ + c / w_] |= std::uint64_t{1} << (c % w_);
      }
    }
  }

  std::uint32_t data_shards() const { return data_shards_; }
  std::uint32_t parity_shards() const { return parity_shards_; }
  std::uint32_t w() const { return w_; }
  std::uint64_t get(std::size_t output, std::size_t shard) const {
    return words_[output * data_shards_ + shard];
  }

  // Surviving parity must determine the lost data; lost parity is then recomputed from the data.
  bool can_rebuild(std::span<const ShardIndex> lost) const {
    const auto first_parity =
        std::ranges::find_if(lost, [&](ShardIndex shard) { return shard >= data_shards_; });
    const std::span<const ShardIndex> data(lost.begin(), first_parity);
    const std::span<const ShardIndex> parity(first_parity, lost.end());
    gf::BitMatrix rest((parity_shards_ - parity.size()) * w_, data.size() * w_);
    std::size_t row = 0;
    for (std::uint32_t p = 0; p < parity_shards_; ++p) {
      if (std::ranges::find(parity, data_shards_ + p) != parity.end()) continue;
      for (std::uint32_t b = 0; b < w_; ++b, ++row)
        fill(rest.row(row), std::size_t{p} * w_ + b, data);
    }
    const std::size_t unknown = rest.columns();
    return gf::rank(std::move(rest)) == unknown;
  }

 private:
  void fill(std::span<std::uint64_t> row, std::size_t output,
            std::span<const ShardIndex> data) const {
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::uint64_t bits = get(output, data[i]);
      const std::size_t at = i * w_;
      row[at / 64] |= bits << (at % 64);
      if (at % 64 + w_ > 64) row[at / 64 + 1] |= bits >> (64 - at % 64);
    }
  }

  std::uint32_t w_;
  std::uint32_t data_shards_;
  std::uint32_t parity_shards_;
  std::vector<std::uint64_t> words_;
};

// Steps to the next combination of pattern.size() out of n, in ascending order. Returns false after
// the last.
bool next_pattern(std::vector<ShardIndex>& pattern, std::size_t n) {
  const std::size_t count = pattern.size();
  for (std::size_t i = count; i-- > 0;) {
    if (pattern[i] + (count - i) >= n) continue;
    std::iota(pattern.begin() + static_cast<std::ptrdiff_t>(i), pattern.end(),
              static_cast<ShardIndex>(pattern[i] + 1));
    return true;
  }
  return false;
}

// Removes shards without which the loss is still unrecoverable.
std::vector<ShardIndex> smallest_dead(const Blocks& blocks, std::vector<ShardIndex> lost) {
  for (std::size_t i = 0; i < lost.size();) {
    std::vector<ShardIndex> fewer = lost;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!blocks.can_rebuild(fewer)) {
      lost = std::move(fewer);
    } else {
      ++i;
    }
  }
  return lost;
}

MdsAnswer try_all(const Blocks& blocks, std::uint64_t patterns) {
  const std::size_t k = blocks.data_shards();
  const std::size_t m = blocks.parity_shards();
  Progress progress(fmt::format("trying {} losses", patterns));
  std::vector<ShardIndex> lost(m);
  std::iota(lost.begin(), lost.end(), ShardIndex{0});
  MdsAnswer answer;
  do {
    ++answer.patterns;
    if (answer.patterns % 4096 == 0)
      progress.say(fmt::format("{} of {} losses tried", answer.patterns, patterns));
    if (blocks.can_rebuild(lost)) continue;
    answer.dead = smallest_dead(blocks, lost);
    answer.text =
        fmt::format("not MDS: losing {} cannot be rebuilt: the other shards do not determine it",
                    name_shards(answer.dead, k));
    return answer;
  } while (next_pattern(lost, k + m));
  answer.is_mds = true;
  answer.text =
      fmt::format("MDS: every loss of up to {} of {} shards can be rebuilt ({} losses of {} tried)",
                  m, k + m, answer.patterns, m);
  return answer;
}

// Uses the library's proof, which finds a Cauchy form at any size.
Result<MdsAnswer> prove_view(const ir::Program& program, const FieldView& view) {
  const std::span<const gf::Element> rows = view.coefficients.cells();
  const auto codec = Codec::create_from_matrix(
      {.family = CodeFamily::custom,
       .layout = Layout::packets,
       .data_shards = static_cast<std::uint32_t>(program.input_shards()),
       .parity_shards = static_cast<std::uint32_t>(program.output_shards()),
       .word_bits = static_cast<std::uint8_t>(program.unit_count()),
       .polynomial = view.polynomial},
      rows, {.backend = "reference"});
  if (!codec) return codec.error();
  return MdsAnswer{.is_mds = true, .text = "MDS: " + codec->proof().text};
}

bool is_multiplication(const Blocks& blocks, const gf::Field& field, std::uint32_t parity,
                       std::uint32_t data, gf::Element& coefficient) {
  // Column t is coefficient * 2^t, so column 0 gives the candidate coefficient.
  const auto column = [&](unsigned t) {
    std::uint32_t bits = 0;
    for (std::uint32_t b = 0; b < blocks.w(); ++b)
      bits |= static_cast<std::uint32_t>(blocks.get(parity * blocks.w() + b, data) >> t & 1) << b;
    return static_cast<gf::Element>(bits);
  };
  coefficient = column(0);
  for (unsigned t = 1; t < blocks.w(); ++t) {
    if (column(t) != field.multiply(coefficient, static_cast<gf::Element>(1U << t))) return false;
  }
  return true;
}

std::optional<FieldView> view_over(const Blocks& blocks, const gf::Field& field) {
  FieldView view{field.polynomial(), gf::Matrix(blocks.parity_shards(), blocks.data_shards())};
  for (std::uint32_t p = 0; p < blocks.parity_shards(); ++p) {
    for (std::uint32_t d = 0; d < blocks.data_shards(); ++d) {
      if (!is_multiplication(blocks, field, p, d, view.coefficients(p, d))) return std::nullopt;
    }
  }
  return view;
}

}  // namespace

std::optional<FieldView> field_view(const ir::Program& program) {
  const std::uint32_t w = program.unit_count();
  if (w < gf::word_bits_min || w > gf::word_bits_max) return std::nullopt;
  const Blocks blocks(program);
  if (const auto usual = gf::Field::create(w, 0)) {
    if (auto view = view_over(blocks, **usual)) return view;
  }
  for (std::uint32_t p = 1U << w; w <= 8 && p < 2U << w; ++p) {
    const auto field = gf::Field::create(w, p);
    if (!field) continue;
    if (auto view = view_over(blocks, **field)) return view;
  }
  return std::nullopt;
}

Result<MdsAnswer> prove_mds(const ir::Program& program, const std::optional<FieldView>& view) {
  if (program.unit_count() > units_max) {
    return invalid("a shard has ", program.unit_count(), " units; expected at most ", units_max);
  }
  const std::uint64_t k = program.input_shards();
  const std::uint64_t m = program.output_shards();
  if (k == 0 || k + m > std::numeric_limits<ShardIndex>::max()) {
    return invalid("there are ", k, "+", m, " shards; expected 1 to 65535");
  }
  const std::uint64_t patterns = choose(k + m, std::min(k, m));
  if (patterns <= patterns_max) return try_all(Blocks(program), patterns);
  if (view && program.unit_count() <= 8 && k + m <= byte_shard_count_max)
    return prove_view(program, *view);
  return make_error(
      ErrorCode::unproven, "there are ", patterns, " losses of ", m, " of ", k + m,
      " shards, more than the ", patterns_max,
      " that can be tried, and the blocks are not multiplications of a field, which would allow ",
      "a shorter proof; check the same construction with fewer shards");
}

}  // namespace calpe::tools
