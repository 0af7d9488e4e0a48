/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h — the C ABI of Calpe. Stable: existing symbols, values and fields never change meaning.
 *
 *   calpe_spec spec = {sizeof spec};
 *   spec.data_shards = 10;
 *   spec.parity_shards = 4;
 *   calpe_codec *codec;
 *   calpe_error error;
 *   if (calpe_codec_create(&spec, NULL, &codec, &error)) return report(error.message);
 *   calpe_encode(codec, data, parity, shard_bytes, &error);
 *
 * Conventions.
 * 1. Every call that can fail returns a calpe_status and takes a calpe_error, last, which may be
 *    NULL. Nothing is printed, thrown or aborted on input.
 * 2. Structures that may grow begin with struct_size = sizeof(the structure), set by the caller,
 *    also where the library fills the structure in. Fields are only ever appended, and zero always
 *    means the default: the library takes fields beyond struct_size as zero and never writes them,
 *    and refuses fields that it does not know yet unless they are zero. The others never change:
 *    calpe_piece, calpe_pieces, calpe_stripe and calpe_pattern_count are items of arrays,
 *    calpe_error needs no preparation. What they cannot say, another call will.
 * 3. Handles are opaque, immutable and shareable by threads; destroying NULL is allowed.
 * 4. Shards are named by index: data 0..k-1, parity k..k+m-1. Buffers are borrowed for the call,
 * may have any alignment and any length from 0, and outputs overlap nothing. shard_bytes is the
 * length of a data shard; a parity shard has calpe_parity_bytes(), which differs only with packets.
 * More than PTRDIFF_MAX bytes, or a list of more entries than memory can hold, is refused.
 * 5. Calls that fill a list return how many entries there are, and write at most `capacity`.
 * 6. After fork() every handle works in the child, on the calling thread only: threads that a codec
 * had are the parent's, and no lock of the library stays locked. Codecs on opencl or cuda are the
 * exception: the driver serves the process that opened it. In a child their use returns
 * CALPE_ERROR_DEVICE_FAILED, they and all that was made with them can be destroyed, and a codec on
 * the CPU can be made instead. A child may open such a device if its parent never tried to.
 * 7. A process that has more rights than the user who started it (setuid, setgid, capabilities)
 * ignores all variables of the environment, runs no compiler and loads no driver.
 * The C++ header calpe/codec.hpp says more about each operation; the two offer the same. */
#ifndef CALPE_H
#define CALPE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define CALPE_ABI_VERSION 1
#if defined(__GNUC__)
#define CALPE_API __attribute__((visibility("default")))
#else
#define CALPE_API
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

/* Families; docs/codes.md. Stored on disk: never renumbered. DEFAULT stands for HYBRID up to m = 4,
 * from 5 on for LCH where that is defined, else for HYBRID; it is replaced when the codec is made,
 * so calpe_codec_spec() never gives it and headers never hold it. */
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
#define CALPE_SHARDS_MAX 256

typedef struct calpe_codec calpe_codec;
typedef struct calpe_plan calpe_plan;
typedef struct calpe_pending calpe_pending;

typedef struct calpe_error {
  calpe_status status;
  char message[508]; /* NUL-terminated, truncated if longer */
} calpe_error;

/* All that decides the parity bytes. */
typedef struct calpe_spec {
  size_t struct_size;
  uint32_t family;        /* CALPE_FAMILY_*; 0 = default */
  uint32_t layout;        /* CALPE_LAYOUT_*; 0 = bytes */
  uint32_t data_shards;   /* k >= 1 */
  uint32_t parity_shards; /* m >= 1 */
  uint32_t word_bits;     /* 0 = 8 */
  uint32_t polynomial;    /* 0 = the usual one */
  uint32_t packet_bytes;  /* packets only; 0 = 512 */
  uint32_t local_groups;  /* lrc only */
  uint64_t matrix_hash;   /* 0 = not checked */
} calpe_spec;

/* May change speed, never bytes. */
typedef struct calpe_options {
  size_t struct_size;
  const char* backend;         /* NULL = "auto"; several joined by "+" share every job */
  uint32_t threads;            /* 0 or 1 = the caller's thread; CALPE_THREADS_ALL */
  uint32_t plan_cache_entries; /* 0 = 1024; UINT32_MAX = none */
  uint32_t allow_unproven;     /* non-zero: accept a matrix that is not proven */
  uint32_t effort;             /* CALPE_EFFORT_FAST, ...; layout packets only */
} calpe_options;

/* How long a plan may be searched for, which decides how fast it runs, never what it computes. */
#define CALPE_EFFORT_FAST 0u     /* 10+4: under a millisecond a plan */
#define CALPE_EFFORT_STANDARD 1u /* tens of milliseconds, for some percent */
#define CALPE_EFFORT_THOROUGH 2u /* about a second */

/* A piece of a shard, as struct iovec. */
typedef struct calpe_piece {
  void* data;
  size_t bytes;
} calpe_piece;

/* A shard in pieces. Pieces of inputs are only read. */
typedef struct calpe_pieces {
  const calpe_piece* pieces;
  size_t count;
} calpe_pieces;

/* One stripe of a batch. */
typedef struct calpe_stripe {
  const void* const* inputs; /* in the order of the plan's reads */
  void* const* outputs;      /* in the order of the plan's writes */
  size_t shard_bytes;
} calpe_stripe;

#define CALPE_RUN_ACCUMULATE 1u /* add to the outputs instead of overwriting them */
/* Hints, at most one of them; neither: streaming when the shards are larger than a core's cache. */
#define CALPE_RUN_CACHED 2u    /* write into the caches: the outputs are read soon */
#define CALPE_RUN_STREAMING 4u /* write past the caches: the shards are cold */

/* --- library ---------------------------------------------------------------------------------- */

CALPE_API uint32_t calpe_abi_version(void);
CALPE_API const char* calpe_version_string(void); /* "0.1.0" */

/* Receives one line, without its end, whenever something happens that is no error of a call but
 * should be known: a device was left, one was refused. Called by any thread, one at a time; it must
 * not call this library. NULL, the default: nobody is told, unless the environment has
 * CALPE_LOG=stderr. When this returns, the handler before is not called any more. */
typedef void (*calpe_log_handler)(const char* line, void* user);
CALPE_API void calpe_set_log_handler(calpe_log_handler handler, void* user);

/* Profile number `index`, the library's own, which also sets struct_size; NULL behind the last. */
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

/* Backend number `index`: its name, description, and why it is not available ("" if it is), each
 * truncated to the field. Returns 1, or 0 behind the last and when struct_size is not set. */
typedef struct calpe_backend_info {
  size_t struct_size;
  char name[32];
  char description[96];
  char reason[192];
  uint32_t available;
} calpe_backend_info;
CALPE_API int calpe_backend_at(size_t index, calpe_backend_info* info);

/* Technique number `index` for this build's processor: a way to compute that the library can be
 * built without (CMake's CALPE_WITHOUT). The library's own, as a profile is; NULL behind the last.
 */
typedef struct calpe_technique {
  size_t struct_size;
  const char* name; /* "avx512-gfni" */
  const char* description;
  uint32_t built; /* 0: left out of this build */
} calpe_technique;
CALPE_API const calpe_technique* calpe_technique_at(size_t index);

/* --- codes ------------------------------------------------------------------------------------ */

#define CALPE_PROOF_CAUCHY 1
#define CALPE_PROOF_MINORS 2
#define CALPE_PROOF_PYRAMID 3
#define CALPE_PROOF_REFUTED 4
#define CALPE_PROOF_UNDECIDED 5

typedef struct calpe_proof {
  size_t struct_size;
  uint32_t kind;       /* CALPE_PROOF_* */
  uint32_t losses;     /* any so many lost shards can be rebuilt */
  uint64_t minors;     /* evaluated */
  uint32_t dead_count; /* refuted: shards whose loss cannot be rebuilt */
  uint16_t dead[CALPE_SHARDS_MAX];
  char text[508];
} calpe_proof;

/* "cauchy" for CALPE_PROOF_CAUCHY and so on, for ever; NULL for a number that is no kind. */
CALPE_API const char* calpe_proof_kind_name(uint32_t kind);
/* Proof or counterexample of any well-formed spec; set proof->struct_size before. */
CALPE_API calpe_status calpe_prove(const calpe_spec* spec, calpe_proof* proof, calpe_error* error);
/* The m x k parity rows, row-major; `capacity` coefficients must fit. */
CALPE_API calpe_status calpe_parity_rows(const calpe_spec* spec, uint16_t* rows, size_t capacity,
                                         calpe_error* error);
/* counts[e-1]: of all patterns of e lost shards, how many there are and how many can be rebuilt;
 * `capacity` must be at least m. Every pattern is tried; beyond 10 million it is refused. */
typedef struct calpe_pattern_count {
  uint64_t losses, patterns, recoverable;
} calpe_pattern_count;
CALPE_API calpe_status calpe_count_recoverable(const calpe_spec* spec, calpe_pattern_count* counts,
                                               size_t capacity, calpe_error* error);

/* --- codec ------------------------------------------------------------------------------------ */

CALPE_API calpe_status calpe_codec_create(const calpe_spec* spec, const calpe_options* options,
                                          calpe_codec** out, calpe_error* error);
/* For the caller's own m x k rows; spec->family must be CALPE_FAMILY_CUSTOM. */
CALPE_API calpe_status calpe_codec_create_from_matrix(const calpe_spec* spec, const uint16_t* rows,
                                                      const calpe_options* options,
                                                      calpe_codec** out, calpe_error* error);
CALPE_API void calpe_codec_destroy(calpe_codec* codec);

/* The resolved spec, to be written into headers; set spec->struct_size before. */
CALPE_API void calpe_codec_spec(const calpe_codec* codec, calpe_spec* spec);
CALPE_API void calpe_codec_proof(const calpe_codec* codec, calpe_proof* proof);
CALPE_API const char* calpe_codec_backend(
    const calpe_codec* codec); /* lives as long as the codec */
CALPE_API uint32_t calpe_codec_threads(const calpe_codec* codec);
/* 1 when work is done by the caller's thread and the codec's own; 0 when a device works by itself
 * and calpe_submit() may return before. */
CALPE_API int calpe_codec_runs_on_caller(const calpe_codec* codec);
CALPE_API size_t calpe_shard_bytes_multiple(const calpe_codec* codec);
CALPE_API size_t calpe_parity_bytes(const calpe_codec* codec, size_t shard_bytes);
/* Widens [*offset, *offset + *bytes) to the smallest range that can be coded on its own. */
CALPE_API void calpe_codable_range(const calpe_codec* codec, size_t shard_bytes, size_t* offset,
                                   size_t* bytes);

/* --- plans ------------------------------------------------------------------------------------ */

/* The plan writes the shards of `wanted` in the order given: calpe_plan_writes() returns `wanted`,
 * and output i of calpe_run() receives shard wanted[i]. The library chooses which of `available` it
 * reads; calpe_plan_reads() lists them in ascending order. A shard that is named twice is refused.
 * costs: one per available shard, or NULL. */
CALPE_API calpe_status calpe_plan_decode(const calpe_codec* codec, const uint16_t* available,
                                         size_t available_count, const uint16_t* wanted,
                                         size_t wanted_count, const uint32_t* costs,
                                         calpe_plan** out, calpe_error* error);
CALPE_API calpe_status calpe_plan_encode(const calpe_codec* codec, calpe_plan** out,
                                         calpe_error* error);
/* Writes the shards of `parity` in the order given; parity_count 0 means all, ascending. A shard
 * that is named twice is refused. */
CALPE_API calpe_status calpe_plan_update(const calpe_codec* codec, uint16_t data_index,
                                         const uint16_t* parity, size_t parity_count,
                                         calpe_plan** out, calpe_error* error);
CALPE_API calpe_status calpe_plan_partial(const calpe_codec* codec, const calpe_plan* plan,
                                          const uint16_t* held, size_t held_count, calpe_plan** out,
                                          calpe_error* error);
CALPE_API size_t calpe_plan_reads(const calpe_plan* plan, uint16_t* indices, size_t capacity);
CALPE_API size_t calpe_plan_writes(const calpe_plan* plan, uint16_t* indices, size_t capacity);
/* writes x reads, row-major */
CALPE_API size_t calpe_plan_coefficients(const calpe_plan* plan, uint16_t* cells, size_t capacity);
CALPE_API void calpe_plan_destroy(calpe_plan* plan);

/* --- work ------------------------------------------------------------------------------------- */

CALPE_API calpe_status calpe_encode(const calpe_codec* codec, const void* const* data,
                                    void* const* parity, size_t shard_bytes, calpe_error* error);
CALPE_API calpe_status calpe_decode(const calpe_codec* codec, const calpe_plan* plan,
                                    const void* const* survivors, void* const* rebuilt,
                                    size_t shard_bytes, calpe_error* error);
/* flags: CALPE_RUN_* */
CALPE_API calpe_status calpe_run(const calpe_codec* codec, const calpe_plan* plan,
                                 const void* const* inputs, void* const* outputs,
                                 size_t shard_bytes, uint32_t flags, calpe_error* error);
CALPE_API calpe_status calpe_run_batch(const calpe_codec* codec, const calpe_plan* plan,
                                       const calpe_stripe* stripes, size_t stripe_count,
                                       uint32_t flags, calpe_error* error);
/* The same, not necessarily complete when it returns: on success *out is to be given to
 * calpe_wait(), once, and until then the shards belong to the library. The structures and lists of
 * pointers are copied. */
CALPE_API calpe_status calpe_submit(const calpe_codec* codec, const calpe_plan* plan,
                                    const calpe_stripe* stripes, size_t stripe_count,
                                    uint32_t flags, calpe_pending** out, calpe_error* error);
/* Returns when every output is written or the work failed, and frees `pending`; NULL is allowed. */
CALPE_API calpe_status calpe_wait(calpe_pending* pending, calpe_error* error);
/* Allocates nothing up to 1024 pieces of inputs and of outputs. */
CALPE_API calpe_status calpe_run_pieces(const calpe_codec* codec, const calpe_plan* plan,
                                        const calpe_pieces* inputs, const calpe_pieces* outputs,
                                        uint32_t flags, calpe_error* error);
/* Bytes [offset, offset + delta_bytes) of one data shard changed by delta = old xor new; parity[i]
 * is the whole parity shard that parity_indices[i] names, in any order (parity_count 0: all m). */
CALPE_API calpe_status calpe_update(const calpe_codec* codec, uint16_t data_index, size_t offset,
                                    const void* delta, size_t delta_bytes,
                                    const uint16_t* parity_indices, size_t parity_count,
                                    void* const* parity, size_t shard_bytes, calpe_error* error);
/* The same from what the range held and what it holds now, in one pass. */
CALPE_API calpe_status calpe_update_from(const calpe_codec* codec, uint16_t data_index,
                                         size_t offset, const void* old_bytes,
                                         const void* new_bytes, size_t changed_bytes,
                                         const uint16_t* parity_indices, size_t parity_count,
                                         void* const* parity, size_t shard_bytes,
                                         calpe_error* error);
/* *wrong_count receives the number of parity shards that do not match; wrong: at most capacity. */
CALPE_API calpe_status calpe_verify(const calpe_codec* codec, const void* const* data,
                                    const void* const* parity, size_t shard_bytes, uint16_t* wrong,
                                    size_t capacity, size_t* wrong_count, calpe_error* error);
/* shards: all k + m; those in `missing` may be NULL. With m or more missing nothing is left to
 * check the others with: CALPE_ERROR_UNRECOVERABLE. */
CALPE_API calpe_status calpe_locate(const calpe_codec* codec, const void* const* shards,
                                    size_t shard_bytes, const uint16_t* missing,
                                    size_t missing_count, uint16_t* wrong, size_t capacity,
                                    size_t* wrong_count, calpe_error* error);
/* target ^= addend: merges partial sums. */
CALPE_API calpe_status calpe_add(void* target, const void* addend, size_t bytes,
                                 calpe_error* error);

/* A caller's own coefficients of GF(2^8) with polynomial 0x11D: that of output r and input i is
 * cells[r * row_stride + i * column_stride]; strides are bytes, and 0 means packed, row-major. */
typedef struct calpe_matrix {
  size_t struct_size;
  const uint8_t* cells;
  size_t rows;    /* outputs */
  size_t columns; /* inputs */
  size_t column_stride;
  size_t row_stride;
} calpe_matrix;
/* outputs[r] = sum over i of coefficient (r, i) * inputs[i], without a codec: on the caller's
 * thread by the CPU's kernels, nothing allocated after the first call. flags: CALPE_RUN_*. When it
 * fails, outputs are untouched. */
CALPE_API calpe_status calpe_apply_matrix(const calpe_matrix* matrix, const void* const* inputs,
                                          void* const* outputs, size_t shard_bytes, uint32_t flags,
                                          calpe_error* error);

/* --- devices ---------------------------------------------------------------------------------- */

/* Memory on the codec's device; calpe/device_memory.hpp says more. Shards in it are address +
 * offset and are taken by every call that runs a plan and by calpe_update; unless the device shares
 * the host's memory they are of no use to the host. A codec on the CPU gives the host's memory.
 *
 * Order with the caller's own work: with CUDA a call that uses device memory first waits until all
 * work queued so far in the context, on every stream, is done. OpenCL has no such wait: call
 * clFinish() on the queues that use the memory first. The work is done when the call returns, and
 * that of calpe_submit() when calpe_wait() returns. */
typedef struct calpe_device_memory calpe_device_memory;
typedef struct calpe_mapped_memory calpe_mapped_memory;
typedef struct calpe_registered_memory calpe_registered_memory;

CALPE_API calpe_status calpe_device_memory_allocate(const calpe_codec* codec, size_t bytes,
                                                    calpe_device_memory** out, calpe_error* error);
/* What the caller has on the device: it must outlive the handle. */
CALPE_API calpe_status calpe_device_memory_import_cuda(const calpe_codec* codec, uint64_t pointer,
                                                       size_t bytes, calpe_device_memory** out,
                                                       calpe_error* error);
CALPE_API calpe_status calpe_device_memory_import_opencl(const calpe_codec* codec, void* buffer,
                                                         size_t bytes, calpe_device_memory** out,
                                                         calpe_error* error);
/* The codec's cl_context or CUcontext; NULL on the CPU. */
CALPE_API void* calpe_native_context(const calpe_codec* codec);
CALPE_API void calpe_device_memory_destroy(calpe_device_memory* memory);
CALPE_API void* calpe_device_memory_address(const calpe_device_memory* memory);
CALPE_API calpe_status calpe_device_memory_read(const calpe_device_memory* memory, size_t offset,
                                                void* to, size_t bytes, calpe_error* error);
CALPE_API calpe_status calpe_device_memory_write(const calpe_device_memory* memory, size_t offset,
                                                 const void* from, size_t bytes,
                                                 calpe_error* error);
/* *host is what the host reads and writes until unmap, which writes back and frees the handle. */
CALPE_API calpe_status calpe_device_memory_map(const calpe_device_memory* memory, size_t offset,
                                               size_t bytes, calpe_mapped_memory** out, void** host,
                                               calpe_error* error);
CALPE_API calpe_status calpe_device_memory_unmap(calpe_mapped_memory* mapped, calpe_error* error);
/* Host memory that is coded often: the device then copies without a detour. */
CALPE_API calpe_status calpe_register_memory(const calpe_codec* codec, void* memory, size_t bytes,
                                             calpe_registered_memory** out, calpe_error* error);
CALPE_API void calpe_unregister_memory(calpe_registered_memory* registered);

/* What the device did since it was opened; set struct_size first. Zeros on the CPU. */
typedef struct calpe_device_profile {
  size_t struct_size;
  uint64_t builds; /* programs compiled; those found in the cache are not counted */
  uint64_t launches;
  uint64_t copy_in_bytes; /* of shards */
  uint64_t copy_out_bytes;
  double build_seconds;
  double copy_in_seconds; /* the device's own times: only with CALPE_PROFILE set */
  double kernel_seconds;
  double copy_out_seconds;
} calpe_device_profile;
CALPE_API void calpe_codec_device_profile(const calpe_codec* codec, calpe_device_profile* profile);

/* --- field ------------------------------------------------------------------------------------ */

/* Over GF(2^word_bits), word_bits 2..8 (0 = 8), polynomial 0 = the usual one. */
CALPE_API calpe_status calpe_gf_multiply(uint32_t word_bits, uint32_t polynomial, uint16_t a,
                                         uint16_t b, uint16_t* product, calpe_error* error);
CALPE_API calpe_status calpe_gf_inverse(uint32_t word_bits, uint32_t polynomial, uint16_t a,
                                        uint16_t* inverse, calpe_error* error);
/* size x size, row-major; inverse may be the same memory. CALPE_ERROR_UNRECOVERABLE if singular. */
CALPE_API calpe_status calpe_gf_invert_matrix(uint32_t word_bits, uint32_t polynomial,
                                              const uint16_t* matrix, size_t size,
                                              uint16_t* inverse, calpe_error* error);

#ifdef __cplusplus
}
#endif
#endif
