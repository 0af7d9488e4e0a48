// SPDX-License-Identifier: Apache-2.0
// calpe/codec.hpp — encode, rebuild, update, verify and locate. Start reading here.
//
//   auto codec = calpe::Codec::create({.data_shards = 10, .parity_shards = 4});
//   if (!codec) return report(codec.error());
//   if (auto done = codec->encode(data, parity); !done) return report(done.error());
//
// A stripe has k data shards (indices 0..k-1) and m parity shards (k..k+m-1). Every operation is
// one thing: a Plan, that is a matrix of coefficients with the shards it reads and writes, applied
// to shards. encode, decode and update are plans with a name; run() applies any plan.
//
// Lengths: any, from 0 up to what a ptrdiff_t holds; any alignment. With Layout::bytes all shards
// of a stripe have one length. With Layout::packets the data shards have `shard_bytes` and the
// parity shards parity_bytes(shard_bytes), which is at most w-1 bytes more and equal for multiples
// of w. Threads: a Codec is immutable; every const member may be called concurrently, as long as no
// two calls write the same shard. Work runs on the caller's thread unless CodecOptions asks for
// more. fork(): in the child every codec and plan works, on the calling thread only; none of them
// needs a thread that is gone, and no lock of the library is held by one. Codecs on devices with
// a driver (opencl, cuda) are the exception: in the child each use fails with device_failed, and
// they and all that was made with them can only be destroyed. Fork through fork(), not by a bare
// system call. Errors: returned, never thrown, failed allocation included; on error the outputs are
// unspecified and the inputs unchanged. Memory: spans are borrowed for the call; run() and the
// calls built on it allocate nothing once the plan exists (verify and locate allocate their
// answer), as long as the codec runs_on_caller().
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>
#include <calpe/stores.hpp>

namespace calpe {

using Shard = std::span<std::byte>;
using ConstShard = std::span<const std::byte>;

// A shard in pieces, as readv and writev have them; the pieces in order are the shard.
using ShardPieces = std::span<const Shard>;
using ConstShardPieces = std::span<const ConstShard>;

inline constexpr unsigned threads_all = ~0u;

// How long a plan may be searched for, which decides how fast it runs; never what it computes.
// Layout::packets only: with Layout::bytes there is nothing to search.
enum class Effort : std::uint8_t {
  fast = 0,      // 10+4: under a millisecond a plan
  standard = 1,  // tens of milliseconds, for some percent
  thorough = 2,  // about a second
};

// May change speed, never bytes.
struct CodecOptions {
  // "auto", or a name from list_backends(): "cpu", "jit:avx2", "openmp", "reference". "auto" is cpu
  // for Layout::bytes and jit for Layout::packets, or cpu where jit cannot be used.
  //
  // A device beyond a driver is watched: when it fails, hangs or returns wrong bytes (the first use
  // of every plan and 1 stripe in 4096 are checked on the CPU), it is left for good, the CPU writes
  // the same bytes instead, and the log gets one line.
  //
  // Several names joined by "+", "opencl:0+opencl:1+cpu", share every job: by bytes or by shards
  // written, whichever is measured to be faster, once for every plan and size. A device with which
  // the job would take longer than without is refused; the log says so. Asking for several devices
  // is asking for their threads: one more for every further device that computes on the caller's.
  std::string backend = "auto";
  unsigned threads = 0;  // 0 or 1: the caller's thread; threads_all: every core; else so many
  std::size_t plan_cache_entries =
      1024;  // plans kept, the least recently used leave first; 0: none
  // Accept a caller's matrix that is not proven to rebuild every loss of m shards. Losses that it
  // cannot rebuild then fail with `unrecoverable` when they happen. Profiles are never accepted so.
  bool allow_unproven = false;
  Effort effort = Effort::fast;
};

struct BackendInfo {
  std::string name;         // "cpu", "jit:avx2", "reference"
  std::string description;  // "AVX-512 + GFNI matrix kernels"
  bool available = false;
  std::string reason;  // why not, when !available: "this CPU has no GFNI"
};

// Every backend of this build, usable or not.
std::vector<BackendInfo> list_backends();

// A matrix of coefficients with the shards it reads and writes. Immutable, cheap to copy, valid
// with every codec of the same spec, also after the one that made it is gone. Make one per failure
// pattern, use it for every stripe that has it.
class Plan {
 public:
  std::span<const ShardIndex> reads() const noexcept;   // the library's choice, ascending
  std::span<const ShardIndex> writes() const noexcept;  // in the order that the caller gave
  // writes x reads, row-major: written shard r = sum over c of coefficient(r, c) * read shard c.
  std::span<const std::uint16_t> coefficients() const noexcept;

 private:
  friend class Codec;
  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct RunOptions {
  // Add to the outputs instead of overwriting them: out ^= plan(in). So partial sums are merged
  // and parity is updated in place.
  bool accumulate = false;
  Stores stores = Stores::automatic;
};

// One stripe of a batch; as for run().
struct Stripe {
  std::span<const ConstShard> inputs;
  std::span<const Shard> outputs;
};

// Work that Codec::submit() began. It may outlive the codec and the plan. Not for two threads at
// once.
class Pending {
 public:
  Pending(Pending&& other) noexcept;
  Pending& operator=(Pending&& other) noexcept;  // waits for what it held
  ~Pending();                                    // waits

  // Returns when every output is written or the work failed. Asked again, it answers the same.
  Status wait();

 private:
  friend class Codec;
  struct Impl;
  explicit Pending(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;  // nullptr: nothing is left to do
};

// A part of a shard: bytes [offset, offset + bytes).
struct ByteRange {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

class Codec {
 public:
  // Builds and proves the code, picks a backend and compiles the encode kernel. Make once, keep.
  // Fails with invalid_argument (malformed spec), unproven (a loss pattern that the code cannot
  // rebuild is named), corrupt (matrix_hash differs), backend_unavailable or compile_failed.
  static Result<Codec> create(const CodeSpec& spec, const CodecOptions& options = {});

  // The same for the caller's own m x k parity rows, row-major; spec.family must be `custom`.
  // Fails with unproven, unless options.allow_unproven, when some loss cannot be rebuilt or the
  // matrix is too large to tell.
  static Result<Codec> create_from_matrix(const CodeSpec& spec,
                                          std::span<const std::uint16_t> parity_rows,
                                          const CodecOptions& options = {});

  // A codec, a plan or memory that was moved from is empty: calls that return a Result fail with
  // invalid_argument, the others return an empty value. It may be destroyed and assigned to.
  Codec(const Codec&) noexcept;  // shares everything with the original
  Codec(Codec&&) noexcept;
  Codec& operator=(const Codec&) noexcept;
  Codec& operator=(Codec&&) noexcept;
  ~Codec();

  const CodeSpec& spec() const noexcept;      // resolved: write this into headers
  const CodeProof& proof() const noexcept;    // why every promised loss can be rebuilt
  std::string_view backend() const noexcept;  // "cpu:avx512-gfni"
  unsigned threads() const noexcept;          // that work is spread over; at least 1
  // True when work is done by the caller's thread and the codec's own, as on the CPU: submit() then
  // returns when it is complete. False when a device works by itself.
  bool runs_on_caller() const noexcept;

  // Shard lengths must be a multiple of this: 1, but for the profiles that copy Jerasure's packets.
  std::size_t shard_bytes_multiple() const noexcept;
  // Bytes of a parity shard when data shards have shard_bytes; differs only with Layout::packets.
  std::size_t parity_bytes(std::size_t shard_bytes) const noexcept;
  // The smallest range around `range` that can be coded on its own: pass that part of every shard
  // as if it were a shard. With Layout::bytes it is `range` itself.
  ByteRange codable_range(ByteRange range, std::size_t shard_bytes) const noexcept;

  // --- plans ---------------------------------------------------------------------------------

  // Reads all data shards, writes all parity shards; made with the codec, costs nothing.
  const Plan& plan_encode() const noexcept;

  // Writes `wanted` (data or parity, not necessarily lost) from the cheapest sufficient part of
  // `available`: costs[i] >= 0 belongs to available[i], empty means all equal. For MDS codes these
  // are the k cheapest; lrc reads only the local group where that is enough and cheaper. A wanted
  // shard that is available is never chosen as its own source. writes() is `wanted` in the order
  // given, so outputs[i] of run() receives shard wanted[i]. Fails with unrecoverable when no choice
  // is enough, and with invalid_argument when a shard is named twice.
  Result<Plan> plan_decode(std::span<const ShardIndex> available,
                           std::span<const ShardIndex> wanted,
                           std::span<const std::uint32_t> costs = {}) const;

  // Reads the change (old xor new) of one data shard, writes what is to be added to the given
  // parity shards; run it with accumulate. writes() is `parity` in the order given; empty means
  // all, ascending. Fails with invalid_argument when a shard is named twice.
  Result<Plan> plan_update(ShardIndex data_index, std::span<const ShardIndex> parity = {}) const;

  // The share of `plan` that the holder of some of its reads can compute alone. The results of
  // shares that cover all reads once, added together (accumulate, or add()), are the plan's.
  Result<Plan> plan_partial(const Plan& plan, std::span<const ShardIndex> held) const;

  // --- work ----------------------------------------------------------------------------------

  // inputs[i] is shard plan.reads()[i], outputs[i] receives plan.writes()[i]. No output may
  // overlap an input or another output: invalid_argument.
  Status run(const Plan& plan, std::span<const ConstShard> inputs, std::span<const Shard> outputs,
             RunOptions options = {}) const;

  // The same over many stripes in one call; the stripes may differ in length.
  Status run_batch(const Plan& plan, std::span<const Stripe> stripes,
                   RunOptions options = {}) const;

  // run_batch() that need not be complete when it returns: a device that works by itself goes on
  // while the caller does something else. The spans are copied; shards are borrowed, and must be
  // left alone, until wait(). On the CPU the work is complete when submit() returns. A failure of
  // the checks is returned here, one of the work by wait().
  Result<Pending> submit(const Plan& plan, std::span<const Stripe> stripes,
                         RunOptions options = {}) const;

  // run() with every shard in pieces, cut wherever the caller has them.
  Status run_pieces(const Plan& plan, std::span<const ConstShardPieces> inputs,
                    std::span<const ShardPieces> outputs, RunOptions options = {}) const;

  // Overwrites all m parity shards from all k data shards.
  Status encode(std::span<const ConstShard> data, std::span<const Shard> parity,
                RunOptions options = {}) const;

  // run(), under the name that a reader looks for.
  Status decode(const Plan& plan, std::span<const ConstShard> survivors,
                std::span<const Shard> rebuilt, RunOptions options = {}) const;

  // Brings parity up to date after bytes [offset, offset + delta.size()) of one data shard of
  // shard_bytes changed: delta = old xor new. parity[i] is the whole parity shard that
  // parity_indices[i] names, in any order (empty: all m, ascending), and is changed in place.
  struct Change {
    ShardIndex data_index = 0;
    std::size_t offset = 0;
    std::size_t shard_bytes = 0;
    std::span<const ShardIndex> parity_indices = {};
  };
  Status update(const Change& change, ConstShard delta, std::span<const Shard> parity) const;
  // The same from what the shard held and what it holds now, in one pass over all of them; faster
  // than making the delta first.
  Status update(const Change& change, ConstShard old_bytes, ConstShard new_bytes,
                std::span<const Shard> parity) const;

  // The parity shards that do not match the data; empty when the stripe is sound.
  Result<std::vector<ShardIndex>> verify(std::span<const ConstShard> data,
                                         std::span<const ConstShard> parity) const;

  // Which shards hold wrong bytes, from the syndromes alone. shards[i] is shard i of all k+m;
  // `missing` ones may be anything, empty too. Exact while 2 * wrong + missing <= m (for lrc and
  // unproven codes: <= proof().losses); beyond that it fails with `ambiguous` and names nobody,
  // unless the damage happens to look exactly like lighter damage elsewhere. At least k + 1 shards
  // must be there: k of them agree whatever they hold, so it fails with `unrecoverable` when m or
  // more are missing.
  Result<std::vector<ShardIndex>> locate(std::span<const ConstShard> shards,
                                         std::span<const ShardIndex> missing = {}) const;

 private:
  friend struct CodecAccess;
  struct Impl;
  explicit Codec(std::shared_ptr<const Impl> impl) noexcept;
  std::shared_ptr<const Impl> impl_;
};

// target ^= addend: merges partial sums computed elsewhere. Fails with invalid_argument when the
// lengths differ or the ranges overlap.
Status add(Shard target, ConstShard addend);

// Receives one line, without its end, whenever something happens that is no error of a call but
// should be known: a device was left, one was refused. Called by any thread, one at a time; it must
// not throw, nor call this library. nullptr, the default: nobody is told, unless the environment
// has CALPE_LOG=stderr. When this returns, the handler before is not called any more.
using LogHandler = void (*)(const char* line, void* user);
void set_log_handler(LogHandler handler, void* user) noexcept;

// "0.1.0"
std::string_view version() noexcept;

}  // namespace calpe
