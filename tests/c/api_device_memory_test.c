/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: shards in device memory, on the backend that CALPE_BACKEND names. On the CPU,
 * device memory is host memory, so the same code runs without a device. Exits with 77 and a
 * reason if the backend is not available. */
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

static void test_refuses_absurd_lengths(void) {
  calpe_device_memory* memory = NULL;
  CHECK(calpe_device_memory_allocate(codec, SIZE_MAX, &memory, &error) != CALPE_OK);
  CHECK(calpe_device_memory_allocate(codec, SIZE_MAX - 62, &memory, &error) != CALPE_OK);
  CHECK(memory == NULL);
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

/* Lost shards are rebuilt and parity is updated without copying shards. */
static void test_decode_and_update(void) {
  static const uint16_t available[DATA] = {0, 2, 4, 5};
  static const uint16_t wanted[2] = {1, 3};
  static const unsigned char zeros[BYTES];
  calpe_device_memory* memory = NULL;
  calpe_plan* plan = NULL;
  calpe_device_profile before = {.struct_size = sizeof before};
  calpe_device_profile after = {.struct_size = sizeof after};
  unsigned char back[BYTES];
  CHECK_OK(
      calpe_device_memory_allocate(codec, (DATA + PARITY + 4) * (size_t)DISTANCE, &memory, &error));
  CHECK_OK(calpe_plan_decode(codec, available, DATA, wanted, 2, NULL, &plan, &error));
  if (failures != 0) return;
  unsigned char* const start = calpe_device_memory_address(memory);
  for (size_t s = 0; s < DATA + PARITY; ++s) {
    CHECK_OK(calpe_device_memory_write(memory, s * DISTANCE,
                                       s < DATA ? data[s] : expected[s - DATA], BYTES, &error));
  }
  /* Zero parity, for the update. */
  for (size_t s = 8; s < 10; ++s)
    CHECK_OK(calpe_device_memory_write(memory, s * DISTANCE, zeros, BYTES, &error));
  const void* const survivors[DATA] = {start, start + 2 * DISTANCE, start + 4 * DISTANCE,
                                       start + 5 * DISTANCE};
  void* const rebuilt[2] = {start + 6 * DISTANCE, start + 7 * DISTANCE};
  void* const parity[PARITY] = {start + 8 * DISTANCE, start + 9 * DISTANCE};
  calpe_codec_device_profile(codec, &before);
  CHECK_OK(calpe_decode(codec, plan, survivors, rebuilt, BYTES, &error));
  for (uint16_t s = 0; s < DATA; ++s) {
    CHECK_OK(
        calpe_update(codec, s, 0, start + s * DISTANCE, BYTES, NULL, 0, parity, BYTES, &error));
  }
  calpe_codec_device_profile(codec, &after);
  CHECK(after.copy_in_bytes == before.copy_in_bytes);
  CHECK(after.copy_out_bytes == before.copy_out_bytes);
  for (size_t s = 0; s < 2; ++s) {
    CHECK_OK(calpe_device_memory_read(memory, (6 + s) * DISTANCE, back, BYTES, &error));
    CHECK(memcmp(back, data[wanted[s]], BYTES) == 0);
    CHECK_OK(calpe_device_memory_read(memory, (8 + s) * DISTANCE, back, BYTES, &error));
    CHECK(memcmp(back, expected[s], BYTES) == 0);
  }
  calpe_plan_destroy(plan);
  calpe_device_memory_destroy(memory);
}

/* Data written through a mapping is there afterwards. */
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
  /* A pointer that no driver returned, and an invalid buffer. */
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
  test_refuses_absurd_lengths();
  test_encode();
  test_decode_and_update();
  test_map();
  test_others();
  calpe_codec_destroy(codec);
  return failures != 0;
}
