// SPDX-License-Identifier: Apache-2.0
// CodeSpec: the parameters that determine the parity bytes of an erasure code.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

// Shards are named by index: data 0..k-1, parity k..k+m-1. Sets of shards are lists of indices, not
// bit sets, to leave room for codes with thousands of shards.
using ShardIndex = std::uint16_t;
inline constexpr std::size_t shard_count_max = 65'536;    // k + m; beyond 256 only with lch
inline constexpr std::size_t byte_shard_count_max = 256;  // k + m over GF(2^8)

// Construction of the generator matrix; docs/codes.md has the formula of each.
// Values are stored in shard headers on disk: never renumber, only append.
enum class CodeFamily : std::uint8_t {
  // hybrid for m <= 4; for m >= 5, lch where it is defined, else hybrid. Resolved when the codec is
  // created, so Codec::spec() and stored headers never contain it.
  default_code = 0,
  cauchy = 1,       // 1/((k+i) xor j): ISA-L's Cauchy; packets: seed of the equation coders
  vandermonde = 2,  // Backblaze, MinIO, klauspost, Gibraltar
  hybrid = 3,       // cauchy with a first row of ones (Re-RAID)
  lch = 4,          // additive FFT over a Cantor basis; 0x11D, k + 2^ceil(log2 m) <= 2^w
  vandermonde_jerasure = 5,  // Jerasure reed_sol_van
  vandermonde_isal = 6,      // ISA-L gf_gen_rs_matrix; accepted only where it is MDS
  hybrid_good = 7,           // packets: row of ones, chosen for the fewest XORs
  cauchy_orig = 8,           // packets: Jerasure cauchy_orig
  cauchy_good = 9,           // packets: Jerasure cauchy_good
  vandermonde_zfec = 10,     // zfec, Tahoe-LAFS
  vandermonde_lec = 11,      // liberasurecode isa_l_rs_vand_inv
  raid6 = 12,                // Linux md: P and Q
  lrc = 13,                  // local groups and global parities (Azure layout)
  custom = 14,               // coefficients from the caller
};

// Arrangement of GF(2^w) symbols in a shard. Stored on disk, like CodeFamily.
// The two layouts give different parity bytes for the same matrix.
enum class Layout : std::uint8_t {
  bytes = 1,    // one symbol of GF(2^8) per byte, as ISA-L, MinIO and Ceph write; with w = 16, a
                // symbol is bytes i and i + 64 of a block of 128
  packets = 2,  // groups of w packets; packet i holds bit i of the symbols, as Jerasure writes
};

// Everything that determines the parity bytes. Equal resolved specs give equal bytes on every
// backend, CPU and release. Codec::spec() returns the resolved form, in which every default is
// replaced by its value.
struct CodeSpec {
  CodeFamily family = CodeFamily::default_code;
  Layout layout = Layout::bytes;
  std::uint32_t data_shards = 0;  // k >= 1
  // m >= 1, k + m <= min(2^w, shard_count_max); lrc: local + global
  std::uint32_t parity_shards = 0;
  // w = 2..8, below 8 only with Layout::packets; or 16, only for lch with Layout::bytes. 8 becomes
  // 16 if k + m > 256, which is then the code `lch`.
  std::uint8_t word_bits = 8;
  // The polynomial of GF(2^w), including x^w; 0 = default (w = 8: 0x11D). With w = 16, that of
  // GF(2^8), over which GF(2^16) is built.
  std::uint32_t polynomial = 0;
  std::uint32_t packet_bytes = 0;  // Layout::packets only; 0 = 512
  std::uint32_t local_groups = 0;  // lrc only: its first parity shards are one XOR per group
  // Hash of the field and the parity rows; 0 = not checked. If the matrix has another hash,
  // creating a codec fails with `corrupt`. This guards stored headers against changes of a profile.
  std::uint64_t matrix_hash = 0;

  bool operator==(const CodeSpec&) const = default;
};

// A resolved spec as bytes, to store with the shards; docs/codes.md ("Stored spec") has the format.
// Equal specs give equal bytes. All versions of the format have this length.
inline constexpr std::size_t spec_bytes = 64;
using SpecBytes = std::array<std::byte, spec_bytes>;

// Takes the spec of a codec, Codec::spec(). Fails with invalid_argument if the spec is malformed or
// not resolved. The rows of a custom code are not included, only their hash.
Result<SpecBytes> encode_spec(const CodeSpec& spec);

// Fails with corrupt if length, magic, version or checksum are wrong, or if the bytes are not those
// of a resolved spec that this version knows. Otherwise Codec::create() makes exactly the returned
// spec, or fails with corrupt because the matrix has another hash.
Result<CodeSpec> decode_spec(std::span<const std::byte> bytes);

// A named code family and its layouts, as `calpe codes` lists them.
struct Profile {
  std::string_view name;  // "vandermonde-isal"
  CodeFamily family;
  bool bytes_layout;
  bool packets_layout;
  std::string_view construction;  // one line
  std::string_view compatible;    // libraries that write the same bytes
};

// Returns every profile of this build, in the order of docs/codes.md.
std::vector<Profile> list_profiles();

// Returns the spec of a named profile, with the profile's first layout. Fails with invalid_argument
// and lists the valid names.
Result<CodeSpec> find_profile(std::string_view name);

// Proof that every promised loss can be rebuilt, or a counterexample.
struct CodeProof {
  enum class Kind : std::uint8_t {
    cauchy = 1,     // the matrix is a generalised Cauchy matrix: every minor is non-zero
    minors = 2,     // every square submatrix was checked to be invertible
    pyramid = 3,    // lrc: a proven MDS code with its first parity split into groups
    refuted = 4,    // `dead_pattern` cannot be rebuilt
    undecided = 5,  // too large to try every minor, and not a Cauchy matrix
  };
  Kind kind = Kind::undecided;
  std::uint32_t losses = 0;              // any loss of this many shards can be rebuilt
  std::uint64_t minors = 0;              // number of minors evaluated
  std::vector<ShardIndex> dead_pattern;  // refuted: at most m shards whose loss cannot be rebuilt
  std::string text;                      // one paragraph of explanation
  bool proven() const noexcept { return kind <= Kind::pyramid; }
};

// Returns "cauchy", "minors" and so on, as a literal; empty for an unknown kind.
std::string_view proof_kind_name(CodeProof::Kind kind) noexcept;

// Proves or refutes a spec, also one that Codec::create() would refuse. Fails with
// invalid_argument if the spec is malformed.
Result<CodeProof> prove(const CodeSpec& spec);

// Returns the m x k parity rows, row-major. Fails like prove(), and for more than 2^26 entries.
Result<std::vector<std::uint16_t>> parity_rows(const CodeSpec& spec);

// Number of loss patterns of one size, and how many of them can be rebuilt. For codes that are not
// MDS.
struct PatternCount {
  std::uint32_t losses = 0;
  std::uint64_t patterns = 0;
  std::uint64_t recoverable = 0;
};

// Tries every pattern of 1..m losses. Fails with invalid_argument for more than 10 million.
Result<std::vector<PatternCount>> count_recoverable(const CodeSpec& spec);

}  // namespace calpe
