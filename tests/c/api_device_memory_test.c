/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: shards in device memory, on the backend that the environment names
 * (CALPE_BACKEND). On the CPU device memory is the host's, so the same code runs without a device.
 * 77 when the backend is not here, with its reason. */
#include <stdlib.h>

#include <calpe/calpe.h>

#include "check.h"

#define DATA 4
#define PARITY 2
#define BYTES 1003
#define DISTANCE 1024

static calpe_error error;
static calpe_codec* codec;
static unsigned char data[DATA][BYTES];
static unsigned char expected[PARITY][BYTES]; /* by shards in the host's memory */

static int set_up(void) {
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_options options = {sizeof options, getenv("CALPE_BACKEND"), 0, 0, 0, 0};
  const void* inputs[DATA];
  void* outputs[PARITY] = {expected[0], expected[1]};
  const calpe_status status = calpe_codec_create(&spec, &options, &codec, &error);
  if (status != CALPE_OK) return status;
  for (unsigned s = 0; s < DATA; ++s) {
    for (unsigned i = 0; i < BYTES; ++i)
      data[s][i] = (unsigned char)(i * 7 + s * 31 + (i >> 5));
    inputs[s] = data[s];
  }
  CHECK_OK(calpe_encode(codec, inputs, outputs, BYTES, &error));
  return CALPE_OK;
}

static void test_encode(void) {
  calpe_device_memory* memory = NULL;
  unsigned char parity[BYTES];
  const void* inputs[DATA];
  void* outputs[PARITY];
  CHECK_OK(
      calpe_device_memory_allocate(codec, (DATA + PARITY) * (size_t)DISTANCE, &memory, &error));
  unsigned char* const start = calpe_device_memory_address(memory);
  for (size_t s = 0; s < DATA; ++s) {
    CHECK_OK(calpe_device_memory_write(memory, s * DISTANCE, data[s], BYTES, &error));
    inputs[s] = start + s * DISTANCE;
  }
  for (size_t s = 0; s < PARITY; ++s)
    outputs[s] = start + (DATA + s) * DISTANCE;
  CHECK_OK(calpe_encode(codec, inputs, outputs, BYTES, &error));
  for (size_t s = 0; s < PARITY; ++s) {
    CHECK_OK(calpe_device_memory_read(memory, (DATA + s) * DISTANCE, parity, BYTES, &error));
    CHECK(memcmp(parity, expected[s], BYTES) == 0);
  }
  CHECK(calpe_device_memory_read(memory, 6 * DISTANCE - 1, parity, 2, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_device_memory_write(memory, 0, NULL, 2, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  calpe_device_memory_destroy(memory);
  calpe_device_memory_destroy(NULL);
}

/* What is written through a map is there afterwards. */
static void test_map(void) {
  calpe_device_memory* memory = NULL;
  calpe_mapped_memory* mapped = NULL;
  void* host = NULL;
  unsigned char back[100];
  CHECK_OK(calpe_device_memory_allocate(codec, DISTANCE, &memory, &error));
  CHECK_OK(calpe_device_memory_map(memory, 7, 100, &mapped, &host, &error));
  memcpy(host, data[1], 100);
  CHECK_OK(calpe_device_memory_unmap(mapped, &error));
  CHECK_OK(calpe_device_memory_read(memory, 7, back, 100, &error));
  CHECK(memcmp(back, data[1], 100) == 0);
  CHECK(calpe_device_memory_map(memory, DISTANCE, 1, &mapped, &host, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  calpe_device_memory_destroy(memory);
}

static void test_others(void) {
  static unsigned char often[DISTANCE];
  calpe_device_memory* memory = NULL;
  calpe_registered_memory* registered = NULL;
  calpe_device_profile profile;
  memset(&profile, 0xA5, sizeof profile);
  profile.struct_size = sizeof profile;
  CHECK(calpe_device_memory_allocate(codec, 0, &memory, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  /* Nobody's: a pointer that no driver gave, a buffer that is none. */
  CHECK(calpe_device_memory_import_cuda(codec, 0, 1, &memory, &error) != CALPE_OK);
  CHECK(calpe_device_memory_import_opencl(codec, NULL, 1, &memory, &error) != CALPE_OK);
  CHECK(memory == NULL);
  CHECK_OK(calpe_register_memory(codec, often, sizeof often, &registered, &error));
  calpe_unregister_memory(registered);
  calpe_codec_device_profile(codec, &profile);
  if (calpe_native_context(codec) == NULL) CHECK(profile.launches == 0);
  if (calpe_native_context(codec) != NULL) CHECK(profile.launches > 0);
}

int main(void) {
  const int status = set_up();
  if (status == CALPE_ERROR_BACKEND_UNAVAILABLE) return printf("skipped: %s\n", error.message), 77;
  if (status != CALPE_OK) return fprintf(stderr, "%s\n", error.message), 1;
  test_encode();
  test_map();
  test_others();
  calpe_codec_destroy(codec);
  return failures != 0;
}
