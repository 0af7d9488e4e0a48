/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of the OpenCL fault library, for tests. It has the OpenCL functions that the backend
 * calls and forwards them to the real library, unless it is told to fail. Set CALPE_OPENCL_LIBRARY
 * to its path.
 *
 * Environment, read once: CALPE_CL_ALLOCATION_MAX, the maximum size of a buffer, and
 * CALPE_CL_GROUP_MAX, the maximum number of work-items in a group. The device reports and enforces
 * them. With either of them it also refuses more than 65,535 groups in a dimension.
 * CALPE_CL_GPU=1: the device says that it is a GPU without shared memory; 2: one that reaches all
 * memory of the host, for kernels that were told so (clSetKernelExecInfo).
 */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Turns everything below off, resets the counts, and delivers callbacks that a hang delayed. */
void calpe_cl_reset(void);

/* Call number `index` from now on, counting from 0, returns `code` and does nothing. Counts calls
 * that can fail on an available device: not clRelease..., clSVMFree, nor queries
 * (clGetPlatformInfo, clGetDeviceInfo, clGetProgramBuildInfo). */
void calpe_cl_fail(uint64_t index, int code);
/* The same, and every later call fails as well, except clRelease... and clSVMFree. */
void calpe_cl_lose(uint64_t index, int code);
/* Call number `index` of one function, counted or not. */
void calpe_cl_fail_function(const char* name, uint64_t index, int code);

/* From launch number `index` on, completion is never reported. */
void calpe_cl_hang_launch(uint64_t index);
/* Launch number `index` from now on does nothing and reports success. */
void calpe_cl_spoil_launch(uint64_t index);

/* Kernels with words of `word_bytes` (4 or 16) or more report that they spill `bytes`. */
void calpe_cl_spill(uint64_t word_bytes, uint64_t bytes);

struct calpe_cl_counts {
  uint64_t calls; /* calls that can fail */
  uint64_t launches;
};
void calpe_cl_count(struct calpe_cl_counts* counts);

#ifdef __cplusplus
}
#endif
