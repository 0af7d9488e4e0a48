/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h — the C interface (ABI) of Calpe. It is stable: existing functions, values and fields
 * never change their meaning.
 *
 *   calpe_spec spec = CALPE_SPEC_INIT;
 *   calpe_codec *codec;
 *   calpe_error error;
 *   spec.data_shards = 10;
 *   spec.parity_shards = 4;
 *   if (calpe_codec_create(&spec, NULL, &codec, &error)) return report(error.message);
 *   if (calpe_encode(codec, data, parity, shard_bytes, &error)) return report(error.message);
 *
 * Conventions
 * 1. Errors. A function that can fail returns a calpe_status and fills in the calpe_error that its
 *    last parameter points to; that pointer may be NULL. The library never prints, throws or aborts
 *    because of its input. GCC and Clang warn if a status is ignored (CALPE_CHECKED).
 * 2. Structures that may grow begin with struct_size. The caller always sets it to
 *    sizeof(the structure), also when the library fills in the rest. The macro CALPE_<NAME>_INIT
 *    initialises one: struct_size is set, the other fields are zero. Later versions only append
 *    fields, and zero always means the default. The library treats fields beyond struct_size as
 *    zero and never writes them. It refuses a non-zero field that it does not know.
 *    Structures without struct_size never change; new information will come in new functions.
 * 3. Handles are opaque. Except those of streams, they are immutable and threads may share them.
 *    Destroying NULL does nothing. Functions without a calpe_error take valid handles only.
 * 4. Shards are named by index: data shards are 0..k-1, parity shards are k..k+m-1. The library
 *    borrows buffers for the duration of a call. Buffers may have any alignment and any length,
 *    including 0. An output must not overlap any other buffer of the call; in a batch, no other
 *    stripe may read or write it, which is not checked. shard_bytes is the length of a data
 *    shard; a parity shard has calpe_parity_bytes(), which may differ with the packets layout and
 *    with word_bits 16.
 *    Lengths above PTRDIFF_MAX - 64 and lists that cannot fit in memory are refused.
 * 5. Functions that fill a list return the number of entries and write at most `capacity` of them.
 * 6. fork(). All handles work in the child, but only on the calling thread; the worker threads stay
 *    in the parent. No lock of the library stays locked. calpe_wait() completes what was submitted
 *    before. It returns CALPE_ERROR_DEVICE_FAILED if a worker thread was at work on it with
 *    CALPE_RUN_ACCUMULATE, which cannot be repeated. Codecs on opencl or cuda are the exception,
 *    as a driver serves only the process that opened it. In a child they return
 *    CALPE_ERROR_DEVICE_FAILED and can only be destroyed, with everything made with them. A child
 *    may open such a device only if its parent never tried to.
 * 7. Stack. A call needs up to 256 KiB of the calling thread's stack. Set the size of threads that
 *    have less, such as those of musl.
 * 8. Privileges. In a process that runs setuid, setgid or with raised capabilities, the library
 *    ignores all environment variables, runs no compiler and loads no driver.
 *
 * calpe/streams.h has streams: objects that are larger than memory.
 *
 * The C++ header calpe/codec.hpp has the same functions and describes each in more detail. */
#ifndef CALPE_H
#define CALPE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define CALPE_ABI_VERSION 1
/* Version of this header. calpe_version_string() returns that of the loaded library. */
#define CALPE_VERSION_MAJOR 0
#define CALPE_VERSION_MINOR 1
#define CALPE_VERSION_PATCH 0

#if defined(__GNUC__) && !defined(_WIN32)
#define CALPE_API __attribute__((visibility("default")))
#else
#define CALPE_API
#endif
/* The result must be used. Define it as empty before this header to allow ignoring a status. */
#if !defined(CALPE_CHECKED)
#if defined(__GNUC__)
#define CALPE_CHECKED __attribute__((warn_unused_result))
#else
#define CALPE_CHECKED
#endif
#endif

typedef int32_t calpe_status; /* 0 = ok, else CALPE_ERROR_* */
#define CALPE_OK 0
#define CALPE_ERROR_INVALID_ARGUMENT 1
#define CALPE_ERROR_UNRECOVERABLE 2
#define CALPE_ERROR_BACKEND_UNAVAILABLE 3
#define CALPE_ERROR_COMPILE_FAILED 4
#define CALPE_ERROR_DEVICE_FAILED 5
#define CALPE_ERROR_IO 6
#define CALPE_ERROR_CORRUPT 7
#define CALPE_ERROR_OUT_OF_MEMORY 8
#define CALPE_ERROR_UNPROVEN 9
#define CALPE_ERROR_AMBIGUOUS 10

/* Code families; docs/codes.md describes them. The numbers are stored on disk and never change.
 * DEFAULT is resolved when the codec is created, so calpe_codec_spec() never returns it and headers
 * never contain it. It means HYBRID for m <= 4. For m >= 5 it means LCH where LCH is defined, and
 * HYBRID elsewhere. */
#define CALPE_FAMILY_DEFAULT 0
#define CALPE_FAMILY_CAUCHY 1
#define CALPE_FAMILY_VANDERMONDE 2
#define CALPE_FAMILY_HYBRID 3
#define CALPE_FAMILY_LCH 4
#define CALPE_FAMILY_VANDERMONDE_JERASURE 5
#define CALPE_FAMILY_VANDERMONDE_ISAL 6
#define CALPE_FAMILY_HYBRID_GOOD 7
#define CALPE_FAMILY_CAUCHY_ORIG 8
#define CALPE_FAMILY_CAUCHY_GOOD 9
#define CALPE_FAMILY_VANDERMONDE_ZFEC 10
#define CALPE_FAMILY_VANDERMONDE_LEC 11
#define CALPE_FAMILY_RAID6 12
#define CALPE_FAMILY_LRC 13
#define CALPE_FAMILY_CUSTOM 14
#define CALPE_LAYOUT_BYTES 1
#define CALPE_LAYOUT_PACKETS 2

#define CALPE_THREADS_ALL UINT32_MAX /* one per core */
#define CALPE_SHARDS_MAX 65536       /* k + m; beyond 256 only CALPE_FAMILY_LCH */
#define CALPE_PROOF_DEAD_MAX 256 /* shards in a refuting pattern; codes beyond 256 have a proof */

typedef struct calpe_codec calpe_codec;
typedef struct calpe_plan calpe_plan;
typedef struct calpe_pending calpe_pending;

typedef struct calpe_error {
  calpe_status status;
  char message[508]; /* NUL-terminated, truncated if longer */
} calpe_error;

/* Everything that determines the parity bytes. */
typedef struct calpe_spec {
  size_t struct_size;
  uint32_t family;        /* CALPE_FAMILY_*; 0 = default */
  uint32_t layout;        /* CALPE_LAYOUT_*; 0 = bytes */
  uint32_t data_shards;   /* k >= 1 */
  uint32_t parity_shards; /* m >= 1 */
  uint32_t word_bits;     /* 0 = 8; becomes 16 beyond 256 shards */
  uint32_t polynomial;    /* 0 = the default one */
  uint32_t packet_bytes;  /* packets only; 0 = 512 */
  uint32_t local_groups;  /* lrc only */
  uint64_t matrix_hash;   /* 0 = not checked */
} calpe_spec;
#define CALPE_SPEC_INIT \
  { sizeof(calpe_spec), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Options affect speed, never the parity bytes. */
typedef struct calpe_options {
  size_t struct_size;
  const char* backend;         /* NULL = "auto"; "a+b" splits each job between a and b */
  uint32_t threads;            /* 0 or 1 = calling thread; CALPE_THREADS_ALL = one per core */
  uint32_t plan_cache_entries; /* 0 = 1024; UINT32_MAX = none; wide plans take one per 64 KiB */
  uint32_t allow_unproven;     /* non-zero = accept an unproven custom matrix */
  uint32_t effort;             /* CALPE_EFFORT_FAST, ...; layout packets only */
} calpe_options;
#define CALPE_OPTIONS_INIT \
  { sizeof(calpe_options), NULL, 0, 0, 0, 0 }

/* Time spent optimising a plan. Affects how fast the plan runs, never its result. */
#define CALPE_EFFORT_FAST 0u     /* under 1 ms per plan for 10+4 */
#define CALPE_EFFORT_STANDARD 1u /* tens of milliseconds; a few percent faster */
#define CALPE_EFFORT_THOROUGH 2u /* about a second */

/* A shard in pieces that is written. A piece is like struct iovec. */
typedef struct calpe_piece {
  void* data;
  size_t bytes;
} calpe_piece;
typedef struct calpe_pieces {
  const calpe_piece* pieces;
  size_t count;
} calpe_pieces;
/* A shard in pieces that is only read. */
typedef struct calpe_const_piece {
  const void* data;
  size_t bytes;
} calpe_const_piece;
typedef struct calpe_const_pieces {
  const calpe_const_piece* pieces;
  size_t count;
} calpe_const_pieces;

/* One stripe of a batch. */
typedef struct calpe_stripe {
  const void* const* inputs; /* in the order of calpe_plan_reads() */
  void* const* outputs;      /* in the order of calpe_plan_writes() */
  size_t shard_bytes;
} calpe_stripe;

/* All shards of one stripe, for calpe_rebuild_batch(). */
typedef struct calpe_whole_stripe {
  void* const* shards; /* k + m */
  size_t shard_bytes;
} calpe_whole_stripe;

#define CALPE_RUN_ACCUMULATE 1u /* XOR into the outputs instead of overwriting them */
/* Cache hints, at most one. Default: streaming if the shards exceed one core's cache. */
#define CALPE_RUN_CACHED 2u    /* keep the outputs in the caches: they are read soon */
#define CALPE_RUN_STREAMING 4u /* bypass the caches: the shards are cold */
/* Only for calpe_rebuild() and calpe_rebuild_batch(). */
#define CALPE_REBUILD_DATA_ONLY 256u /* leave missing parity shards as they are */

/* --- library ---------------------------------------------------------------------------------- */

/* Returns CALPE_ABI_VERSION of the loaded library. */
CALPE_API uint32_t calpe_abi_version(void);
/* Returns the version of the loaded library, such as "0.1.0". */
CALPE_API const char* calpe_version_string(void);

/* Sets the handler for log lines. It receives events that are not errors of a call, such as a
 * device that was disabled or refused; a line has no newline at its end. Any thread may call the
 * handler, one at a time. The handler must not call this library. With NULL (the default) the lines
 * are dropped unless the environment contains CALPE_LOG=stderr. Once this function returns, the
 * previous handler is no longer called. */
typedef void (*calpe_log_handler)(const char* line, void* user);
CALPE_API void calpe_set_log_handler(calpe_log_handler handler, void* user);

/* Returns profile number `index`, or NULL after the last. The library owns the structure and sets
 * its struct_size. */
typedef struct calpe_profile {
  size_t struct_size;
  const char* name;
  const char* construction;
  const char* compatible;
  uint32_t family;
  uint32_t bytes_layout;
  uint32_t packets_layout;
} calpe_profile;
CALPE_API const calpe_profile* calpe_profile_at(size_t index);

/* Describes backend number `index`. `reason` says why it is not available, or is "" if it is. Texts
 * are truncated to the size of their field. Returns 1, or 0 after the last backend and if
 * struct_size is not set. */
typedef struct calpe_backend_info {
  size_t struct_size;
  char name[32];
  char description[96];
  char reason[192];
  uint32_t available;
} calpe_backend_info;
#define CALPE_BACKEND_INFO_INIT \
  { sizeof(calpe_backend_info), "", "", "", 0 }
CALPE_API int calpe_backend_at(size_t index, calpe_backend_info* info);

/* Returns technique number `index` for this build's processor, or NULL after the last. A technique
 * is an implementation that CMake's CALPE_WITHOUT can leave out of the build. The library owns the
 * structure. */
typedef struct calpe_technique {
  size_t struct_size;
  const char* name; /* "avx512-gfni" */
  const char* description;
  uint32_t built; /* 0 = left out of this build */
} calpe_technique;
CALPE_API const calpe_technique* calpe_technique_at(size_t index);

/* --- codes ------------------------------------------------------------------------------------ */

#define CALPE_PROOF_CAUCHY 1
#define CALPE_PROOF_MINORS 2
#define CALPE_PROOF_PYRAMID 3
#define CALPE_PROOF_REFUTED 4
#define CALPE_PROOF_UNDECIDED 5

/* A proof, or for CALPE_PROOF_REFUTED a counterexample: dead lists shards whose common loss cannot
 * be rebuilt. */
typedef struct calpe_proof {
  size_t struct_size;
  uint32_t kind;       /* CALPE_PROOF_* */
  uint32_t losses;     /* any loss of this many shards can be rebuilt */
  uint64_t minors;     /* evaluated */
  uint32_t dead_count; /* number of entries in dead */
  uint16_t dead[CALPE_PROOF_DEAD_MAX];
  char text[508];
} calpe_proof;
#define CALPE_PROOF_INIT \
  { sizeof(calpe_proof), 0, 0, 0, 0, {0}, "" }

/* Name of a proof kind: "cauchy" for CALPE_PROOF_CAUCHY, and so on. Returns a static string, or
 * NULL for an unknown kind. */
CALPE_API const char* calpe_proof_kind_name(uint32_t kind);
/* Proves or refutes any well-formed spec. Set proof->struct_size first. */
CALPE_API CALPE_CHECKED calpe_status calpe_prove(const calpe_spec* spec, calpe_proof* proof,
                                                 calpe_error* error);
/* Writes the m x k parity rows, row-major. `capacity` must be at least m * k. */
CALPE_API CALPE_CHECKED calpe_status calpe_parity_rows(const calpe_spec* spec, uint16_t* rows,
                                                       size_t capacity, calpe_error* error);
/* Counts, for each e in 1..m, the patterns of e lost shards and how many of them can be rebuilt;
 * counts[e-1] receives the result. `capacity` must be at least m. The function tries every pattern
 * and refuses codes with more than 10 million of them. */
typedef struct calpe_pattern_count {
  uint64_t losses, patterns, recoverable;
} calpe_pattern_count;
CALPE_API CALPE_CHECKED calpe_status calpe_count_recoverable(const calpe_spec* spec,
                                                             calpe_pattern_count* counts,
                                                             size_t capacity, calpe_error* error);

/* A resolved spec as bytes, to store with the shards; docs/codes.md ("Stored spec") has the format.
 * Equal specs give equal bytes. All versions of the format have this length. */
#define CALPE_SPEC_BYTES 64
/* Writes CALPE_SPEC_BYTES bytes; `capacity` must be at least that. `spec` comes from
 * calpe_codec_spec(). Refuses a spec that is malformed or not resolved. The rows of a custom code
 * are not included, only their hash. */
CALPE_API CALPE_CHECKED calpe_status calpe_spec_encode(const calpe_spec* spec, void* bytes,
                                                       size_t capacity, calpe_error* error);
/* Reads them again. Set spec->struct_size first. Returns CALPE_ERROR_CORRUPT, and does not write
 * `spec`, if length, magic, version or checksum are wrong, or if the bytes are not those of a
 * resolved spec that this version knows. Otherwise calpe_codec_create() makes exactly this spec, or
 * returns CALPE_ERROR_CORRUPT because the matrix has another hash. */
CALPE_API CALPE_CHECKED calpe_status calpe_spec_decode(const void* bytes, size_t byte_count,
                                                       calpe_spec* spec, calpe_error* error);

/* --- codec ------------------------------------------------------------------------------------ */

/* Builds and proves the code, picks a backend and compiles the encoder. This is expensive: create a
 * codec once and keep it. options may be NULL. */
CALPE_API CALPE_CHECKED calpe_status calpe_codec_create(const calpe_spec* spec,
                                                        const calpe_options* options,
                                                        calpe_codec** out, calpe_error* error);
/* Creates a codec from the caller's m x k parity rows. spec->family must be CALPE_FAMILY_CUSTOM. */
CALPE_API CALPE_CHECKED calpe_status calpe_codec_create_from_matrix(const calpe_spec* spec,
                                                                    const uint16_t* rows,
                                                                    const calpe_options* options,
                                                                    calpe_codec** out,
                                                                    calpe_error* error);
/* Destroys a codec. Plans that it created stay valid. */
CALPE_API void calpe_codec_destroy(calpe_codec* codec);

/* Returns the resolved spec, the form to store in headers. Set spec->struct_size first. */
CALPE_API void calpe_codec_spec(const calpe_codec* codec, calpe_spec* spec);
/* Returns the proof of the code. Set proof->struct_size first. */
CALPE_API void calpe_codec_proof(const calpe_codec* codec, calpe_proof* proof);
/* Returns the name of the backend, such as "cpu:avx2". The string lives as long as the codec. */
CALPE_API const char* calpe_codec_backend(const calpe_codec* codec);
/* Returns the number of threads that share the work, at least 1. */
CALPE_API uint32_t calpe_codec_threads(const calpe_codec* codec);
/* 1: the calling thread and the codec's threads do the work. 0: a device does the work. */
CALPE_API int calpe_codec_runs_on_caller(const calpe_codec* codec);
/* Shard lengths must be a multiple of this: 1, except for profiles with Jerasure's packets. */
CALPE_API size_t calpe_shard_bytes_multiple(const calpe_codec* codec);
/* Returns the length of a parity shard for data shards of shard_bytes. */
CALPE_API size_t calpe_parity_bytes(const calpe_codec* codec, size_t shard_bytes);
/* Widens [*offset, *offset + *bytes) to the smallest enclosing range that can be coded alone. */
CALPE_API void calpe_codable_range(const calpe_codec* codec, size_t shard_bytes, size_t* offset,
                                   size_t* bytes);

/* --- plans ------------------------------------------------------------------------------------ */

/* Plans to rebuild `wanted` from `available`. calpe_plan_writes() returns `wanted` in the given
 * order, and output i of calpe_run() receives shard wanted[i]. The library chooses which available
 * shards to read; calpe_plan_reads() lists them in ascending order. Duplicate indices are refused.
 * costs: read cost of each available shard, or NULL if all are equal. */
CALPE_API CALPE_CHECKED calpe_status calpe_plan_decode(const calpe_codec* codec,
                                                       const uint16_t* available,
                                                       size_t available_count,
                                                       const uint16_t* wanted, size_t wanted_count,
                                                       const uint32_t* costs, calpe_plan** out,
                                                       calpe_error* error);
/* Plans to write all parity shards from all data shards. */
CALPE_API CALPE_CHECKED calpe_status calpe_plan_encode(const calpe_codec* codec, calpe_plan** out,
                                                       calpe_error* error);
/* Plans to update `parity`, in the given order, after a change of one data shard. parity_count 0
 * means all parity shards in ascending order. Duplicate indices are refused. */
CALPE_API CALPE_CHECKED calpe_status calpe_plan_update(const calpe_codec* codec,
                                                       uint16_t data_index, const uint16_t* parity,
                                                       size_t parity_count, calpe_plan** out,
                                                       calpe_error* error);
/* Plans the part of `plan` that the holder of some of its reads can compute alone. The results of
 * parts that together cover each read once add up (XOR) to the result of `plan`. */
CALPE_API CALPE_CHECKED calpe_status calpe_plan_partial(const calpe_codec* codec,
                                                        const calpe_plan* plan,
                                                        const uint16_t* held, size_t held_count,
                                                        calpe_plan** out, calpe_error* error);
/* Return the number of shards that a plan reads or writes, and list their indices. */
CALPE_API size_t calpe_plan_reads(const calpe_plan* plan, uint16_t* indices, size_t capacity);
CALPE_API size_t calpe_plan_writes(const calpe_plan* plan, uint16_t* indices, size_t capacity);
/* Lists the coefficients: one row per written shard, one column per read shard, row-major. May
 * return 0 if there are more than 65,536, for a code with word_bits 16. */
CALPE_API size_t calpe_plan_coefficients(const calpe_plan* plan, uint16_t* cells, size_t capacity);
/* Destroys a plan. */
CALPE_API void calpe_plan_destroy(calpe_plan* plan);

/* --- work ------------------------------------------------------------------------------------- */

/* Writes all m parity shards from all k data shards. */
CALPE_API CALPE_CHECKED calpe_status calpe_encode(const calpe_codec* codec, const void* const* data,
                                                  void* const* parity, size_t shard_bytes,
                                                  calpe_error* error);
/* The same as calpe_run() without flags. */
CALPE_API CALPE_CHECKED calpe_status calpe_decode(const calpe_codec* codec, const calpe_plan* plan,
                                                  const void* const* survivors,
                                                  void* const* rebuilt, size_t shard_bytes,
                                                  calpe_error* error);
/* Applies a plan. inputs[i] is the i-th shard of calpe_plan_reads(); outputs[i] receives the i-th
 * shard of calpe_plan_writes(). flags: CALPE_RUN_*. */
CALPE_API CALPE_CHECKED calpe_status calpe_run(const calpe_codec* codec, const calpe_plan* plan,
                                               const void* const* inputs, void* const* outputs,
                                               size_t shard_bytes, uint32_t flags,
                                               calpe_error* error);
/* Applies a plan to many stripes in one call. The stripes may differ in length. */
CALPE_API CALPE_CHECKED calpe_status calpe_run_batch(const calpe_codec* codec,
                                                     const calpe_plan* plan,
                                                     const calpe_stripe* stripes,
                                                     size_t stripe_count, uint32_t flags,
                                                     calpe_error* error);
/* A plan for shards of one length. calpe_prepared_run() and its relatives check nothing, so a call
 * on the CPU adds about 5 ns to the work; calpe_run() checks its operands in 15 to 40 ns. Use it
 * for many small stripes. Threads may share it. It may outlive the codec and the plan. */
typedef struct calpe_prepared calpe_prepared;
/* Prepares `plan` for data shards of shard_bytes. flags: CALPE_RUN_*. */
CALPE_API CALPE_CHECKED calpe_status calpe_prepare(const calpe_codec* codec, const calpe_plan* plan,
                                                   size_t shard_bytes, uint32_t flags,
                                                   calpe_prepared** out, calpe_error* error);
/* calpe_run() on one stripe. The caller guarantees what calpe_run() checks: a prepared plan, as
 * many pointers as the plan reads and writes, shard_bytes behind each (calpe_parity_bytes() behind
 * parity), and no output that overlaps an input or another output. Anything else is undefined
 * behaviour. Fails only if a device fails. */
CALPE_API CALPE_CHECKED calpe_status calpe_prepared_run(const calpe_prepared* prepared,
                                                        const void* const* inputs,
                                                        void* const* outputs, calpe_error* error);
/* The same for many stripes. The lists hold the pointers of all stripes, one stripe after the
 * other. */
CALPE_API CALPE_CHECKED calpe_status calpe_prepared_run_batch(const calpe_prepared* prepared,
                                                              size_t stripe_count,
                                                              const void* const* inputs,
                                                              void* const* outputs,
                                                              calpe_error* error);
/* The same for shards at regular distances: shard i of stripe s is at base + s * stripe_stride +
 * i * shard_stride. */
typedef struct calpe_strided_inputs {
  const void* base;
  size_t shard_stride;
  size_t stripe_stride;
} calpe_strided_inputs;
typedef struct calpe_strided_outputs {
  void* base;
  size_t shard_stride;
  size_t stripe_stride;
} calpe_strided_outputs;
CALPE_API CALPE_CHECKED calpe_status calpe_prepared_run_strided(
    const calpe_prepared* prepared, size_t stripe_count, const calpe_strided_inputs* inputs,
    const calpe_strided_outputs* outputs, calpe_error* error);
/* Destroys a prepared plan, which may be NULL. */
CALPE_API void calpe_prepared_destroy(calpe_prepared* prepared);

/* Starts calpe_run_batch() and returns before the work is complete, so that a device or the codec's
 * threads work meanwhile. On success, pass *out to calpe_wait() exactly once, and do not touch the
 * shards before that returns. The stripe structures and pointer lists are copied. Returns errors in
 * the arguments, and calpe_wait() those of the work. Without threads or a device, and in a child of
 * fork(), the work is complete on return. */
CALPE_API CALPE_CHECKED calpe_status calpe_submit(const calpe_codec* codec, const calpe_plan* plan,
                                                  const calpe_stripe* stripes, size_t stripe_count,
                                                  uint32_t flags, calpe_pending** out,
                                                  calpe_error* error);
/* Waits until all outputs are written or the work failed, and helps the codec's threads with it.
 * Frees `pending`, which may be NULL. */
CALPE_API CALPE_CHECKED calpe_status calpe_wait(calpe_pending* pending, calpe_error* error);
/* calpe_run() with every shard in pieces. Does not allocate for up to 1024 input and 1024 output
 * pieces. */
CALPE_API CALPE_CHECKED calpe_status calpe_run_pieces(const calpe_codec* codec,
                                                      const calpe_plan* plan,
                                                      const calpe_const_pieces* inputs,
                                                      const calpe_pieces* outputs, uint32_t flags,
                                                      calpe_error* error);
/* Rebuilds lost shards in place. shards: all k + m. present[i] is 0 if shard i is lost; all others
 * are only read. A lost shard whose pointer is NULL is not rebuilt; at least one must have a
 * buffer. Data shards have shard_bytes, parity shards and buffers for them calpe_parity_bytes(). If
 * all shards are present, nothing is written. The plan comes from the codec's plan cache, so only
 * the first call for a loss pattern plans; further calls do not allocate. Returns
 * CALPE_ERROR_UNRECOVERABLE if the present shards do not suffice. flags: CALPE_REBUILD_DATA_ONLY,
 * CALPE_RUN_CACHED, CALPE_RUN_STREAMING. */
CALPE_API CALPE_CHECKED calpe_status calpe_rebuild(const calpe_codec* codec, void* const* shards,
                                                   const uint8_t* present, size_t shard_bytes,
                                                   uint32_t flags, calpe_error* error);
/* calpe_rebuild() for many stripes that lost the same shards, in one call. The stripes may differ
 * in length. Allocates a list of the shards. */
CALPE_API CALPE_CHECKED calpe_status calpe_rebuild_batch(const calpe_codec* codec,
                                                         const calpe_whole_stripe* stripes,
                                                         size_t stripe_count,
                                                         const uint8_t* present, uint32_t flags,
                                                         calpe_error* error);
/* Updates parity in place after bytes [offset, offset + delta_bytes) of one data shard changed;
 * delta = old XOR new. parity[i] is the whole parity shard number parity_indices[i]; any order is
 * allowed. parity_count 0 means all m. */
CALPE_API CALPE_CHECKED calpe_status calpe_update(const calpe_codec* codec, uint16_t data_index,
                                                  size_t offset, const void* delta,
                                                  size_t delta_bytes,
                                                  const uint16_t* parity_indices,
                                                  size_t parity_count, void* const* parity,
                                                  size_t shard_bytes, calpe_error* error);
/* calpe_update() from the old and the new bytes of the range, in one pass. */
CALPE_API CALPE_CHECKED calpe_status calpe_update_from(
    const calpe_codec* codec, uint16_t data_index, size_t offset, const void* old_bytes,
    const void* new_bytes, size_t changed_bytes, const uint16_t* parity_indices,
    size_t parity_count, void* const* parity, size_t shard_bytes, calpe_error* error);
/* Checks parity against data. *wrong_count receives the number of parity shards that do not match,
 * and `wrong` at most `capacity` of their indices. */
CALPE_API CALPE_CHECKED calpe_status calpe_verify(const calpe_codec* codec, const void* const* data,
                                                  const void* const* parity, size_t shard_bytes,
                                                  uint16_t* wrong, size_t capacity,
                                                  size_t* wrong_count, calpe_error* error);
/* Finds the shards that hold wrong bytes. shards: all k + m; those in `missing` may be NULL. Exact
 * while 2 * wrong + missing <= m (lrc and unproven codes: <= calpe_proof.losses). Beyond that it
 * returns CALPE_ERROR_AMBIGUOUS, unless the damage looks exactly like lighter damage elsewhere. Two
 * kinds of codes give up with it earlier: those whose proof is not CALPE_PROOF_CAUCHY after a
 * million sets of suspects in one column (3 wrong of up to 180 shards are always found, 4 of up to
 * 70), codes of more than 256 shards beyond 16 wrong shards in one column.
 * Returns CALPE_ERROR_UNRECOVERABLE if m or more shards are missing, because then no redundancy is
 * left to check the others. */
CALPE_API CALPE_CHECKED calpe_status calpe_locate(const calpe_codec* codec,
                                                  const void* const* shards, size_t shard_bytes,
                                                  const uint16_t* missing, size_t missing_count,
                                                  uint16_t* wrong, size_t capacity,
                                                  size_t* wrong_count, calpe_error* error);
/* A tag is a linear hash of a shard (docs/tags.md), for layout bytes with word_bits 8. Tags are
 * short shards: the tags of parity are the parity of the tags, so calpe_verify() of tags tells
 * whether parity matches data. Tags depend only on the bytes and the field, and never change.
 * Random damage escapes with a probability of 2^-64. They are no signature. Compare lengths, too:
 * all-zero shards of any length have the same tag. */
#define CALPE_TAG_BYTES 8
/* Writes the tags of `shard_count` shards, any number, one after the other to `tags`. */
CALPE_API CALPE_CHECKED calpe_status calpe_tag(const calpe_codec* codec, const void* const* shards,
                                               size_t shard_count, size_t shard_bytes, void* tags,
                                               calpe_error* error);
/* calpe_encode() that also writes the tags of all k + m shards, and reads the data once. */
CALPE_API CALPE_CHECKED calpe_status calpe_encode_tagged(const calpe_codec* codec,
                                                         const void* const* data,
                                                         void* const* parity, size_t shard_bytes,
                                                         void* tags, calpe_error* error);
/* Merges partial results: target ^= addend. */
CALPE_API CALPE_CHECKED calpe_status calpe_add(void* target, const void* addend, size_t bytes,
                                               calpe_error* error);

/* --- objects ---------------------------------------------------------------------------------- */

/* An object is a buffer of any length. Data shard i is its bytes [i * shard_bytes, (i + 1) *
 * shard_bytes), as far as the object reaches. The last data shards may therefore be short or empty;
 * their missing bytes count as zeros and need not be stored. Nothing is copied. `object` may be
 * NULL if object_bytes is 0. */

/* Returns the shortest shard length for an object of this length. It is 0 for an empty object. */
CALPE_API size_t calpe_shard_bytes_for(const calpe_codec* codec, size_t object_bytes);
/* Lists the k data shards of an object: their addresses and their lengths. The address of an empty
 * one is NULL. Cast the addresses to fill a writable object. shard_bytes must be at least
 * calpe_shard_bytes_for(), and a multiple of calpe_shard_bytes_multiple(). */
CALPE_API CALPE_CHECKED calpe_status calpe_split(const calpe_codec* codec, const void* object,
                                                 size_t object_bytes, size_t shard_bytes,
                                                 const void** data, size_t* data_bytes,
                                                 calpe_error* error);
/* Writes all m parity shards of an object, each of calpe_parity_bytes(). */
CALPE_API CALPE_CHECKED calpe_status calpe_encode_object(const calpe_codec* codec,
                                                         const void* object, size_t object_bytes,
                                                         void* const* parity, size_t shard_bytes,
                                                         calpe_error* error);
/* Rebuilds lost data shards in their place in the object. `plan` comes from calpe_plan_decode() and
 * writes data shards only. The data shards that it reads are already in the object. parity[i] is
 * shard k + i of all m; those that the plan does not read may be NULL. */
CALPE_API CALPE_CHECKED calpe_status calpe_decode_object(const calpe_codec* codec,
                                                         const calpe_plan* plan, void* object,
                                                         size_t object_bytes,
                                                         const void* const* parity,
                                                         size_t shard_bytes, calpe_error* error);

/* --- matrices --------------------------------------------------------------------------------- */

/* A matrix over GF(2^8) with polynomial 0x11D. The coefficient of output r and input i is
 * cells[r * row_stride + i * column_stride]. Strides are in bytes; 0 means packed, row-major. */
typedef struct calpe_matrix {
  size_t struct_size;
  const uint8_t* cells;
  size_t rows;    /* outputs */
  size_t columns; /* inputs */
  size_t column_stride;
  size_t row_stride;
} calpe_matrix;
#define CALPE_MATRIX_INIT \
  { sizeof(calpe_matrix), NULL, 0, 0, 0, 0 }
/* Computes outputs[r] = sum over i of coefficient (r, i) * inputs[i] without a codec, on the
 * calling thread with the CPU kernels. Only the first call allocates. On failure the outputs are
 * untouched. flags: CALPE_RUN_*. */
CALPE_API CALPE_CHECKED calpe_status calpe_apply_matrix(const calpe_matrix* matrix,
                                                        const void* const* inputs,
                                                        void* const* outputs, size_t shard_bytes,
                                                        uint32_t flags, calpe_error* error);

/* --- devices ---------------------------------------------------------------------------------- */

/* Memory on the codec's device; calpe/device_memory.hpp describes it in detail. A shard in it is
 * address + offset. Every function that runs a plan, and calpe_update(), accepts such shards. The
 * host cannot dereference them unless the device shares the host's memory. On the CPU, device
 * memory is ordinary host memory.
 *
 * Order with the caller's own device work. With CUDA, a call that uses device memory first waits
 * for all work queued so far in the context, on every stream. OpenCL has no such wait, so call
 * clFinish() first on the queues that use the memory. The coding work is complete when the call
 * returns; for calpe_submit(), when calpe_wait() returns. calpe_queue_plan works without a wait, in
 * the caller's own stream or queue. */
typedef struct calpe_device_memory calpe_device_memory;
typedef struct calpe_mapped_memory calpe_mapped_memory;
typedef struct calpe_registered_memory calpe_registered_memory;

/* Allocates memory on the codec's device. */
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_allocate(const calpe_codec* codec,
                                                                  size_t bytes,
                                                                  calpe_device_memory** out,
                                                                  calpe_error* error);
/* Wraps memory that the caller already has on the device. It must outlive the handle. A CUDA
 * pointer can also be a shard directly: memory of the codec's GPU is recognised by its address. */
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_import_cuda(const calpe_codec* codec,
                                                                     uint64_t pointer, size_t bytes,
                                                                     calpe_device_memory** out,
                                                                     calpe_error* error);
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_import_opencl(const calpe_codec* codec,
                                                                       void* buffer, size_t bytes,
                                                                       calpe_device_memory** out,
                                                                       calpe_error* error);
/* Returns the codec's cl_context or CUcontext, or NULL on the CPU. */
CALPE_API void* calpe_native_context(const calpe_codec* codec);
/* Frees the memory, or the handle of imported memory. All work on it must be complete. */
CALPE_API void calpe_device_memory_destroy(calpe_device_memory* memory);
/* Returns the address that stands for the start of the memory. */
CALPE_API void* calpe_device_memory_address(const calpe_device_memory* memory);
/* Copy between device and host; synchronous. */
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_read(const calpe_device_memory* memory,
                                                              size_t offset, void* to, size_t bytes,
                                                              calpe_error* error);
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_write(const calpe_device_memory* memory,
                                                               size_t offset, const void* from,
                                                               size_t bytes, calpe_error* error);
/* Lets the host read and write a range through *host until calpe_device_memory_unmap(), which
 * writes the range back and frees the handle. */
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_map(const calpe_device_memory* memory,
                                                             size_t offset, size_t bytes,
                                                             calpe_mapped_memory** out, void** host,
                                                             calpe_error* error);
CALPE_API CALPE_CHECKED calpe_status calpe_device_memory_unmap(calpe_mapped_memory* mapped,
                                                               calpe_error* error);
/* Registers host memory that is coded often, so that the device can copy it directly. */
CALPE_API CALPE_CHECKED calpe_status calpe_register_memory(const calpe_codec* codec, void* memory,
                                                           size_t bytes,
                                                           calpe_registered_memory** out,
                                                           calpe_error* error);
CALPE_API void calpe_unregister_memory(calpe_registered_memory* registered);

/* A plan for shards of one length, for a CUDA stream or an OpenCL queue of the caller;
 * calpe/device_queue.hpp describes it in detail. Enqueued work begins after all that the queue
 * holds, and what the queue gets later finds its results. The calls do not wait for the device, do
 * not allocate unless they fail, and may be captured into a CUDA graph. All shards and the
 * workspace are in memory of the codec's device. The work is neither checked nor repeated on the
 * CPU. Threads may share the plan. It may outlive the codec and the plan it was made from. */
typedef struct calpe_queue_plan calpe_queue_plan;
/* Prepares `plan` for data shards of shard_bytes; compiles its kernel and waits for that. flags:
 * CALPE_RUN_*. Fails with CALPE_ERROR_INVALID_ARGUMENT if the codec does not run on one CUDA or
 * OpenCL device. */
CALPE_API CALPE_CHECKED calpe_status calpe_queue_plan_create(const calpe_codec* codec,
                                                             const calpe_plan* plan,
                                                             size_t shard_bytes, uint32_t flags,
                                                             calpe_queue_plan** out,
                                                             calpe_error* error);
/* Returns the length of the workspace for stripe_count stripes. */
CALPE_API size_t calpe_queue_plan_workspace_bytes(const calpe_queue_plan* plan,
                                                  size_t stripe_count);
/* Applies the plan to stripes in a CUstream of the context from calpe_native_context(); NULL is the
 * default stream. The lists hold the pointers of all stripes, one stripe after the other, and are
 * only used during the call. The workspace is in use until the work is done; calls in one stream
 * may share it. */
CALPE_API CALPE_CHECKED calpe_status calpe_enqueue_cuda(const calpe_queue_plan* plan, void* stream,
                                                        size_t stripe_count,
                                                        const void* const* inputs,
                                                        void* const* outputs, void* workspace,
                                                        size_t workspace_bytes, calpe_error* error);
/* The same in a cl_command_queue of that context. If the device does not share the host's memory,
 * all inputs are in one buffer, and all outputs are in one. */
CALPE_API CALPE_CHECKED calpe_status calpe_enqueue_opencl(
    const calpe_queue_plan* plan, void* queue, size_t stripe_count, const void* const* inputs,
    void* const* outputs, void* workspace, size_t workspace_bytes, calpe_error* error);
/* Destroys the plan, which may be NULL. All work that it enqueued must be complete, and graphs that
 * captured it must not be launched again. */
CALPE_API void calpe_queue_plan_destroy(calpe_queue_plan* plan);

/* Counters of the device since it was opened; all zero on the CPU. Set struct_size first. */
typedef struct calpe_device_profile {
  size_t struct_size;
  uint64_t builds; /* programs compiled, without cache hits */
  uint64_t launches;
  uint64_t copy_in_bytes; /* shard bytes only */
  uint64_t copy_out_bytes;
  double build_seconds;
  double copy_in_seconds; /* device times are measured only with CALPE_PROFILE */
  double kernel_seconds;
  double copy_out_seconds;
} calpe_device_profile;
#define CALPE_DEVICE_PROFILE_INIT \
  { sizeof(calpe_device_profile), 0, 0, 0, 0, 0, 0, 0, 0 }
CALPE_API void calpe_codec_device_profile(const calpe_codec* codec, calpe_device_profile* profile);

/* --- field ------------------------------------------------------------------------------------ */

/* Arithmetic over GF(2^word_bits); word_bits is 2..8 (0 = 8), polynomial 0 = the default one. */
CALPE_API CALPE_CHECKED calpe_status calpe_gf_multiply(uint32_t word_bits, uint32_t polynomial,
                                                       uint16_t a, uint16_t b, uint16_t* product,
                                                       calpe_error* error);
CALPE_API CALPE_CHECKED calpe_status calpe_gf_inverse(uint32_t word_bits, uint32_t polynomial,
                                                      uint16_t a, uint16_t* inverse,
                                                      calpe_error* error);
/* Inverts a size x size matrix, row-major. `inverse` may be the same memory as `matrix`. Returns
 * CALPE_ERROR_UNRECOVERABLE if the matrix is singular. */
CALPE_API CALPE_CHECKED calpe_status calpe_gf_invert_matrix(uint32_t word_bits, uint32_t polynomial,
                                                            const uint16_t* matrix, size_t size,
                                                            uint16_t* inverse, calpe_error* error);

#ifdef __cplusplus
}
#endif
#endif
