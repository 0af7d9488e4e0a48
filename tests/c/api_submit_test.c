/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: asynchronous work, several devices, and the log. */
#include <calpe/calpe.h>

#include "check.h"

#define DATA 4
#define PARITY 3
#define STRIPES 150
#define BYTES 700

static calpe_error error;
static unsigned char data[STRIPES][DATA][BYTES];
static unsigned char parity[STRIPES][PARITY][BYTES];
static unsigned char expected[STRIPES][PARITY][BYTES];
static const void* inputs[STRIPES][DATA];
static void* outputs[STRIPES][PARITY];
static calpe_stripe stripes[STRIPES];

static void set_up(void) {
  unsigned seed = 5;
  for (size_t s = 0; s < STRIPES; ++s) {
    for (size_t i = 0; i < DATA; ++i) {
      for (size_t b = 0; b < BYTES; ++b) {
        seed = seed * 1103515245u + 12345u;
        data[s][i][b] = (unsigned char)(seed >> 16);
      }
      inputs[s][i] = data[s][i];
    }
    for (size_t i = 0; i < PARITY; ++i)
      outputs[s][i] = parity[s][i];
    stripes[s].inputs = inputs[s];
    stripes[s].outputs = outputs[s];
    stripes[s].shard_bytes = s % 3 == 0 ? BYTES : BYTES / 2;
  }
}

static calpe_codec* open_threads(const char* backend, uint32_t threads) {
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_options options = {sizeof options, backend, threads, 0, 0, 0};
  calpe_codec* codec = NULL;
  CHECK_OK(calpe_codec_create(&spec, &options, &codec, &error));
  return codec;
}

static calpe_codec* open_codec(const char* backend) {
  return open_threads(backend, 1);
}

/* Without threads or a device the work is complete when calpe_submit returns, otherwise when
 * calpe_wait does. */
static void test_submit(const char* backend, uint32_t threads, int runs_on_caller) {
  calpe_codec* codec = open_threads(backend, threads);
  calpe_plan* plan = NULL;
  calpe_pending *first = NULL, *second = NULL;
  CHECK(calpe_codec_runs_on_caller(codec) == runs_on_caller);
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  (void)memset(parity, 0, sizeof parity);
  CHECK_OK(calpe_submit(codec, plan, stripes, STRIPES / 2, 0, &first, &error));
  CHECK_OK(
      calpe_submit(codec, plan, &stripes[STRIPES / 2], STRIPES - STRIPES / 2, 0, &second, &error));
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec); /* pending work keeps both alive */
  CHECK_OK(calpe_wait(second, &error));
  CHECK_OK(calpe_wait(first, &error));
  CHECK(memcmp(parity, expected, sizeof parity) == 0);
}

static void test_batch(const char* backend) {
  calpe_codec* codec = open_codec(backend);
  calpe_plan* plan = NULL;
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  (void)memset(parity, 0, sizeof parity);
  CHECK_OK(calpe_run_batch(codec, plan, stripes, STRIPES, 0, &error));
  CHECK(memcmp(parity, expected, sizeof parity) == 0);
  CHECK_OK(calpe_run_batch(codec, plan, stripes, STRIPES, CALPE_RUN_ACCUMULATE, &error));
  CHECK(parity[7][1][3] == 0 && parity[STRIPES - 1][PARITY - 1][BYTES / 2 - 1] == 0);
  stripes[3].inputs = NULL;
  CHECK(calpe_run_batch(codec, plan, stripes, STRIPES, 0, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  stripes[3].inputs = inputs[3];
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
}

static void test_refused(void) {
  calpe_codec* codec = open_codec(NULL);
  calpe_plan* plan = NULL;
  calpe_pending* pending = (calpe_pending*)&plan;
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  CHECK(calpe_submit(NULL, plan, stripes, 1, 0, &pending, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(pending == NULL);
  CHECK(calpe_submit(codec, plan, NULL, 1, 0, &pending, NULL) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_submit(codec, plan, stripes, 1, 8, &pending, NULL) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_submit(codec, plan, stripes, 1, 0, NULL, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  stripes[0].outputs = NULL;
  CHECK(calpe_submit(codec, plan, stripes, 1, 0, &pending, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  stripes[0].outputs = outputs[0];
  CHECK(pending == NULL);
  CHECK_OK(calpe_wait(NULL, &error));
  CHECK_OK(calpe_submit(codec, plan, NULL, 0, 0, &pending, &error));
  CHECK(pending != NULL);
  CHECK_OK(calpe_wait(pending, &error));
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
}

static void count_lines(const char* line, void* user) {
  CHECK(strstr(line, "reference is not used") != NULL);
  ++*(int*)user;
}

/* The bytewise interpreter makes no job faster, so it is not used and the log says so once. On
 * an emulator, vector code may be as slow; then it may be used. */
static void test_log(void) {
  static unsigned char big[DATA + PARITY][1 << 19];
  const void* in[DATA];
  void* out[PARITY];
  int lines = 0;
  calpe_set_log_handler(count_lines, &lines);
  for (size_t i = 0; i < DATA; ++i)
    in[i] = big[i];
  for (size_t i = 0; i < PARITY; ++i)
    out[i] = big[DATA + i];
  calpe_codec* codec = open_codec("cpu+reference");
  CHECK(strstr(calpe_codec_backend(codec), "+reference") != NULL);
  CHECK_OK(calpe_encode(codec, in, out, sizeof big[0], &error));
  CHECK_OK(calpe_encode(codec, in, out, sizeof big[0], &error));
  calpe_codec_destroy(codec);
#if defined(__x86_64__)
  CHECK(lines == 1);
#else
  CHECK(lines <= 1);
#endif
  calpe_set_log_handler(NULL, NULL);
}

int main(void) {
  set_up();
  calpe_codec* codec = open_codec("reference");
  for (size_t s = 0; s < STRIPES; ++s)
    CHECK_OK(calpe_encode(codec, inputs[s], outputs[s], stripes[s].shard_bytes, &error));
  (void)memcpy(expected, parity, sizeof parity);
  calpe_codec_destroy(codec);

  test_submit(NULL, 1, 1);
  test_submit(NULL, 3, 1);
  test_submit("reference", 2, 1);
  test_submit("cpu+reference", 1, 0);
  test_batch(NULL);
  test_batch("cpu+reference");
  test_refused();
  test_log();
  return failures == 0 ? 0 : 1;
}
