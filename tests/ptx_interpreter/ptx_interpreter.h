/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of the PTX interpreter, a library with the functions of the CUDA driver for tests. Its
 * devices are called "PTX interpreter, no GPU", and its times are meaningless. Set
 * CALPE_CUDA_DRIVER to its path (CALPE_PTX_INTERPRETER in programs that link with it).
 *
 * Environment, read once: CALPE_PTX_DEVICES (2), CALPE_PTX_SEED of the random delays before each
 * operation of a stream, CALPE_PTX_FAIL="index:code" as calpe_ptx_fail().
 *
 * It checks
 * - bounds, alignment, races in shared memory and barriers
 * - registers that are read before they are written
 * - bytes that one launch writes twice, or writes and reads as read-only
 * - memory that is freed while a stream uses it
 * - streams that touch the same bytes without a wait, whatever the order in which they ran
 * A failure while a kernel runs loses the device, as on a real one: all later calls return the
 * code. cuGetErrorString() returns the reason.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Turns everything below off, resets the counts, revives lost devices and resumes hung work. */
void calpe_ptx_reset(void);

/* Call number `index` from now on, counting from 0, returns `code` and does nothing. Counts calls
 * that can fail on an available device: not cuInit, cuCtxPush..., cuGetError... */
void calpe_ptx_fail(uint64_t index, int code);
/* The same, and every later call on the same device fails as well. */
void calpe_ptx_lose(uint64_t index, int code);
/* Call number `index` of one function. */
void calpe_ptx_fail_function(const char* name, uint64_t index, int code);
/* Counts and fails only calls of one device; -1: of all. */
void calpe_ptx_only_device(int device);

/* Launch number `index` from now on ... */
void calpe_ptx_fail_launch(uint64_t index, int code); /* fails while it runs: loses the device */
void calpe_ptx_hang_launch(uint64_t index);           /* ... ends only after calpe_ptx_reset() */
void calpe_ptx_spoil_launch(uint64_t index);          /* ... leaves a wrong byte in its output */

/* Delays before an operation, in microseconds: `least` plus a random part of the rest. After a
 * reset (0, 200), and no delay for three of four operations. */
void calpe_ptx_delay(unsigned least, unsigned most);
/* Work in this CUstream does not run until the host waits for the stream, its context or memory of
 * its device, or until a reset. Shows work that no call waits for. */
void calpe_ptx_hold(void* stream);
/* Work of a device takes `factor` times as long. */
void calpe_ptx_slow(int device, double factor);
void calpe_ptx_memory(size_t bytes); /* of every device; 1 GiB after a reset */
/* From 1 to 0, the application captures a stream in the global mode. Calls that invalidate the
 * capture fail and count as misuses: those that allocate, free, load or unload, on threads that
 * are not in the relaxed mode, and cuCtxSynchronize. The same holds during real captures. */
void calpe_ptx_capture(int is_on);
void calpe_ptx_local_bytes(int bytes); /* reported spills of kernels loaded from now on */
/* Models a cache of this size between the kernels and memory, for memory_bytes; 0: none. */
void calpe_ptx_cache(size_t bytes);

struct calpe_ptx_counts {
  uint64_t calls; /* calls that can fail */
  uint64_t launches;
  uint64_t copy_in_bytes;  /* host to device */
  uint64_t copy_out_bytes; /* device to host */
  uint64_t allocations;    /* live allocations of device memory */
  uint64_t misuses;        /* calls that no program should make: bad handles, memory in use */
  /* By kernels. Additions, comparisons and logic of 64 bits count as two instructions. */
  uint64_t instructions;
  uint64_t alu_instructions; /* integer instructions, except left shifts and multiplications */
  uint64_t cache_bytes;      /* between registers and cache */
  uint64_t memory_bytes;     /* between cache and memory; see calpe_ptx_cache() */
};
void calpe_ptx_count(struct calpe_ptx_counts* counts);
/* Whether the calling thread is in a function of the driver, such as for counting allocations of
 * its caller. */
int calpe_ptx_is_inside(void);
/* Message of the last error or misuse; valid until the next one. */
const char* calpe_ptx_message(void);

#ifdef __cplusplus
}
#endif
