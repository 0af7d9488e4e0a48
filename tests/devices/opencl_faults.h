/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of the OpenCL fault library, for tests: the OpenCL functions that the backend calls,
 * each handed on to the real library unless it is told to fail. Set CALPE_OPENCL_LIBRARY to its
 * path.
 *
 * Environment, read once: CALPE_CL_ALLOCATION_MAX, the most bytes of one buffer, and
 * CALPE_CL_GROUP_MAX, the most work-items of a group. The device says so and refuses more. With
 * either of them it also refuses more than 65,535 groups along a side.
 */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All below is off and counts are 0; callbacks that a hang held back come now. */
void calpe_cl_reset(void);

/* Call number `index` from now on, from 0, returns `code` and does nothing. Counted are calls that
 * can fail on a device that is there: not clRelease..., clSVMFree, nor what asks for descriptions
 * (clGetPlatformInfo, clGetDeviceInfo, clGetProgramBuildInfo). */
void calpe_cl_fail(uint64_t index, int code);
/* The same, and so does every call after it, but for clRelease... and clSVMFree. */
void calpe_cl_lose(uint64_t index, int code);
/* Call number `index` of one function, counted or not. */
void calpe_cl_fail_function(const char* name, uint64_t index, int code);

/* From launch number `index` on nothing is ever done, as far as anybody is told. */
void calpe_cl_hang_launch(uint64_t index);
/* Launch number `index` from now on does nothing and says that it went well. */
void calpe_cl_spoil_launch(uint64_t index);

struct calpe_cl_counts {
  uint64_t calls; /* that can fail */
  uint64_t launches;
};
void calpe_cl_count(struct calpe_cl_counts* counts);

#ifdef __cplusplus
}
#endif
