// SPDX-License-Identifier: Apache-2.0
#include "store/identify/identify.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include <calpe/galois.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/identify/bit_solver.hpp"

namespace calpe::store {

namespace {

// Additional samples for confirmation; a wrong guess passes each with probability at most 1/2.
constexpr std::size_t further_samples = 64;
constexpr std::size_t packet_bytes_tried_max = std::size_t{64} << 10U;

// Layout of symbols in a shard.
struct View {
  Layout layout = Layout::bytes;
  unsigned word_bits = 8;
  std::size_t packet_bytes = 0;  // packets only
};

struct Position {
  std::size_t byte = 0;  // of unit 0
  unsigned bit = 0;      // packets only
};

// Number of whole symbols in one shard.
std::size_t position_count(const View& view, std::size_t shard_bytes) {
  if (view.layout == Layout::bytes) return shard_bytes;
  return shard_bytes / (view.word_bits * view.packet_bytes) * view.packet_bytes * 8;
}

Position position(const View& view, std::size_t index) {
  if (view.layout == Layout::bytes) return {index, 0};
  const std::size_t byte = index / 8;
  const std::size_t group = byte / view.packet_bytes;
  return {group * view.word_bits * view.packet_bytes + byte % view.packet_bytes,
          static_cast<unsigned>(index % 8)};
}

bool symbol_bit(const View& view, ConstShard shard, const Position& at, unsigned unit) {
  const bool is_bytes = view.layout == Layout::bytes;
  const std::byte byte = shard[at.byte + (is_bytes ? 0 : unit * view.packet_bytes)];
  return (std::to_integer<unsigned>(byte) >> (is_bytes ? unit : at.bit) & 1U) != 0;
}

std::vector<std::uint64_t> sample(const View& view, std::span<const ConstShard> shards,
                                  std::size_t data, const Position& at, const BitSolver& solver) {
  std::vector<std::uint64_t> words(solver.sample_words());
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const std::size_t start =
        s < data ? s * view.word_bits : solver.output_word() * 64 + (s - data) * view.word_bits;
    for (unsigned u = 0; u < view.word_bits; ++u) {
      const std::size_t bit = start + u;
      words[bit / 64] |= std::uint64_t{symbol_bit(view, shards[s], at, u)} << (bit % 64);
    }
  }
  return words;
}

enum class Answer : std::uint8_t { no, unclear, yes };

Answer solve(const View& view, std::span<const ConstShard> shards, std::size_t data,
             BitSolver& solver) {
  const std::size_t positions = position_count(view, shards[0].size());
  const std::size_t unknowns = data * view.word_bits;
  std::size_t needed = unknowns + further_samples;
  std::mt19937_64 random(unknowns);  // deterministic
  // Regular data may need many more samples; a redundant one is cheap.
  const std::size_t tries_max = std::min(positions, needed * 64);
  const bool takes_all = tries_max == positions;
  for (std::size_t i = 0; i < tries_max; ++i) {
    const Position at = position(view, takes_all ? i : random() % positions);
    if (!solver.add(sample(view, shards, data, at, solver))) return Answer::no;
    if (solver.is_determined() && needed-- == unknowns) return Answer::yes;
  }
  return solver.is_determined() && takes_all ? Answer::yes : Answer::unclear;
}

// Returns the field element this bit block multiplies by, or nullopt.
std::optional<std::uint16_t> element(const BitSolver& solver, const View& view,
                                     const GaloisField& field, std::size_t row,
                                     std::size_t column) {
  const unsigned w = view.word_bits;
  std::uint16_t first = 0;
  for (unsigned t = 0; t < w; ++t) {
    std::uint16_t value = 0;
    for (unsigned b = 0; b < w; ++b) {
      value = static_cast<std::uint16_t>(
          value | (unsigned{solver.coefficient(row * w + b, column * w + t)} << b));
    }
    if (t == 0) first = value;
    if (*field.multiply(first, static_cast<std::uint16_t>(1U << t)) != value) return std::nullopt;
  }
  return first;
}

std::optional<std::vector<std::uint16_t>> rows_over(const BitSolver& solver, const View& view,
                                                    const GaloisField& field, std::size_t parity,
                                                    std::size_t data) {
  std::vector<std::uint16_t> rows;
  for (std::size_t r = 0; r < parity; ++r) {
    for (std::size_t c = 0; c < data; ++c) {
      const std::optional<std::uint16_t> found = element(solver, view, field, r, c);
      if (!found) return std::nullopt;
      rows.push_back(*found);
    }
  }
  return rows;
}

// All fields of 2^w elements, the usual polynomial first.
std::vector<GaloisField> fields_of(unsigned word_bits) {
  std::vector<GaloisField> fields;
  for (std::uint32_t p = 0; p < 2U << word_bits; p = p == 0 ? 1U << word_bits : p + 1) {
    Result<GaloisField> field = GaloisField::create(word_bits, p);
    if (field) fields.push_back(*std::move(field));
  }
  return fields;
}

std::vector<std::string> profiles_with(const CodeSpec& like, std::span<const std::uint16_t> rows) {
  std::vector<std::string> names;
  for (const Profile& profile : list_profiles()) {
    const bool has_layout =
        like.layout == Layout::bytes ? profile.bytes_layout : profile.packets_layout;
    if (!has_layout || profile.family == CodeFamily::custom) continue;
    CodeSpec spec = like;
    spec.family = profile.family;
    const Result<std::vector<std::uint16_t>> known = parity_rows(spec);
    if (known && std::ranges::equal(*known, rows)) names.emplace_back(profile.name);
  }
  return names;
}

std::optional<Identification> explain(const View& view, const BitSolver& solver, std::size_t data,
                                      std::size_t parity) {
  for (const GaloisField& field : fields_of(view.word_bits)) {
    const auto rows = rows_over(solver, view, field, parity, data);
    if (!rows) continue;
    Identification found{.spec = {.family = CodeFamily::custom,
                                  .layout = view.layout,
                                  .data_shards = static_cast<std::uint32_t>(data),
                                  .parity_shards = static_cast<std::uint32_t>(parity),
                                  .word_bits = static_cast<std::uint8_t>(view.word_bits),
                                  .polynomial = field.polynomial(),
                                  .packet_bytes = static_cast<std::uint32_t>(view.packet_bytes)},
                         .profiles = {},
                         .rows = *rows};
    found.profiles = profiles_with(found.spec, *rows);
    if (!found.profiles.empty()) found.spec.family = find_profile(found.profiles[0])->family;
    return found;
  }
  return std::nullopt;
}

std::vector<View> views_of(std::size_t shard_bytes, const IdentifyOptions& options) {
  std::vector<View> views = {{}};
  for (unsigned w = 8; w >= 2; --w) {
    std::vector<std::size_t> packets;
    if (options.packet_bytes != 0) {
      packets = {options.packet_bytes};
    } else {
      for (std::size_t p = 8; p <= packet_bytes_tried_max; p *= 2)
        packets.push_back(p);
      if (shard_bytes % w == 0) packets.push_back(shard_bytes / w);
    }
    for (const std::size_t packet : packets) {
      const View view{Layout::packets, w, packet};
      if (position_count(view, shard_bytes) != 0) views.push_back(view);
    }
  }
  return views;
}

Status check_shards(std::span<const ConstShard> shards, const IdentifyOptions& options) {
  if (shards.size() < 2)
    return invalid("the number of shards is ", shards.size(), "; expected at least 2");
  if (shards.size() > byte_shard_count_max) {
    return invalid("the number of shards is ", shards.size(), "; expected at most ",
                   byte_shard_count_max);
  }
  if (options.data_shards >= shards.size()) {
    return invalid("the number of data shards is ", options.data_shards, " of ", shards.size(),
                   " shards; expected fewer: the others are parity");
  }
  for (std::size_t i = 1; i < shards.size(); ++i) {
    if (shards[i].size() != shards[0].size()) {
      return invalid("shard ", i, " has ", shards[i].size(), " bytes; expected ", shards[0].size(),
                     " as shard 0");
    }
  }
  return Done{};
}

}  // namespace

Result<Identification> identify(std::span<const ConstShard> shards,
                                const IdentifyOptions& options) {
  CALPE_CHECK(check_shards(shards, options));
  bool is_unclear = false;
  const std::size_t first = options.data_shards == 0 ? 1 : options.data_shards;
  const std::size_t last = options.data_shards == 0 ? shards.size() - 1 : options.data_shards;
  for (std::size_t data = first; data <= last; ++data) {
    for (const View& view : views_of(shards[0].size(), options)) {
      const std::size_t parity = shards.size() - data;
      BitSolver solver(data * view.word_bits, parity * view.word_bits);
      const Answer answer = solve(view, shards, data, solver);
      is_unclear |= answer == Answer::unclear;
      if (answer != Answer::yes) continue;
      std::optional<Identification> explained = explain(view, solver, data, parity);
      if (explained) return *std::move(explained);
    }
  }
  if (is_unclear) {
    return make_error(
        ErrorCode::ambiguous,
        "the shards are too short or too regular to identify the code; use shards with "
        "less uniform data, or give the number of data shards");
  }
  return make_error(
      ErrorCode::unrecoverable,
      "no code with the bytes layout, or with packets and words of 2 to 8 bits, explains "
      "the shards; are they in order, data first?");
}

}  // namespace calpe::store
