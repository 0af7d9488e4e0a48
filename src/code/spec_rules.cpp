// SPDX-License-Identifier: Apache-2.0
#include "code/spec_rules.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/text.hpp"
#include "base/try.hpp"
#include "code/lch.hpp"
#include "gf/field.hpp"

namespace calpe::code {

namespace {

constexpr std::array profiles = {
    Profile{"default", CodeFamily::default_code, true, false,
            "hybrid for m <= 4; lch for m >= 5 where lch is defined, else hybrid; lch beyond 256 "
            "shards",
            "none"},
    Profile{"cauchy", CodeFamily::cauchy, true, true, "1/((k+i) xor j)",
            "ISA-L gf_gen_cauchy1_matrix, Ceph isa cauchy, Swift isa_l_rs_cauchy, klauspost "
            "WithCauchyMatrix"},
    Profile{"hybrid", CodeFamily::hybrid, true, true,
            "cauchy with a first row of ones: parity 0 is the XOR of the data", "none"},
    Profile{"lch", CodeFamily::lch, true, false,
            "Reed-Solomon on a Cantor basis, encoded by additive FFT; k + 2^ceil(log2 m) <= 65536",
            "none"},
    Profile{"hybrid-good", CodeFamily::hybrid_good, false, true,
            "hybrid with points and row scales for the fewest XORs, w = 4..8", "none"},
    Profile{"vandermonde", CodeFamily::vandermonde, true, false,
            "rows i^j times the inverse of the top k",
            "Backblaze, klauspost, MinIO, SeaweedFS, Gibraltar"},
    Profile{"vandermonde-jerasure", CodeFamily::vandermonde_jerasure, true, false,
            "extended Vandermonde, first row and column ones",
            "Jerasure reed_sol_van, Ceph jerasure"},
    Profile{"vandermonde-isal", CodeFamily::vandermonde_isal, true, false,
            "2^(i*j), accepted only where it is MDS",
            "ISA-L gf_gen_rs_matrix, Ceph isa reed_sol_van"},
    Profile{"vandermonde-zfec", CodeFamily::vandermonde_zfec, true, false,
            "points 0, 1, 2, 4, ... times the inverse of the top k", "zfec, Tahoe-LAFS"},
    Profile{"vandermonde-lec", CodeFamily::vandermonde_lec, true, false,
            "points 2^1 .. 2^n times the inverse of the top k, n <= 255",
            "liberasurecode isa_l_rs_vand_inv"},
    Profile{"cauchy-orig", CodeFamily::cauchy_orig, false, true, "1/(i xor (m+j))",
            "Jerasure cauchy_orig"},
    Profile{"cauchy-good", CodeFamily::cauchy_good, false, true,
            "cauchy-orig with rows and columns scaled for fewer XORs",
            "Jerasure cauchy_good, Ceph jerasure"},
    Profile{"raid6", CodeFamily::raid6, true, false, "P: ones, Q: 2^j; m <= 2",
            "Linux md, SnapRAID's first two"},
    Profile{"lrc", CodeFamily::lrc, true, false,
            "one XOR per local group, then global parities (Azure layout)", "none"},
    Profile{"custom", CodeFamily::custom, true, true, "the caller's own coefficients", "-"},
};

std::string packets_profiles() {
  std::string names;
  for (const Profile& profile : profiles) {
    if (!profile.packets_layout || profile.family == CodeFamily::custom) continue;
    names += names.empty() ? "" : ", ";
    names += profile.name;
  }
  return names;
}

bool can_be_wide(CodeFamily family) {
  return family == CodeFamily::lch || family == CodeFamily::default_code;
}

// GF(2^8) has no room for more than 256 shards.
bool needs_wide(const CodeSpec& spec) {
  return can_be_wide(spec.family) && spec.layout == Layout::bytes && spec.word_bits == 8 &&
         std::size_t{spec.data_shards} + spec.parity_shards > byte_shard_count_max;
}

Status check_layout(const CodeSpec& spec, const Profile& profile) {
  switch (spec.layout) {
    case Layout::bytes:
      if (!profile.bytes_layout) {
        return invalid("layout is bytes; expected packets for profile ", profile.name);
      }
      if (spec.word_bits == lch_wide_bits && !can_be_wide(spec.family)) {
        return invalid("word_bits is 16; expected 8 for profile ", profile.name,
                       " with layout bytes; only lch has 16");
      }
      if (spec.word_bits != 8 && spec.word_bits != lch_wide_bits) {
        return invalid("word_bits is ", spec.word_bits, "; expected 8 with layout bytes",
                       can_be_wide(spec.family) ? ", or 16 for more than 256 shards" : "");
      }
      if (spec.packet_bytes != 0) {
        return invalid("packet_bytes is ", spec.packet_bytes, "; expected 0 with layout bytes");
      }
      return Done{};
    case Layout::packets: {
      if (spec.family == CodeFamily::default_code) {
        return invalid("layout is packets; expected bytes for profile default, or one of ",
                       packets_profiles());
      }
      if (!profile.packets_layout) {
        return invalid("layout is packets; expected bytes for profile ", profile.name);
      }
      const unsigned fewest = spec.family == CodeFamily::hybrid_good ? 4 : 2;
      if (spec.word_bits < fewest || spec.word_bits > 8) {
        return invalid("word_bits is ", spec.word_bits, "; expected ", fewest, "..8");
      }
      if (spec.packet_bytes > packet_bytes_max) {
        return invalid("packet_bytes is ", spec.packet_bytes, "; expected at most ",
                       packet_bytes_max);
      }
      if (copies_jerasure_packets(spec.family) && spec.packet_bytes % 8 != 0) {
        return invalid("packet_bytes is ", spec.packet_bytes,
                       "; expected a multiple of 8 for profile ", profile.name);
      }
      return Done{};
    }
  }
  return invalid("layout is ", static_cast<unsigned>(spec.layout), "; expected 1 or 2");
}

Status check_counts(const CodeSpec& spec, const Profile& profile) {
  const std::size_t k = spec.data_shards;
  const std::size_t m = spec.parity_shards;
  if (k == 0) return invalid("data_shards is 0; expected at least 1");
  if (m == 0) return invalid("parity_shards is 0; expected at least 1");
  std::size_t most = std::min<std::size_t>(shard_count_max, std::size_t{1} << spec.word_bits);
  if (spec.family == CodeFamily::vandermonde_lec) most -= 1;
  if (k + m > most) {
    const bool is_hint_useful = spec.layout == Layout::bytes && k + m <= shard_count_max;
    return invalid("data_shards + parity_shards is ", k + m, "; expected at most ", most,
                   " for profile ", profile.name, " over GF(2^", spec.word_bits, ")",
                   is_hint_useful ? "; profile lch takes more" : "");
  }
  if (spec.family == CodeFamily::raid6 && m > 2) {
    return invalid("parity_shards is ", m, "; expected 1 or 2 for profile raid6");
  }
  const std::size_t groups = spec.local_groups;
  if (spec.family != CodeFamily::lrc && groups != 0) {
    return invalid("local_groups is ", groups, "; expected 0 for profile ", profile.name);
  }
  if (spec.family == CodeFamily::lrc && (groups == 0 || groups > m || groups > k)) {
    return invalid("local_groups is ", groups, "; expected 1..", std::min(k, m),
                   " (parity_shards counts local and global parities)");
  }
  return Done{};
}

// The kernels and vectors of lch exist for one field only.
bool has_lch_field(const CodeSpec& spec) {
  return spec.polynomial == gf::usual_polynomial(8);
}

Size size_of(const CodeSpec& spec) {
  return {.data = spec.data_shards, .parity = spec.parity_shards};
}

Status check_lch(const CodeSpec& spec) {
  if (!has_lch_field(spec)) {
    return invalid("polynomial is ", spec.polynomial, "; expected ", gf::usual_polynomial(8),
                   " (0x11D) for profile lch");
  }
  if (lch_fits(size_of(spec), spec.word_bits)) return Done{};
  const std::size_t n = lch_size(spec.parity_shards);
  const std::size_t chunks = (spec.data_shards + n - 1) / n;
  const bool is_wide = spec.word_bits == lch_wide_bits;
  return invalid("data_shards is ", spec.data_shards, " and parity_shards ", spec.parity_shards,
                 "; expected (ceil(data_shards / N) + 1) * N <= ", is_wide ? "65536" : "256",
                 " for profile lch, with N the smallest power of two >= parity_shards: N is ", n,
                 ", which makes ", (chunks + 1) * n, is_wide ? "" : "; or set word_bits to 16");
}

// Part of the format (docs/adr/0008): all writers must resolve `default` alike.
CodeFamily default_family(const CodeSpec& spec) {
  constexpr unsigned hybrid_parity_max = 4;
  if (spec.word_bits == lch_wide_bits) return CodeFamily::lch;
  const bool is_lch = spec.parity_shards > hybrid_parity_max && has_lch_field(spec) &&
                      lch_fits(size_of(spec), spec.word_bits);
  return is_lch ? CodeFamily::lch : CodeFamily::hybrid;
}

}  // namespace

std::span<const Profile> all_profiles() {
  return profiles;
}

const Profile& profile_of(CodeFamily family) {
  return *std::ranges::find(profiles, family, &Profile::family);
}

bool copies_jerasure_packets(CodeFamily family) {
  return family == CodeFamily::cauchy_orig || family == CodeFamily::cauchy_good;
}

Result<gf::FieldRef> field_of(const CodeSpec& spec) {
  if (spec.word_bits == lch_wide_bits) return gf::Field::tower();
  return gf::Field::create(spec.word_bits, spec.polynomial);
}

Result<CodeSpec> resolve(CodeSpec spec) {
  const auto found = std::ranges::find(profiles, spec.family, &Profile::family);
  if (found == profiles.end()) {
    return invalid("family is ", static_cast<unsigned>(spec.family), ", unknown to this version");
  }
  if (needs_wide(spec)) spec.word_bits = lch_wide_bits;
  CALPE_CHECK(check_layout(spec, *found));
  CALPE_CHECK(check_counts(spec, *found));
  CALPE_TRY(const auto field, field_of(spec));
  if (spec.word_bits != lch_wide_bits || spec.polynomial == 0) {
    spec.polynomial = field->polynomial();
  }
  if (spec.family == CodeFamily::default_code) spec.family = default_family(spec);
  if (spec.family == CodeFamily::lch) CALPE_CHECK(check_lch(spec));
  if (spec.layout == Layout::packets && spec.packet_bytes == 0) {
    spec.packet_bytes = packet_bytes_default;
  }
  return spec;
}

}  // namespace calpe::code
