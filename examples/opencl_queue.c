/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes in an OpenCL queue of the program: the queue writes the data, Calpe's work follows, and
 * the queue reads the parity. Nothing waits in between. With CUDA, use a CUstream and
 * calpe_enqueue_cuda() instead.
 *
 * usage: opencl_queue [BACKEND]     (default: opencl; `calpe devices` lists the names) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <calpe/calpe.h>

enum { data_shards = 10, parity_shards = 4, shard_bytes = 65536 };

static unsigned char data[data_shards][shard_bytes];
static unsigned char parity[parity_shards][shard_bytes];
static unsigned char expected[parity_shards][shard_bytes];

/* Our own buffer, as shards for Calpe. */
static calpe_status import(const calpe_codec* codec, cl_mem buffer, size_t bytes,
                           calpe_device_memory** memory, calpe_error* error) {
  return calpe_device_memory_import_opencl(codec, buffer, bytes, memory, error);
}

int main(int argc, char** argv) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_options options = CALPE_OPTIONS_INIT;
  calpe_codec* codec = NULL;
  calpe_plan* encode = NULL;
  calpe_queue_plan* plan = NULL;
  calpe_device_memory *data_memory = NULL, *parity_memory = NULL, *workspace = NULL;
  calpe_error error;
  const void* inputs[data_shards];
  void* outputs[parity_shards];
  cl_context context;
  cl_device_id device;
  cl_command_queue queue;
  cl_mem data_buffer, parity_buffer;
  size_t i, room;
  cl_int wrong = CL_SUCCESS;

  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  options.backend = argc > 1 ? argv[1] : "opencl";
  if (calpe_codec_create(&spec, &options, &codec, &error)) goto failed;

  /* A queue and buffers in the codec's context. */
  context = calpe_native_context(codec);
  if (clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL))
    return fprintf(stderr, "%s is no OpenCL device\n", options.backend), 1;
  queue = clCreateCommandQueue(context, device, 0, &wrong);
  if (wrong) return fprintf(stderr, "clCreateCommandQueue: %d\n", wrong), 1;
  data_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, &wrong);
  if (wrong) return fprintf(stderr, "clCreateBuffer: %d\n", wrong), 1;
  parity_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof parity, NULL, &wrong);
  if (wrong) return fprintf(stderr, "clCreateBuffer: %d\n", wrong), 1;
  if (import(codec, data_buffer, sizeof data, &data_memory, &error)) goto failed;
  if (import(codec, parity_buffer, sizeof parity, &parity_memory, &error)) goto failed;
  for (i = 0; i < data_shards; ++i)
    inputs[i] = (char*)calpe_device_memory_address(data_memory) + i * shard_bytes;
  for (i = 0; i < parity_shards; ++i)
    outputs[i] = (char*)calpe_device_memory_address(parity_memory) + i * shard_bytes;

  /* Once: the plan, whose kernel is compiled here, and its workspace. */
  if (calpe_plan_encode(codec, &encode, &error)) goto failed;
  if (calpe_queue_plan_create(codec, encode, shard_bytes, 0, &plan, &error)) goto failed;
  room = calpe_queue_plan_workspace_bytes(plan, 1);
  if (calpe_device_memory_allocate(codec, room, &workspace, &error)) goto failed;

  /* For each stripe: three commands in the queue, and one wait at the end. */
  for (i = 0; i < data_shards; ++i)
    memset(data[i], (int)(31 * i + 1), shard_bytes);
  wrong = clEnqueueWriteBuffer(queue, data_buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL);
  if (wrong) return fprintf(stderr, "clEnqueueWriteBuffer: %d\n", wrong), 1;
  if (calpe_enqueue_opencl(plan, queue, 1, inputs, outputs, calpe_device_memory_address(workspace),
                           room, &error))
    goto failed;
  wrong =
      clEnqueueReadBuffer(queue, parity_buffer, CL_FALSE, 0, sizeof parity, parity, 0, NULL, NULL);
  if (wrong) return fprintf(stderr, "clEnqueueReadBuffer: %d\n", wrong), 1;
  wrong = clFinish(queue);
  if (wrong) return fprintf(stderr, "clFinish: %d\n", wrong), 1;

  for (i = 0; i < data_shards; ++i)
    inputs[i] = data[i];
  for (i = 0; i < parity_shards; ++i)
    outputs[i] = expected[i];
  if (calpe_encode(codec, inputs, outputs, shard_bytes, &error)) goto failed;
  wrong = memcmp(parity, expected, sizeof parity) != 0;
  printf("encoded in the queue of the program, %s\n", wrong ? "WRONG" : "as without it");

  calpe_device_memory_destroy(workspace);
  calpe_device_memory_destroy(parity_memory);
  calpe_device_memory_destroy(data_memory);
  calpe_queue_plan_destroy(plan);
  calpe_plan_destroy(encode);
  clReleaseMemObject(parity_buffer);
  clReleaseMemObject(data_buffer);
  clReleaseCommandQueue(queue);
  calpe_codec_destroy(codec);
  return wrong;

failed:
  fprintf(stderr, "%s\n", error.message);
  return 1;
}
