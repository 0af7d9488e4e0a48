// SPDX-License-Identifier: Apache-2.0
// A random codec and shard length. Most are small, and every profile is covered.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <calpe/codec.hpp>
#include <calpe/galois.hpp>

#include "support/profile_lists.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {

struct CodecCase {
  CodeSpec spec;
  std::string backend;
  std::size_t shard_bytes = 0;
  std::uint64_t seed = 0;  // of bytes, addresses, losses and cuts
};

inline std::ostream& operator<<(std::ostream& out, const CodecCase& c) {
  const CodeSpec& s = c.spec;
  return out << "family " << unsigned(s.family)
             << (s.layout == Layout::bytes ? " bytes " : " packets ") << s.data_shards << "+"
             << s.parity_shards << " w " << unsigned(s.word_bits) << " polynomial " << s.polynomial
             << " packet_bytes " << s.packet_bytes << " local_groups " << s.local_groups << " on "
             << c.backend << ", " << c.shard_bytes << " bytes, seed " << c.seed;
}

inline const std::vector<std::string>& available_cpu_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> found;
    for (const BackendInfo& info : list_backends()) {
      if (info.available && info.name.starts_with("cpu:")) found.push_back(info.name);
    }
    return found;
  }();
  return paths;
}

struct CaseLimits {
  std::size_t shard_bytes_max = 65536 + 63;
};

namespace detail {

inline std::uint32_t draw_polynomial(Draw& draw, unsigned word_bits) {
  // Other irreducible polynomials. 2 generates the field only in some, which does not matter to the
  // families that use them.
  static constexpr std::array<std::uint32_t, 4> of_8 = {0, 0x11B, 0x12B, 0x187};
  static constexpr std::array<std::uint32_t, 3> of_4 = {0, 0x19, 0x1F};
  static constexpr std::array<std::uint32_t, 2> of_3 = {0, 0xD};
  const auto pick = [&](std::span<const std::uint32_t> from) {
    return from[draw.between(0, from.size() - 1)];
  };
  if (draw.between(0, 3) != 3) return 0;
  return word_bits == 8   ? pick(of_8)
         : word_bits == 4 ? pick(of_4)
         : word_bits == 3 ? pick(of_3)
                          : 0;
}

// k and m with k + m <= most; wide codes and large m are rare.
inline void draw_counts(Draw& draw, CodeSpec& spec, std::size_t most, std::size_t parity_most,
                        std::size_t usual = 4) {
  const std::size_t wide = draw.between(0, 63) == 63 ? 60 : draw.between(0, 7) == 7 ? 20 : 11;
  const std::size_t shards = draw.between(2, std::min(most, wide));
  const std::size_t parity_usual = draw.between(0, 7) == 7 ? shards - 1 : usual;
  const std::size_t parity = draw.between(1, std::min({shards - 1, parity_usual, parity_most}));
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  spec.data_shards = static_cast<std::uint16_t>(shards - parity);
}

// As wide as lch can be: N the smallest power of two >= m, and (ceil(k/N) + 1) * N <= 256.
inline void draw_wide_lch(Draw& draw, CodeSpec& spec) {
  const std::size_t size = std::size_t{1} << draw.between(3, 7);
  spec.parity_shards = static_cast<std::uint16_t>(draw.between(size / 2 + 1, size));
  spec.data_shards =
      static_cast<std::uint16_t>(draw.between(1, std::min<std::size_t>(256 - size, 223)));
}

// All profiles with the layout, the simplest first, to which failures shrink.
inline std::vector<CodeFamily> families_of_bytes() {
  std::vector<CodeFamily> families;
  for (const Profile& profile : profiles_but({"default"}))
    if (profile.bytes_layout) families.push_back(profile.family);
  families.push_back(CodeFamily::default_code);
  return families;
}

inline void draw_bytes_spec(Draw& draw, CodeSpec& spec) {
  using enum CodeFamily;
  static const std::vector<CodeFamily> families = families_of_bytes();
  spec.family = families[draw.between(0, families.size() - 1)];
  // Where 2^(i*j) is MDS: m <= 3, and m = 4 up to k = 21.
  const std::size_t parity_most = spec.family == raid6              ? 2
                                  : spec.family == vandermonde_isal ? 3
                                                                    : 60;
  // m = 4 is the border of `default`, and rarely interesting for transforms.
  const bool is_lch = spec.family == lch || spec.family == default_code;
  draw_counts(draw, spec, 60, parity_most, is_lch ? 9 : 4);
  if (is_lch && draw.between(0, 15) == 15) draw_wide_lch(draw, spec);
  if (spec.family == cauchy || spec.family == hybrid || spec.family == vandermonde ||
      spec.family == default_code) {
    spec.polynomial = draw_polynomial(draw, 8);
  }
  if (spec.family == lrc) {
    const std::size_t most = std::min(spec.data_shards, spec.parity_shards);
    spec.local_groups = static_cast<std::uint16_t>(draw.between(1, most));
  }
}

inline void draw_packets_spec(Draw& draw, CodeSpec& spec) {
  using enum CodeFamily;
  static constexpr std::array families = {cauchy,      hybrid, cauchy_orig,
                                          cauchy_good, custom, hybrid_good};
  spec.layout = Layout::packets;
  spec.family = families[draw.between(0, families.size() - 1)];
  const bool copies_jerasure = spec.family == cauchy_orig || spec.family == cauchy_good;
  // hybrid-good searches for its points, which takes long for wide codes.
  const std::size_t most = spec.family == hybrid_good ? 10 : 24;
  spec.word_bits = static_cast<std::uint8_t>(draw.between(spec.family == hybrid_good ? 4 : 2, 8));
  draw_counts(draw, spec, std::min<std::size_t>(most, std::size_t{1} << spec.word_bits), 60);
  if (!copies_jerasure && spec.family != hybrid_good) {
    spec.polynomial = draw_polynomial(draw, spec.word_bits);
  }
  spec.packet_bytes = static_cast<std::uint32_t>(
      copies_jerasure ? 8 * draw.between(1, 12)
                      : draw.between(1, draw.between(0, 3) == 3 ? 700 : 40));
}

// Every power of two has the same share.
inline std::size_t draw_length(Draw& draw, std::size_t most) {
  const std::size_t below = std::size_t{1} << draw.between(0, 16);
  return std::min<std::size_t>(draw.between(0, below + 63), most);
}

}  // namespace detail

inline CodecCase draw_case(Draw& draw, const CaseLimits& limits = {}) {
  CodecCase drawn;
  if (draw.between(0, 9) < 6) {
    detail::draw_bytes_spec(draw, drawn.spec);
  } else {
    detail::draw_packets_spec(draw, drawn.spec);
  }
  const auto& paths = available_cpu_paths();
  const std::size_t path = draw.between(0, 2 * paths.size());
  const bool is_reference = path == 2 * paths.size();
  drawn.backend = is_reference ? "reference" : paths[path % paths.size()];
  // The interpreter is slow, and short shards are enough for it.
  const std::size_t most = is_reference ? 700 : limits.shard_bytes_max;
  // Short shards for wide stripes too, of which a test may need forty.
  const std::size_t shards = std::size_t{drawn.spec.data_shards} + drawn.spec.parity_shards;
  const std::size_t of_wide = shards > 60 ? 400'000 / shards : most;
  drawn.shard_bytes = detail::draw_length(draw, std::min({most, of_wide, limits.shard_bytes_max}));
  drawn.seed = draw.seed();
  return drawn;
}

// A custom matrix as a caller might pass: the rows of a known code, each times a factor.
inline Result<Codec> make_codec(const CodecCase& c, CodecOptions options = {}) {
  if (options.backend == "auto") options.backend = c.backend;
  if (c.spec.family != CodeFamily::custom) return Codec::create(c.spec, options);
  CodeSpec like = c.spec;
  like.family = c.seed % 2 == 0 ? CodeFamily::cauchy : CodeFamily::hybrid;
  auto rows = must(parity_rows(like));
  const auto field = must(GaloisField::create(like.word_bits, like.polynomial));
  const std::uint64_t order = (std::uint64_t{1} << like.word_bits) - 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto factor = static_cast<std::uint16_t>(1 + (c.seed + i / like.data_shards) % order);
    rows[i] = must(field.multiply(rows[i], factor));
  }
  return Codec::create_from_matrix(c.spec, rows, options);
}

}  // namespace calpe::tests
