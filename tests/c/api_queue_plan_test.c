/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: a plan in a CUDA stream or OpenCL queue of the program, on the backend that
 * CALPE_BACKEND names. Other backends refuse it. Exits with 77 and a reason if the backend is not
 * available. */
#include <stdlib.h>
#ifndef _WIN32
#include <dlfcn.h>
#endif

#include <calpe/calpe.h>

#include "check.h"

#define DATA 4
#define PARITY 2
#define BYTES 1003
#define DISTANCE 1024
#define STRIPES 3

static calpe_error error;
static calpe_codec* codec;
static calpe_plan* encode;
static const char* backend;
static unsigned char data[STRIPES * DATA][BYTES];
static unsigned char expected[STRIPES * PARITY][BYTES];

/* Finds a function of the driver's library, which the backend has opened. */
static void find(void* function, const char* variable, const char* usual, const char* name) {
  const char* path = getenv(variable) != NULL ? getenv(variable) : usual;
#ifdef _WIN32 /* where the library has no devices */
  void* const address = NULL;
#else
  void* const library = dlopen(path, RTLD_NOW);
  void* const address = library == NULL ? NULL : dlsym(library, name);
#endif
  if (address == NULL) fprintf(stderr, "%s has no %s\n", path, name);
  CHECK(address != NULL);
  memcpy(function, &address, sizeof address);
}
#define CUDA(function, name) find(&(function), "CALPE_CUDA_DRIVER", "libcuda.so.1", name)
#define OPENCL(function, name) find(&(function), "CALPE_OPENCL_LIBRARY", "libOpenCL.so.1", name)

static int is_cuda(void) {
  return strncmp(backend, "cuda", 4) == 0;
}

static void* open_stream(void* context) {
  int (*push)(void*) = NULL;
  int (*create)(void**, unsigned) = NULL;
  int (*pop)(void**) = NULL;
  void* stream = NULL;
  CUDA(push, "cuCtxPushCurrent_v2");
  CUDA(create, "cuStreamCreate");
  CUDA(pop, "cuCtxPopCurrent_v2");
  CHECK(push(context) == 0);
  CHECK(create(&stream, 1) == 0);
  CHECK(pop(&context) == 0);
  return stream;
}

static void* open_command_queue(void* context) {
  const unsigned context_devices = 0x1081; /* CL_CONTEXT_DEVICES */
  int (*ask)(void*, unsigned, size_t, void*, size_t*) = NULL;
  void* (*create)(void*, void*, uint64_t, int*) = NULL;
  void* device = NULL;
  void* queue;
  int status = 0;
  OPENCL(ask, "clGetContextInfo");
  OPENCL(create, "clCreateCommandQueue");
  CHECK(ask(context, context_devices, sizeof device, &device, NULL) == 0);
  queue = create(context, device, 0, &status);
  CHECK(status == 0);
  return queue;
}

static void wait_and_close(void* queue) {
  int (*wait)(void*) = NULL;
  int (*close)(void*) = NULL;
  if (is_cuda()) {
    CUDA(wait, "cuStreamSynchronize");
    CUDA(close, "cuStreamDestroy_v2");
  } else {
    OPENCL(wait, "clFinish");
    OPENCL(close, "clReleaseCommandQueue");
  }
  CHECK(wait(queue) == 0);
  CHECK(close(queue) == 0);
}

static calpe_status enqueue(const calpe_queue_plan* plan, void* queue, size_t count,
                            const void* const* inputs, void* const* outputs, void* workspace,
                            size_t workspace_bytes) {
  if (is_cuda()) {
    return calpe_enqueue_cuda(plan, queue, count, inputs, outputs, workspace, workspace_bytes,
                              &error);
  }
  return calpe_enqueue_opencl(plan, queue, count, inputs, outputs, workspace, workspace_bytes,
                              &error);
}

static int set_up(void) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_options options = CALPE_OPTIONS_INIT;
  calpe_status status;
  unsigned s, i;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  options.backend = backend;
  status = calpe_codec_create(&spec, &options, &codec, &error);
  if (status != CALPE_OK) return status;
  CHECK_OK(calpe_plan_encode(codec, &encode, &error));
  for (s = 0; s < STRIPES; ++s) {
    const void* inputs[DATA];
    void* outputs[PARITY];
    for (i = 0; i < DATA; ++i) {
      unsigned b;
      inputs[i] = data[s * DATA + i];
      for (b = 0; b < BYTES; ++b)
        data[s * DATA + i][b] = (unsigned char)(b * 7 + (s * DATA + i) * 31 + (b >> 5));
    }
    for (i = 0; i < PARITY; ++i)
      outputs[i] = expected[s * PARITY + i];
    CHECK_OK(calpe_encode(codec, inputs, outputs, BYTES, &error));
  }
  return CALPE_OK;
}

static void test_enqueue(void) {
  const size_t data_bytes = STRIPES * DATA * (size_t)DISTANCE;
  const size_t parity_bytes = STRIPES * PARITY * (size_t)DISTANCE;
  calpe_queue_plan* plan = NULL;
  calpe_device_memory *memory = NULL, *parity = NULL, *workspace = NULL;
  const void* inputs[STRIPES * DATA];
  void* outputs[STRIPES * PARITY];
  unsigned char back[BYTES];
  size_t i, room;
  void* const context = calpe_native_context(codec);
  void* const queue = is_cuda() ? open_stream(context) : open_command_queue(context);
  CHECK_OK(calpe_queue_plan_create(codec, encode, BYTES, 0, &plan, &error));
  if (plan == NULL) return;
  room = calpe_queue_plan_workspace_bytes(plan, STRIPES);
  CHECK(room >= STRIPES * (DATA + PARITY) * 8);
  CHECK_OK(calpe_device_memory_allocate(codec, data_bytes, &memory, &error));
  CHECK_OK(calpe_device_memory_allocate(codec, parity_bytes, &parity, &error));
  CHECK_OK(calpe_device_memory_allocate(codec, room, &workspace, &error));
  for (i = 0; i < STRIPES * DATA; ++i) {
    CHECK_OK(calpe_device_memory_write(memory, i * DISTANCE, data[i], BYTES, &error));
    inputs[i] = (unsigned char*)calpe_device_memory_address(memory) + i * DISTANCE;
  }
  for (i = 0; i < STRIPES * PARITY; ++i)
    outputs[i] = (unsigned char*)calpe_device_memory_address(parity) + i * DISTANCE;

  CHECK_OK(
      enqueue(plan, queue, STRIPES, inputs, outputs, calpe_device_memory_address(workspace), room));
  CHECK(enqueue(plan, queue, STRIPES, inputs, outputs, calpe_device_memory_address(workspace),
                room - 1) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "workspace") != NULL);
  outputs[1] = NULL;
  CHECK(enqueue(plan, queue, STRIPES, inputs, outputs, calpe_device_memory_address(workspace),
                room) == CALPE_ERROR_INVALID_ARGUMENT);
  wait_and_close(queue);
  for (i = 0; i < STRIPES * PARITY; ++i) {
    CHECK_OK(calpe_device_memory_read(parity, i * DISTANCE, back, BYTES, &error));
    CHECK(memcmp(back, expected[i], BYTES) == 0);
  }
  calpe_queue_plan_destroy(plan);
  calpe_device_memory_destroy(memory);
  calpe_device_memory_destroy(parity);
  calpe_device_memory_destroy(workspace);
}

static void test_refusals(int takes_queues) {
  calpe_queue_plan* plan = NULL;
  const void* inputs[DATA] = {NULL, NULL, NULL, NULL};
  void* outputs[PARITY] = {NULL, NULL};
  CHECK(calpe_queue_plan_create(NULL, encode, BYTES, 0, &plan, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_queue_plan_create(codec, NULL, BYTES, 0, &plan, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_queue_plan_create(codec, encode, BYTES, 0, NULL, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_queue_plan_create(codec, encode, BYTES, 64, &plan, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_enqueue_cuda(NULL, NULL, 1, inputs, outputs, NULL, 0, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_enqueue_opencl(NULL, NULL, 1, inputs, outputs, NULL, 0, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(plan == NULL);
  calpe_queue_plan_destroy(NULL);
  if (takes_queues) return;
  CHECK(calpe_queue_plan_create(codec, encode, BYTES, 0, &plan, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "takes no stream or queue") != NULL);
  CHECK(plan == NULL);
}

int main(void) {
  int status, takes_queues;
  backend = getenv("CALPE_BACKEND");
  if (backend == NULL) backend = "cpu";
  takes_queues = is_cuda() || strncmp(backend, "opencl", 6) == 0;
  status = set_up();
  if (status == CALPE_ERROR_BACKEND_UNAVAILABLE) return printf("skipped: %s\n", error.message), 77;
  if (status != CALPE_OK) return fprintf(stderr, "%s\n", error.message), 1;
  test_refusals(takes_queues);
  if (takes_queues) test_enqueue();
  calpe_plan_destroy(encode);
  calpe_codec_destroy(codec);
  return failures != 0;
}
