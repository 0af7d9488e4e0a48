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
 * k data buffers and m parity buffers lie in one piece of memory, at a constant distance: byte i of
 * data buffer j is buffers[j * ld + i], of parity buffer j it is buffers[(k + j) * ld + i]. Buffers
 * are numbered from 0, data first. Parity is that of the profile `vandermonde`, Gibraltar's matrix;
 * 2 <= k + m <= 256. gib_error_text() is an addition; everything that is more than a thin layer
 * over calpe.h is in calpe.h.
 *
 * Errors. Every function returns GIB_OK or what went wrong, the numbers of CALPE_ERROR_*; nothing
 * is printed and no program is ended. After GIB_INVALID nothing was written.
 * Threads. A context may be used by any number of threads at once, on different buffers.
 * Backend. gib_init takes it from the environment variable CALPE_BACKEND, a name that
 * `calpe devices` lists; not set or empty is "auto". It decides the speed, never the bytes. */
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

/* A coding k + m and what it needs to run. */
typedef struct gib_coding* gib_context;

/* Prepares to code k + m; a program may hold several contexts. On error *gc is NULL. */
CALPE_API int gib_init(int k, int m, gib_context* gc);

/* Ends a context. Free its buffers first. */
CALPE_API int gib_destroy(gib_context gc);

/* Memory for k + m buffers of buf_size bytes, all zero: what lies between the buffers is coded as
 * well when ld is given to the functions below. *ld, the distance of two buffers, is the smallest
 * odd multiple of 64 that is at least buf_size: whole cache lines, and lines at one place of all
 * buffers lie in different sets of a cache. A distance of whole pages would put them into one set,
 * where 8 or 12 of them evict each other: 10+4 loses a fifth with buffers of 1 MiB.
 * GIB_INVALID when *ld does not fit an int. */
CALPE_API int gib_alloc(void** buffers, int buf_size, int* ld, gib_context gc);

/* Frees what gib_alloc gave. NULL is allowed. */
CALPE_API int gib_free(void* buffers, gib_context gc);

/* Writes the m parity buffers from the k data buffers. buf_size is the distance of two buffers and
 * how much of each is coded: ld of gib_alloc, or with memory of your own whatever you like from 0
 * on, at any alignment. */
CALPE_API int gib_generate(void* buffers, int buf_size, gib_context gc);

/* Recomputes lost buffers. Position i of `buffers`, at i * buf_size, holds buffer buf_ids[i]: first
 * k intact ones in any order, then room for the recover_last wanted ones. Only the last
 * recover_last positions are written. Parity may be wanted too, which the paper excludes.
 * GIB_INVALID when recover_last is not in 0..m, or an id is not in 0..k+m-1 or given twice. The
 * first use of a combination of ids plans it; the last 1,024 are remembered. */
CALPE_API int gib_recover(void* buffers, int buf_size, int* buf_ids, int recover_last,
                          gib_context gc);

/* What the last call of this thread that failed says: operand, got, expected. Until its next. */
CALPE_API const char* gib_error_text(void);

#ifdef __cplusplus
}
#endif
#endif
