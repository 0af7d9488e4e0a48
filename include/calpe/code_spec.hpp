// SPDX-License-Identifier: Apache-2.0
// What an erasure code is: all that decides the parity bytes, and nothing that does not.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

// Shards are named by index: data 0..k-1, parity k..k+m-1. Lists of indices, not bit sets, so
// that codes of thousands of shards fit later.
using ShardIndex = std::uint16_t;
inline constexpr std::size_t shard_count_max = 256;  // k + m over GF(2^8), for now

// The construction of the generator matrix; docs/codes.md has the formula of each.
// Values are stored in shard headers on disk: never renumber, only append.
enum class CodeFamily : std::uint8_t {
  // Hybrid for m <= 4; from m = 5 on lch where it is defined, else hybrid. Replaced by the one it
  // stands for when the codec is made: Codec::spec() never holds it, so headers do not either.
  default_code = 0,
  cauchy = 1,       // 1/((k+i) xor j): ISA-L's Cauchy; packets: seed of the equation coders
  vandermonde = 2,  // Backblaze, MinIO, klauspost, Gibraltar
  hybrid = 3,       // cauchy with a first row of ones (Re-RAID)
  lch = 4,          // additive FFT over a Cantor basis; 0x11D, k + 2^ceil(log2 m) <= 256
  vandermonde_jerasure = 5,  // Jerasure reed_sol_van
  vandermonde_isal = 6,      // ISA-L gf_gen_rs_matrix; accepted only where it is MDS
  hybrid_good = 7,           // packets: ones row, points and row scales for the fewest XORs
  cauchy_orig = 8,           // packets: Jerasure cauchy_orig
  cauchy_good = 9,           // packets: Jerasure cauchy_good
  vandermonde_zfec = 10,     // zfec, Tahoe-LAFS
  vandermonde_lec = 11,      // liberasurecode isa_l_rs_vand_inv
  raid6 = 12,                // Linux md: P and Q
  lrc = 13,                  // local groups and global parities (Azure layout)
  custom = 14,               // the caller's own coefficients
};

// How the symbols of GF(2^w) lie in a shard. Stored on disk, like CodeFamily.
// The two layouts give different parity bytes for the same matrix.
enum class Layout : std::uint8_t {
  bytes = 1,    // one symbol of GF(2^8) per byte, as ISA-L, MinIO and Ceph write
  packets = 2,  // groups of w packets; packet i holds bit i of the symbols, as Jerasure writes
};

// All that decides the parity bytes. Equal resolved specs give equal bytes on every backend, every
// CPU and every release; Codec::spec() returns the resolved form, in which no field is 0 by
// default.
struct CodeSpec {
  CodeFamily family = CodeFamily::default_code;
  Layout layout = Layout::bytes;
  std::uint32_t data_shards = 0;  // k >= 1
  // m >= 1, k + m <= min(2^w, shard_count_max); lrc: local + global
  std::uint32_t parity_shards = 0;
  std::uint8_t word_bits = 8;    // w = 2..8; below 8 only with Layout::packets
  std::uint32_t polynomial = 0;  // of GF(2^w), with its x^w term; 0: the usual one, 0x11D for w = 8
  std::uint32_t packet_bytes = 0;  // Layout::packets only, 0: 512
  std::uint32_t local_groups = 0;  // lrc only: its first parity shards are one XOR per group
  // Of field and parity rows. 0: not checked. Otherwise making a codec fails with `corrupt` unless
  // the matrix hashes to this, so a header written by one release cannot be misread by another.
  std::uint64_t matrix_hash = 0;

  bool operator==(const CodeSpec&) const = default;
};

// A named family with the layouts and limits it has; what `calpe codes` lists.
struct Profile {
  std::string_view name;  // "vandermonde-isal"
  CodeFamily family;
  bool bytes_layout;
  bool packets_layout;
  std::string_view construction;  // one line
  std::string_view compatible;    // who else writes these bytes
};

// Every profile of this build, in the order of docs/codes.md.
std::vector<Profile> list_profiles();

// A spec for a profile by name, the layout being the profile's first. Fails with invalid_argument
// and the list of names.
Result<CodeSpec> find_profile(std::string_view name);

// Why every promised loss can be rebuilt, or a loss that cannot.
struct CodeProof {
  enum class Kind : std::uint8_t {
    cauchy = 1,     // the matrix is a generalised Cauchy matrix: every minor is non-zero
    minors = 2,     // every square sub-matrix was found to be invertible
    pyramid = 3,    // lrc: a proven MDS code with its first parity split into groups
    refuted = 4,    // `dead_pattern` cannot be rebuilt
    undecided = 5,  // too large to try every minor, and not a Cauchy matrix
  };
  Kind kind = Kind::undecided;
  std::size_t losses = 0;                // any so many lost shards can be rebuilt
  std::uint64_t minors = 0;              // how many minors were evaluated
  std::vector<ShardIndex> dead_pattern;  // refuted: at most m shards whose loss cannot be rebuilt
  std::string text;                      // one paragraph for a person
  bool proven() const noexcept { return kind <= Kind::pyramid; }
};

// "cauchy", "minors" and so on, a literal; empty for a number that is no kind.
std::string_view proof_kind_name(CodeProof::Kind kind) noexcept;

// Proof or counterexample for a spec, whether or not a codec would accept it.
// Fails with invalid_argument when the spec is malformed.
Result<CodeProof> prove(const CodeSpec& spec);

// The m x k parity rows, row-major. Fails like prove.
Result<std::vector<std::uint16_t>> parity_rows(const CodeSpec& spec);

// How many loss patterns of each size can be rebuilt; for codes that are not MDS.
struct PatternCount {
  std::size_t losses = 0;
  std::uint64_t patterns = 0;
  std::uint64_t recoverable = 0;
};

// Tries every pattern of 1..m losses. Fails with invalid_argument beyond 10 million patterns.
Result<std::vector<PatternCount>> count_recoverable(const CodeSpec& spec);

}  // namespace calpe
