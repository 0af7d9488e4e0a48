/* SPDX-License-Identifier: Apache-2.0 */
/* gib.h — Gibraltar's interface: M. L. Curry, A. Skjellum, H. L. Ward and R. Brightwell,
 * "Gibraltar: A Reed-Solomon coding library for storage applications on programmable graphics
 * processors" (2011), Appendix A. Programs written from that appendix compile and run unchanged.
 *
 *   gib_context gc;
 *   void *buffers;
 *   int ld;
 *   if (gib_init(3, 2, &gc)) return report(gib_error_text());
 *   gib_alloc(&buffers, size, &ld, gc);
 *   ... buffer i starts at (char *)buffers + i * ld; fill the first 3 ...
 *   gib_generate(buffers, ld, gc);
 *
 * The k data buffers and m parity buffers lie in one block of memory at a constant distance. Byte i
 * of data buffer j is buffers[j * ld + i]; byte i of parity buffer j is buffers[(k + j) * ld + i].
 * Buffers are numbered from 0, data first. Parity is that of the profile `vandermonde`, Gibraltar's
 * matrix, with 2 <= k + m <= 256. gib_error_text() is an addition. For anything else beyond the
 * paper, use calpe.h.
 *
 * Errors. Every function returns GIB_OK or an error with the number of CALPE_ERROR_*. Functions
 * never print or end the program. After GIB_INVALID, nothing was written.
 * Threads. Any number of threads may use a context at the same time, on different buffers.
 * Backend. gib_init() reads it from the environment variable CALPE_BACKEND, a name that
 * `calpe devices` lists (default: "auto"). It affects speed, never the parity bytes. */
#ifndef CALPE_GIB_H
#define CALPE_GIB_H
#include <calpe/calpe.h>
#ifdef __cplusplus
extern "C" {
#endif

#define GIB_OK CALPE_OK
#define GIB_INVALID CALPE_ERROR_INVALID_ARGUMENT
#define GIB_NO_BACKEND CALPE_ERROR_BACKEND_UNAVAILABLE
#define GIB_COMPILE_FAILED CALPE_ERROR_COMPILE_FAILED
#define GIB_DEVICE_FAILED CALPE_ERROR_DEVICE_FAILED
#define GIB_OUT_OF_MEMORY CALPE_ERROR_OUT_OF_MEMORY

/* A k + m code and its resources. */
typedef struct gib_coding* gib_context;

/* Creates a context for k + m. A program may have several. On error *gc is NULL. */
CALPE_API int gib_init(int k, int m, gib_context* gc);

/* Destroys a context. Free its buffers first. */
CALPE_API int gib_destroy(gib_context gc);

/* Allocates zeroed memory for k + m buffers of buf_size bytes. *ld receives the distance between
 * two buffers: the smallest odd multiple of 64 that is at least buf_size. Passing ld to the
 * functions below also codes the gaps between the buffers. An odd number of cache lines puts equal
 * offsets of the buffers into different cache sets; with page-sized distances they would evict each
 * other (10+4 with buffers of 1 MiB would be a fifth slower).
 * GIB_INVALID if *ld does not fit an int. */
CALPE_API int gib_alloc(void** buffers, int buf_size, int* ld, gib_context gc);

/* Frees memory from gib_alloc(). NULL is allowed. */
CALPE_API int gib_free(void* buffers, gib_context gc);

/* Writes the m parity buffers from the k data buffers. buf_size is both the distance between two
 * buffers and the number of bytes coded in each. Pass the ld of gib_alloc(). For your own memory
 * any value >= 0 and any alignment is allowed. */
CALPE_API int gib_generate(void* buffers, int buf_size, gib_context gc);

/* Rebuilds lost buffers. Position i of `buffers`, at i * buf_size, holds buffer buf_ids[i]: first k
 * intact buffers in any order, then space for the recover_last wanted ones. Only these last
 * positions are written. Parity can be rebuilt too, which the paper excludes.
 * GIB_INVALID if recover_last is not in 0..m, or if an id is not in 0..k+m-1 or occurs twice. The
 * first use of a combination of ids creates a plan; the last 1,024 plans are cached. */
CALPE_API int gib_recover(void* buffers, int buf_size, int* buf_ids, int recover_last,
                          gib_context gc);

/* Message of the last failed call in this thread. Valid until the next failure in this thread. */
CALPE_API const char* gib_error_text(void);

#ifdef __cplusplus
}
#endif
#endif
