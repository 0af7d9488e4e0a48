// SPDX-License-Identifier: Apache-2.0
// Writes the golden vectors: calpe_make_vectors DIR. Run by hand when a profile is added, never in
// CI. A released vector never changes: `git diff` must show new ones only.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <calpe/codec.hpp>

#include "support/formula_stripe.hpp"
#include "support/vector_file.hpp"

namespace calpe::tests {
namespace {

struct Case {
  CodeSpec spec;
  std::vector<std::size_t> lengths;
  std::vector<std::uint16_t> custom_rows = {};
};

struct VectorFile {
  std::string name;
  std::vector<Case> cases;
};

struct Counts {
  unsigned data = 0;
  unsigned parity = 0;
};

const std::vector<std::size_t> usual_lengths = {0, 1, 7, 65, 300};

[[noreturn]] void fail(const std::string& message) {
  std::cerr << "calpe_make_vectors: " << message << '\n';
  std::exit(EXIT_FAILURE);
}

template <class T>
T require(Result<T> result) {
  if (!result) fail(result.error().message);
  return *std::move(result);
}

CodeSpec spec_of(CodeFamily family, Counts counts) {
  return {.family = family,
          .data_shards = static_cast<std::uint16_t>(counts.data),
          .parity_shards = static_cast<std::uint16_t>(counts.parity)};
}

Case bytes_case(CodeFamily family, Counts counts,
                const std::vector<std::size_t>& lengths = usual_lengths) {
  return {.spec = spec_of(family, counts), .lengths = lengths};
}

Case lrc_case(Counts counts, unsigned local_groups) {
  Case made = bytes_case(CodeFamily::lrc, counts);
  made.spec.local_groups = static_cast<std::uint16_t>(local_groups);
  return made;
}

// Packet sizes and lengths that mostly end inside a packet, a group, or the zeros of the last
// group.
Case packets_case(CodeFamily family, Counts counts, unsigned word_bits, unsigned packet_bytes) {
  Case made{.spec = spec_of(family, counts), .lengths = {}};
  made.spec.layout = Layout::packets;
  made.spec.word_bits = static_cast<std::uint8_t>(word_bits);
  made.spec.packet_bytes = packet_bytes;
  const std::size_t w = word_bits;
  const std::set<std::size_t> lengths = {0, 1, w - 1, w + 1, 41, 5 * w * packet_bytes / 2, 151};
  made.lengths.assign(lengths.begin(), lengths.end());
  return made;
}

// Jerasure accepts whole groups only.
Case jerasure_case(CodeFamily family, Counts counts, unsigned word_bits, unsigned packet_bytes) {
  Case made = packets_case(family, counts, word_bits, packet_bytes);
  const std::size_t group = std::size_t{word_bits} * packet_bytes;
  made.lengths = {0, group, 3 * group};
  return made;
}

// The largest code over small fields, a usual one over others.
Counts counts_for(unsigned word_bits, unsigned parity) {
  const unsigned shards = std::min(1U << word_bits, 6 + parity);
  return {.data = shards - parity, .parity = parity};
}

std::vector<Case> packets_cases(CodeFamily family, unsigned fewest_bits) {
  std::vector<Case> cases;
  for (unsigned w = fewest_bits; w <= 8; ++w) {
    cases.push_back(packets_case(family, counts_for(w, 2), w, 8));
    if (w > 2) cases.push_back(packets_case(family, counts_for(w, 3), w, 5));
  }
  cases.push_back(packets_case(family, {.data = 1, .parity = 1}, 8, 1));
  cases.push_back(packets_case(family, {.data = 10, .parity = 4}, 8, 0));
  cases.back().lengths = {300};
  return cases;
}

std::vector<Case> jerasure_cases(CodeFamily family) {
  std::vector<Case> cases;
  for (unsigned w = 2; w <= 8; ++w) {
    cases.push_back(jerasure_case(family, counts_for(w, 2), w, 8));
    if (w > 2) cases.push_back(jerasure_case(family, counts_for(w, 3), w, w % 2 == 0 ? 8 : 16));
  }
  cases.push_back(jerasure_case(family, {.data = 1, .parity = 1}, 8, 8));
  cases.push_back(jerasure_case(family, {.data = 10, .parity = 4}, 8, 8));
  return cases;
}

std::vector<Case> cauchy_like_cases(CodeFamily family) {
  std::vector<Case> cases = {bytes_case(family, {1, 1}), bytes_case(family, {4, 2}),
                             bytes_case(family, {10, 4}), bytes_case(family, {20, 10}, {13})};
  cases.push_back(bytes_case(family, {5, 3}));
  cases.back().spec.polynomial = 0x11B;  // the field of AES
  return cases;
}

std::vector<Case> vandermonde_cases(CodeFamily family, unsigned shards_max) {
  return {bytes_case(family, {1, 1}),  bytes_case(family, {4, 2}),
          bytes_case(family, {10, 4}), bytes_case(family, {17, 3}, {33}),
          bytes_case(family, {3, 7}),  bytes_case(family, {3, shards_max - 3}, {1})};
}

// Every length of a transform, with m below and at it, and with full, partial and single chunks.
std::vector<Case> lch_cases() {
  using enum CodeFamily;
  return {bytes_case(lch, {1, 1}),         bytes_case(lch, {4, 2}),
          bytes_case(lch, {10, 4}),        bytes_case(lch, {10, 5}),
          bytes_case(lch, {16, 8}),        bytes_case(lch, {20, 10}, {13}),
          bytes_case(lch, {3, 17}, {33}),  bytes_case(lch, {223, 32}, {2}),
          bytes_case(lch, {192, 64}, {1}), bytes_case(lch, {128, 128}, {1})};
}

// Both sides of its boundaries.
std::vector<Case> default_cases() {
  using enum CodeFamily;
  std::vector<Case> cases = {
      bytes_case(default_code, {1, 1}),        bytes_case(default_code, {10, 4}),
      bytes_case(default_code, {10, 5}),       bytes_case(default_code, {252, 4}, {1}),
      bytes_case(default_code, {248, 8}, {1}), bytes_case(default_code, {249, 7}, {1}),
      bytes_case(default_code, {1, 128}, {1}), bytes_case(default_code, {1, 129}, {1})};
  cases.push_back(bytes_case(default_code, {10, 5}));
  cases.back().spec.polynomial = 0x11B;
  return cases;
}

std::vector<Case> custom_cases() {
  Case weights{.spec = spec_of(CodeFamily::custom, {3, 2}),
               .lengths = usual_lengths,
               .custom_rows = {1, 1, 1, 1, 2, 4}};
  Case reversed = weights;  // the reciprocal of the usual polynomial
  reversed.spec.polynomial = 0x171;
  return {weights, reversed};
}

std::vector<Case> custom_packets_cases() {
  Case made = packets_case(CodeFamily::custom, {3, 2}, 3, 7);
  made.spec.polynomial = 0xD;  // x^3 + x^2 + 1; the usual one is 0xB
  made.custom_rows = {1, 1, 1, 1, 2, 4};
  return {made};
}

std::vector<Case> with(std::vector<Case> cases, Case one_more) {
  cases.push_back(std::move(one_more));
  return cases;
}

std::vector<VectorFile> all_files() {
  using enum CodeFamily;
  return {
      {"default", default_cases()},
      {"cauchy", with(cauchy_like_cases(cauchy), bytes_case(cauchy, {223, 32}, {2}))},
      // 5+2 over GF(2^3): Sobe's equations (docs/ir.md).
      {"cauchy-packets", with(packets_cases(cauchy, 2), packets_case(cauchy, {5, 2}, 3, 8))},
      {"hybrid", cauchy_like_cases(hybrid)},
      {"hybrid-packets", packets_cases(hybrid, 2)},
      {"lch", lch_cases()},
      {"hybrid-good",
       with(packets_cases(hybrid_good, 4), packets_case(hybrid_good, {12, 4}, 4, 8))},
      {"vandermonde", vandermonde_cases(vandermonde, 256)},
      {"vandermonde-jerasure", vandermonde_cases(vandermonde_jerasure, 256)},
      {"vandermonde-isal", vandermonde_cases(vandermonde_isal, 256)},
      {"vandermonde-zfec", vandermonde_cases(vandermonde_zfec, 256)},
      {"vandermonde-lec", vandermonde_cases(vandermonde_lec, 255)},
      {"cauchy-orig", jerasure_cases(cauchy_orig)},
      {"cauchy-good", jerasure_cases(cauchy_good)},
      {"raid6",
       {bytes_case(raid6, {3, 1}), bytes_case(raid6, {4, 2}), bytes_case(raid6, {8, 2}),
        bytes_case(raid6, {254, 2}, {1})}},
      {"lrc",
       {lrc_case({12, 4}, 2), lrc_case({6, 3}, 2), lrc_case({7, 4}, 3), lrc_case({6, 2}, 2),
        lrc_case({4, 3}, 1), lrc_case({10, 6}, 2)}},
      {"custom", custom_cases()},
      {"custom-packets", custom_packets_cases()},
  };
}

GoldenVector make_vector(const Case& wanted) {
  const CodecOptions options{.backend = "reference"};
  const bool is_custom = wanted.spec.family == CodeFamily::custom;
  const Codec codec =
      require(is_custom ? Codec::create_from_matrix(wanted.spec, wanted.custom_rows, options)
                        : Codec::create(wanted.spec, options));
  GoldenVector vector;
  vector.profile = "custom";  // not a listed profile
  vector.spec = codec.spec();
  vector.parity_rows = is_custom ? wanted.custom_rows : require(parity_rows(codec.spec()));
  for (const Profile& profile : list_profiles()) {
    if (profile.family == wanted.spec.family) vector.profile = profile.name;
  }
  for (const std::size_t bytes : wanted.lengths) {
    const FormulaStripe stripe = make_stripe(codec, bytes);
    require(codec.encode(stripe.data(), stripe.parity()));
    GoldenStripe golden{.shard_bytes = bytes, .parity = {}};
    for (const Shard shard : stripe.parity())
      golden.parity.push_back(to_hex(shard));
    vector.stripes.push_back(std::move(golden));
  }
  return vector;
}

// Three lines plus one for each stripe, so that a diff shows the stripe.
void write_vector(std::ostream& out, Json vector) {
  const Json stripes = std::exchange(vector["stripes"], Json());
  const Json rows = std::exchange(vector["parity_rows"], Json());
  vector.erase("stripes");
  vector.erase("parity_rows");
  const std::string scalars = vector.dump();
  out << scalars.substr(0, scalars.size() - 1) << ",\n \"parity_rows\":" << rows.dump()
      << ",\n \"stripes\":[";
  const char* separator = "\n  ";
  for (const Json& stripe : stripes)
    out << std::exchange(separator, ",\n  ") << stripe.dump();
  out << "]}";
}

int generate(const std::string& folder) {
  for (const VectorFile& file : all_files()) {
    const std::string path = folder + "/" + file.name + ".json";
    std::ofstream out(path);
    out << "{\"SPDX-License-Identifier\": \"Apache-2.0\",\n\"vectors\": [";
    const char* separator = "\n";
    for (const Case& wanted : file.cases) {
      out << std::exchange(separator, ",\n");
      write_vector(out, to_json(make_vector(wanted)));
    }
    out << "\n]}\n";
    if (!out.flush()) fail("cannot write " + path);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace calpe::tests

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: calpe_make_vectors DIR\n";
    return 2;
  }
  return calpe::tests::generate(argv[1]);
}
