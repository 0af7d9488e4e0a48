// SPDX-License-Identifier: Apache-2.0
// calpe/codec.hpp — encode, rebuild, update, verify and locate. Start reading here.
//
//   auto codec = calpe::Codec::create({.data_shards = 10, .parity_shards = 4});
//   if (!codec) return report(codec.error());
//   if (auto done = codec->encode(data, parity); !done) return report(done.error());
//
// A stripe has k data shards (indices 0..k-1) and m parity shards (k..k+m-1). Every operation
// applies a Plan to shards. A Plan is a matrix of coefficients with the shards it reads and writes.
// encode, decode and update use particular plans; run() applies any plan.
//
// Lengths. Shards may have any alignment and any length from 0 to PTRDIFF_MAX - 64. With
// Layout::bytes and word_bits 8 all shards of a stripe have the same length. Otherwise, data shards
// have `shard_bytes` and parity shards have parity_bytes(shard_bytes). With Layout::packets that is
// at most w-1 bytes more, and equal for multiples of w. With word_bits 16, which codes of more than
// 256 shards have, it is one byte more for odd lengths.
//
// Threads. A Codec is immutable. Threads may call every const member at the same time, as long as
// no two calls write the same shard. Work runs on the calling thread unless CodecOptions asks for
// more; the codec's threads then help with every call, and do the work of submit().
//
// fork(). In the child, every codec and plan works on the calling thread only, and wait() completes
// there what was submitted before. It fails with device_failed if the parent's threads were at work
// on it with RunOptions::accumulate, which cannot be repeated. Codecs on devices
// with a driver (opencl, cuda, vulkan) are the exception: in the child each use fails with
// device_failed, and they and everything made with them can only be destroyed. Call fork() of the C
// library, not the bare system call.
//
// Errors. All errors are returned, never thrown, including failed allocations. On error the outputs
// are unspecified and the inputs unchanged.
//
// Memory. Spans are borrowed for the call. run() and the functions built on it do not allocate once
// the plan exists, if the codec runs_on_caller(). Codes of more than 256 shards need scratch
// memory, up to 34 MiB a call; that of up to 16 calls is kept for later ones. run_pieces()
// allocates when the outputs have more than 1024 pieces. verify() and locate() allocate their
// result. A call needs up to 256 KiB of stack on the calling thread.
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
#include <calpe/shard_list.hpp>
#include <calpe/stores.hpp>

namespace calpe {

// A shard in pieces, as for readv() and writev(): the pieces in order form the shard.
using ShardPieces = std::span<const Shard>;
using ConstShardPieces = std::span<const ConstShard>;

inline constexpr unsigned threads_all = ~0u;

// Time spent optimising a plan. Affects how fast the plan runs, never its result. Only for
// Layout::packets; plans for Layout::bytes need no search.
enum class Effort : std::uint8_t {
  fast = 0,      // under 1 ms per plan for 10+4
  standard = 1,  // tens of milliseconds; a few percent faster
  thorough = 2,  // about a second
};

// Options affect speed, never the parity bytes.
struct CodecOptions {
  // "auto", or a name from list_backends(): "cpu", "jit:avx2", "openmp", "reference". "auto" means
  // cpu for Layout::bytes, and jit for Layout::packets (or cpu where jit cannot be used).
  //
  // Devices with a driver (opencl, cuda, vulkan) are monitored. The CPU checks the first use of
  // every plan and 1 stripe in 4096. A device that fails, hangs or returns wrong bytes is disabled
  // for good; the CPU then writes the same bytes, and the log gets one line.
  //
  // Names joined by "+", such as "opencl:0+opencl:1+cpu", split each job between these devices: by
  // bytes or by written shards, whichever is measured to be faster for the plan and size. A device
  // that would slow the job down is not used, and the log reports it. Each device after the first
  // that computes on the calling thread adds one thread.
  std::string backend = "auto";
  unsigned threads = 0;  // 0 or 1: calling thread; threads_all: one per core; n: n threads
  // Plans kept, least recently used evicted; 0: none. A plan of more than 256 shards takes an entry
  // per 64 KiB of its memory: with 10,000+2,000 and one lost shard two, with 65,000+500 ten.
  std::size_t plan_cache_entries = 1024;
  // Accept a custom matrix that is not proven to rebuild every loss of m shards. Decoding a loss
  // that it cannot rebuild fails with `unrecoverable`. Built-in profiles must always be proven.
  bool allow_unproven = false;
  Effort effort = Effort::fast;
};

struct BackendInfo {
  std::string name;         // "cpu", "jit:avx2", "reference"
  std::string description;  // "AVX-512 + GFNI matrix kernels"
  bool available = false;
  std::string reason;  // why not, when !available: "this CPU has no GFNI"
};

// Returns every backend of this build, including unavailable ones.
std::vector<BackendInfo> list_backends();

// A matrix of coefficients with the shards it reads and writes. Immutable and cheap to copy. Valid
// with every codec of the same spec, also after its own codec is destroyed. Create one plan per
// failure pattern and use it for every stripe with that pattern.
class Plan {
 public:
  // An empty plan. Every function that takes it fails with invalid_argument.
  Plan() noexcept = default;
  std::span<const ShardIndex> reads() const noexcept;   // chosen by the library, ascending
  std::span<const ShardIndex> writes() const noexcept;  // in the caller's order
  // writes x reads, row-major: written shard r = sum over c of coefficient(r, c) * read shard c.
  // May be empty if there are more than 65,536, for a code with word_bits 16.
  std::span<const std::uint16_t> coefficients() const noexcept;

 private:
  friend class Codec;
  friend class PreparedPlan;
  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct RunOptions {
  // XOR into the outputs instead of overwriting them: out ^= plan(in). Use it to merge partial
  // results and to update parity in place.
  bool accumulate = false;
  Stores stores = Stores::automatic;
};

struct RebuildOptions {
  bool data_only = false;  // leave missing parity shards as they are; they need no buffer
  Stores stores = Stores::automatic;
};

// One stripe of a batch, with inputs and outputs as for run().
struct Stripe {
  std::span<const ConstShard> inputs;
  std::span<const Shard> outputs;
};

// Shards at regular distances: shard i of stripe s is at base + s * stripe_stride +
// i * shard_stride.
struct StridedInputs {
  const std::byte* base = nullptr;
  std::size_t shard_stride = 0;
  std::size_t stripe_stride = 0;
};
struct StridedOutputs {
  std::byte* base = nullptr;
  std::size_t shard_stride = 0;
  std::size_t stripe_stride = 0;
};

// A plan for shards of one length, made by Codec::prepare(). It runs on raw pointers and checks
// nothing, so a call on the CPU adds about 5 ns to the work; Codec::run() checks its operands in 15
// to 40 ns. Use it for many small stripes. Immutable, cheap to copy, thread-safe; may outlive the
// codec and the plan.
//
// The caller guarantees what Codec::run() checks: as many pointers as the plan reads and writes, at
// least shard_bytes() behind each (parity_bytes() of it behind parity), and no
// output that overlaps an input or another output. Anything else is undefined behaviour.
class PreparedPlan {
 public:
  PreparedPlan() noexcept = default;  // empty: every call fails with invalid_argument
  // Moving copies: the original stays usable.
  PreparedPlan(const PreparedPlan&) noexcept = default;
  PreparedPlan& operator=(const PreparedPlan&) noexcept = default;

  std::size_t shard_bytes() const noexcept { return shard_bytes_; }

  // Codec::run() on one stripe. Fails only if a device fails or the object is empty.
  Status run(const std::byte* const* inputs, std::byte* const* outputs) const {
    if (function_ == nullptr) return run_batch(1, inputs, outputs);
    function_(state_, inputs, outputs, shard_bytes_);
    return Done{};
  }

  // Codec::run_batch(). The lists hold the pointers of all stripes, one stripe after the other.
  Status run_batch(std::size_t stripe_count, const std::byte* const* inputs,
                   std::byte* const* outputs) const;

  // The same for shards at regular distances.
  Status run_strided(std::size_t stripe_count, const StridedInputs& inputs,
                     const StridedOutputs& outputs) const;

 private:
  friend class Codec;
  struct Impl;
  using Function = void (*)(const void* state, const std::byte* const* inputs,
                            std::byte* const* outputs, std::size_t shard_bytes);
  explicit PreparedPlan(std::shared_ptr<const Impl> impl) noexcept;
  std::shared_ptr<const Impl> impl_;
  Function function_ = nullptr;  // the kernel, if one call of it does the work
  const void* state_ = nullptr;
  std::size_t shard_bytes_ = 0;
};

// Work started by Codec::submit(). It may outlive the codec and the plan. Not thread-safe, but
// threads may wait for different ones at the same time.
class Pending {
 public:
  Pending(Pending&& other) noexcept;
  Pending& operator=(Pending&& other) noexcept;  // waits for its previous work
  ~Pending();                                    // waits

  // Waits until all outputs are written or the work failed. If the codec's threads do the work, the
  // calling thread helps with this work. Further calls return the same result.
  Status wait();

 private:
  friend class Codec;
  struct Impl;
  explicit Pending(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;  // nullptr: nothing to wait for
};

// Length of a tag, see Codec::tag().
inline constexpr std::size_t tag_bytes = 8;

// The bytes [offset, offset + bytes) of a shard.
struct ByteRange {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

class Codec {
 public:
  // Builds and proves the code, picks a backend and compiles the encode kernel. This is expensive:
  // create a codec once and keep it. Fails with invalid_argument (malformed spec), unproven (the
  // message names a loss that the code cannot rebuild), corrupt (matrix_hash differs),
  // backend_unavailable or compile_failed.
  static Result<Codec> create(const CodeSpec& spec, const CodecOptions& options = {});

  // Creates a codec from the caller's m x k parity rows, row-major; spec.family must be `custom`.
  // Fails with unproven if some loss cannot be rebuilt or the matrix is too large to check, unless
  // options.allow_unproven is set.
  static Result<Codec> create_from_matrix(const CodeSpec& spec,
                                          std::span<const std::uint16_t> parity_rows,
                                          const CodecOptions& options = {});

  // A moved-from codec, plan or memory object is empty. Functions that return a Result then fail
  // with invalid_argument; the others return an empty value. It can be destroyed and assigned to.
  Codec(const Codec&) noexcept;  // shares everything with the original
  Codec(Codec&&) noexcept;
  Codec& operator=(const Codec&) noexcept;
  Codec& operator=(Codec&&) noexcept;
  ~Codec();

  const CodeSpec& spec() const noexcept;      // resolved; store this in headers
  const CodeProof& proof() const noexcept;    // proof that losses can be rebuilt
  std::string_view backend() const noexcept;  // "cpu:avx512-gfni"
  unsigned threads() const noexcept;          // threads that share the work; at least 1
  // True if the calling thread and the codec's threads do the work, as on the CPU; submit() then
  // returns after completion if threads() is 1. False if a device does the work.
  bool runs_on_caller() const noexcept;

  // Shard lengths must be a multiple of this. It is 1, except for profiles with Jerasure's packets.
  std::size_t shard_bytes_multiple() const noexcept;
  // Length of a parity shard for data shards of shard_bytes, see "Lengths" above.
  std::size_t parity_bytes(std::size_t shard_bytes) const noexcept;
  // Returns the smallest range around `range` that can be coded alone. Pass this part of every
  // shard as if it were a whole shard. With Layout::bytes and word_bits 8 it is `range` itself.
  ByteRange codable_range(ByteRange range, std::size_t shard_bytes) const noexcept;

  // --- objects -------------------------------------------------------------------------------

  // An object is a buffer of any length. Data shard i is its bytes [i * shard_bytes, (i + 1) *
  // shard_bytes), as far as the object reaches. The last data shards may therefore be short or
  // empty; their missing bytes count as zeros and need not be stored. Nothing is copied.

  // Returns the shortest shard length for an object of this length. It is 0 for an empty object.
  std::size_t shard_bytes_for(std::size_t object_bytes) const noexcept;

  // Sets `data` to the k data shards of the object. Fails with invalid_argument if `data` does not
  // have k entries or shard_bytes is below shard_bytes_for(object.size()) or no allowed length.
  Status split(ConstShard object, std::size_t shard_bytes, std::span<ConstShard> data) const;
  Status split(Shard object, std::size_t shard_bytes, std::span<Shard> data) const;

  // Overwrites all m parity shards of an object. They have parity_bytes(shard_bytes).
  Status encode_object(ConstShard object, std::size_t shard_bytes, std::span<const Shard> parity,
                       RunOptions options = {}) const;

  // Rebuilds lost data shards in their place in the object. `plan` comes from plan_decode() and
  // writes data shards only. The data shards that it reads are already in the object. parity[i] is
  // shard k + i; those that the plan does not read may be empty.
  Status decode_object(const Plan& plan, Shard object, std::size_t shard_bytes,
                       std::span<const ConstShard> parity, RunOptions options = {}) const;

  // --- plans ---------------------------------------------------------------------------------

  // Reads all data shards, writes all parity shards. Created with the codec, so the call is free.
  const Plan& plan_encode() const noexcept;

  // Writes `wanted` (data or parity, lost or not) from the cheapest sufficient subset of
  // `available`. costs[i] is the cost of reading available[i]; empty means all equal. For MDS codes
  // the subset is the k cheapest shards; lrc reads only the local group if that suffices and is
  // cheaper. A wanted shard is never its own source. writes() is `wanted` in the given order, so
  // outputs[i] of run() receives shard wanted[i]. Fails with unrecoverable if no subset suffices,
  // and with invalid_argument if an index occurs twice.
  Result<Plan> plan_decode(std::span<const ShardIndex> available,
                           std::span<const ShardIndex> wanted,
                           std::span<const std::uint32_t> costs = {}) const;

  // Reads the change (old XOR new) of one data shard and writes the change of the given parity
  // shards; run it with accumulate. writes() is `parity` in the given order; empty means all,
  // ascending. Fails with invalid_argument if an index occurs twice.
  Result<Plan> plan_update(ShardIndex data_index, std::span<const ShardIndex> parity = {}) const;

  // Returns the part of `plan` that the holder of some of its reads can compute alone. If several
  // parts together cover each read once, the XOR of their results (accumulate, or add()) is the
  // result of `plan`.
  Result<Plan> plan_partial(const Plan& plan, std::span<const ShardIndex> held) const;

  // --- work ----------------------------------------------------------------------------------

  // Applies a plan: inputs[i] is shard plan.reads()[i], outputs[i] receives shard plan.writes()[i].
  // Fails with invalid_argument if an output overlaps an input or another output.
  Status run(const Plan& plan, std::span<const ConstShard> inputs, std::span<const Shard> outputs,
             RunOptions options = {}) const;

  // A shortcut of run() for short shards behind raw pointers, all of shard_bytes; the C API uses
  // it. Checks overlap as run() does. Returns false and writes nothing if it does not apply: for
  // long shards, unusual orders of addresses, devices, and operands that run() refuses. Use run()
  // then.
  bool run_short(const Plan& plan, const std::byte* const* inputs, std::byte* const* outputs,
                 std::size_t shard_bytes, RunOptions options = {}) const noexcept;

  // run() for many stripes in one call. The stripes may differ in length. No stripe may read or
  // write what another one writes; only overlap within a stripe is checked.
  Status run_batch(const Plan& plan, std::span<const Stripe> stripes,
                   RunOptions options = {}) const;

  // Prepares `plan` for data shards of shard_bytes, for many calls on raw pointers. Fails with
  // invalid_argument if shards cannot have this length.
  Result<PreparedPlan> prepare(const Plan& plan, std::size_t shard_bytes,
                               RunOptions options = {}) const;

  // Starts run_batch() and returns before it is complete, so that a device or the codec's threads
  // work while the caller continues. Any number of threads may submit any number of jobs; the
  // codec's threads take them in order, after the calls that threads wait in. The spans are copied.
  // The shards are borrowed until wait() returns; do not touch them before. submit() returns errors
  // in the arguments; wait() returns errors of the work. On the CPU without threads (threads() is
  // 1), and in a child of fork(), the work is complete when submit() returns.
  Result<Pending> submit(const Plan& plan, std::span<const Stripe> stripes,
                         RunOptions options = {}) const;

  // run() with every shard in pieces, split at any position.
  Status run_pieces(const Plan& plan, std::span<const ConstShardPieces> inputs,
                    std::span<const ShardPieces> outputs, RunOptions options = {}) const;

  // Overwrites all m parity shards from all k data shards, or with options.accumulate adds to them.
  Status encode(std::span<const ConstShard> data, std::span<const Shard> parity,
                RunOptions options = {}) const;

  // The same as run().
  Status decode(const Plan& plan, std::span<const ConstShard> survivors,
                std::span<const Shard> rebuilt, RunOptions options = {}) const;

  // Rebuilds lost shards in place. shards[i] is shard i of all k+m; those in `missing`, in any
  // order, are written from the others, which are only read. A missing shard without a buffer
  // (data() == nullptr) is neither read nor written, so a caller can rebuild just the shards that
  // it needs; at least one must have a buffer. If nothing is missing, nothing is written.
  //
  // The plan comes from the plan cache, so only the first call for a loss pattern plans. Further
  // calls do not allocate; they take some hundred nanoseconds more than run() with a kept plan. To
  // read fewer shards, or the cheapest ones, use plan_decode().
  //
  // Fails with unrecoverable if the present shards do not suffice. Fails with invalid_argument if
  // `missing` names a shard twice, a present shard or a buffer has the wrong length, or a buffer
  // overlaps another shard.
  Status rebuild(std::span<const Shard> shards, std::span<const ShardIndex> missing,
                 RebuildOptions options = {}) const;

  // rebuild() for many stripes that lost the same shards, in one call; stripes[s] has the k+m
  // shards of a stripe. The stripes may differ in length, and in which buffers they have.
  Status rebuild_batch(std::span<const std::span<const Shard>> stripes,
                       std::span<const ShardIndex> missing, RebuildOptions options = {}) const;

  // Updates parity in place after bytes [offset, offset + delta.size()) of one data shard changed;
  // delta = old XOR new. shard_bytes is the length of that shard. parity[i] is the whole parity
  // shard number parity_indices[i], in any order; empty means all m, ascending.
  struct Change {
    ShardIndex data_index = 0;
    std::size_t offset = 0;
    std::size_t shard_bytes = 0;
    std::span<const ShardIndex> parity_indices = {};
  };
  Status update(const Change& change, ConstShard delta, std::span<const Shard> parity) const;
  // The same from the old and the new bytes, in one pass. Faster than computing the delta first.
  Status update(const Change& change, ConstShard old_bytes, ConstShard new_bytes,
                std::span<const Shard> parity) const;

  // Returns the parity shards that do not match the data; empty if the stripe is consistent.
  Result<std::vector<ShardIndex>> verify(std::span<const ConstShard> data,
                                         std::span<const ConstShard> parity) const;

  // Returns the shards that hold wrong bytes, without checksums. shards[i] is shard i of all k+m;
  // those in `missing` may hold anything or be empty. Exact while 2 * wrong + missing <= m (lrc and
  // unproven codes: <= proof().losses). Beyond that it fails with `ambiguous`, unless the damage
  // looks exactly like lighter damage elsewhere. Two kinds of codes give up with `ambiguous`
  // earlier: those whose proof is not of the kind `cauchy` after a million sets of suspects in one
  // column (3 wrong of up to 180 shards are always found, 4 of up to 70), codes of more than 256
  // shards beyond 16 wrong shards in one column. Fails with `unrecoverable` if m or more shards are
  // missing, because any k shards are consistent with each other.
  Result<std::vector<ShardIndex>> locate(std::span<const ConstShard> shards,
                                         std::span<const ShardIndex> missing = {}) const;

  // --- tags ----------------------------------------------------------------------------------

  // A tag is a linear hash of a shard (docs/tags.md). Tags are short shards: all plans, encode()
  // and verify() apply to them, and the tags of parity are the parity of the tags. So tags tell
  // whether parity matches data without either. They depend only on the bytes and the field, and
  // are a format: they never change. Random damage escapes with a probability of 2^-64. Tags are no
  // signature: anybody can make a shard with a given tag. Shards of different lengths can have the
  // same tag, for example all-zero ones.
  //
  // Only for Layout::bytes with word_bits 8; others fail with invalid_argument.

  // Writes the tags of the shards, any number of them: tag i is at tags[i * tag_bytes]. The shards
  // may differ in length. Fails with invalid_argument if `tags` has another size, overlaps a shard,
  // or a shard is in device memory.
  Status tag(std::span<const ConstShard> shards, std::span<std::byte> tags) const;

  // encode() that also writes the tags of all k+m shards, in order. Reads the data once. The tags
  // of parity are computed from those of data, so they also tell if parity was written wrongly.
  // Allocates about 1.5 KiB per data shard.
  Status encode_tagged(std::span<const ConstShard> data, std::span<const Shard> parity,
                       std::span<std::byte> tags, RunOptions options = {}) const;

  // --- the same with the caller's types ------------------------------------------------------

  // Lists of any type that shard_list.hpp describes, such as std::vector<std::vector<std::byte>>,
  // std::span<std::span<unsigned char>> or strided(). They allocate only for lists of more than 256
  // shards, and fail with out_of_memory if that fails.
  template <InputList Inputs, OutputListBeside<Inputs> Outputs>
  Status run(const Plan& plan, Inputs&& inputs, Outputs&& outputs, RunOptions options = {}) const {
    const ShardSpans<ConstShard> from(inputs);
    const ShardSpans<Shard> to(outputs);
    return from && to ? run(plan, from.get(), to.get(), options) : no_memory();
  }
  template <InputList Data, OutputListBeside<Data> Parity>
  Status encode(Data&& data, Parity&& parity, RunOptions options = {}) const {
    const ShardSpans<ConstShard> from(data);
    const ShardSpans<Shard> to(parity);
    return from && to ? encode(from.get(), to.get(), options) : no_memory();
  }
  template <InputList Survivors, OutputListBeside<Survivors> Rebuilt>
  Status decode(const Plan& plan, Survivors&& survivors, Rebuilt&& rebuilt,
                RunOptions options = {}) const {
    const ShardSpans<ConstShard> from(survivors);
    const ShardSpans<Shard> to(rebuilt);
    return from && to ? decode(plan, from.get(), to.get(), options) : no_memory();
  }
  template <OtherOutputList Shards>
  Status rebuild(Shards&& shards, std::span<const ShardIndex> missing,
                 RebuildOptions options = {}) const {
    const ShardSpans<Shard> all(shards);
    return all ? rebuild(all.get(), missing, options) : no_memory();
  }
  template <OtherOutputList Parity>
  Status update(const Change& change, ConstShard delta, Parity&& parity) const {
    const ShardSpans<Shard> to(parity);
    return to ? update(change, delta, to.get()) : no_memory();
  }
  template <OtherOutputList Parity>
  Status update(const Change& change, ConstShard old_bytes, ConstShard new_bytes,
                Parity&& parity) const {
    const ShardSpans<Shard> to(parity);
    return to ? update(change, old_bytes, new_bytes, to.get()) : no_memory();
  }
  template <InputList Data, InputListBeside<Data> Parity>
  Result<std::vector<ShardIndex>> verify(Data&& data, Parity&& parity) const {
    const ShardSpans<ConstShard> from(data);
    const ShardSpans<ConstShard> to(parity);
    if (!from || !to) return no_memory();
    return verify(from.get(), to.get());
  }
  template <OtherInputList Shards>
  Status tag(Shards&& shards, std::span<std::byte> tags) const {
    const ShardSpans<ConstShard> all(shards);
    return all ? tag(all.get(), tags) : no_memory();
  }
  template <InputList Data, OutputListBeside<Data> Parity>
  Status encode_tagged(Data&& data, Parity&& parity, std::span<std::byte> tags,
                       RunOptions options = {}) const {
    const ShardSpans<ConstShard> from(data);
    const ShardSpans<Shard> to(parity);
    return from && to ? encode_tagged(from.get(), to.get(), tags, options) : no_memory();
  }
  template <OtherInputList Shards>
  Result<std::vector<ShardIndex>> locate(Shards&& shards,
                                         std::span<const ShardIndex> missing = {}) const {
    const ShardSpans<ConstShard> all(shards);
    if (!all) return no_memory();
    return locate(all.get(), missing);
  }

 private:
  friend struct CodecAccess;
  friend class PreparedPlan;
  struct Impl;
  static Error no_memory() { return {ErrorCode::out_of_memory, "out of memory"}; }
  explicit Codec(std::shared_ptr<const Impl> impl) noexcept;
  std::shared_ptr<const Impl> impl_;
};

// Merges partial results: target ^= addend. Fails with invalid_argument if the lengths differ or
// the ranges overlap.
Status add(Shard target, ConstShard addend);

// Sets the handler for log lines. It receives events that are not errors of a call, such as a
// device that was disabled or refused; a line has no newline at its end. Any thread may call the
// handler, one at a time. The handler must not throw or call this library. With nullptr (the
// default) the lines are dropped unless the environment contains CALPE_LOG=stderr. Once this
// function returns, the previous handler is no longer called.
using LogHandler = void (*)(const char* line, void* user);
void set_log_handler(LogHandler handler, void* user) noexcept;

// "0.1.0"
std::string_view version() noexcept;

}  // namespace calpe
