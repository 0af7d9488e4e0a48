/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: prepared plans write what calpe_run() writes, for lists, batches and strides. */
#include <calpe/calpe.h>

#include "check.h"

#define DATA 4
#define PARITY 3
#define STRIPES 5
#define STRIDE 320

static calpe_error error;
static unsigned char from[STRIPES][DATA][STRIDE];
static unsigned char expected[STRIPES][PARITY][STRIDE];
static unsigned char to[STRIPES][PARITY][STRIDE];
static const void* inputs[STRIPES * DATA];
static void* outputs[STRIPES * PARITY];

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0')

static void clear_outputs(int value) {
  (void)memset(to, value, sizeof to);
}

static void prepared_runs(const calpe_codec* codec, const calpe_plan* plan, size_t bytes,
                          uint32_t flags) {
  calpe_prepared* prepared = NULL;
  calpe_strided_inputs all_inputs;
  calpe_strided_outputs all_outputs;
  unsigned s;
  CHECK_OK(calpe_prepare(codec, plan, bytes, flags, &prepared, &error));

  (void)memset(expected, 0xA5, sizeof expected);
  for (s = 0; s < STRIPES; ++s) {
    void* parity[PARITY];
    unsigned i;
    for (i = 0; i < PARITY; ++i)
      parity[i] = expected[s][i];
    CHECK_OK(calpe_run(codec, plan, inputs + s * DATA, parity, bytes, flags, &error));
  }

  clear_outputs(0xA5);
  for (s = 0; s < STRIPES; ++s)
    CHECK_OK(calpe_prepared_run(prepared, inputs + s * DATA, outputs + s * PARITY, &error));
  CHECK(memcmp(to, expected, sizeof to) == 0);

  clear_outputs(0xA5);
  CHECK_OK(calpe_prepared_run_batch(prepared, STRIPES, inputs, outputs, NULL));
  CHECK(memcmp(to, expected, sizeof to) == 0);

  clear_outputs(0xA5);
  all_inputs.base = from;
  all_inputs.shard_stride = STRIDE;
  all_inputs.stripe_stride = DATA * STRIDE;
  all_outputs.base = to;
  all_outputs.shard_stride = STRIDE;
  all_outputs.stripe_stride = PARITY * STRIDE;
  CHECK_OK(calpe_prepared_run_strided(prepared, STRIPES, &all_inputs, &all_outputs, &error));
  CHECK(memcmp(to, expected, sizeof to) == 0);
  calpe_prepared_destroy(prepared);
}

int main(void) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  calpe_plan* plan = NULL;
  calpe_prepared* prepared = NULL;
  size_t bytes;
  unsigned s, i, b;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  for (s = 0; s < STRIPES; ++s) {
    for (i = 0; i < DATA; ++i) {
      for (b = 0; b < STRIDE; ++b)
        from[s][i][b] = (unsigned char)(31 * i + 7 * b + b * b * s);
      inputs[s * DATA + i] = from[s][i];
    }
    for (i = 0; i < PARITY; ++i)
      outputs[s * PARITY + i] = to[s][i];
  }
  for (bytes = 0; bytes <= STRIDE; ++bytes) {
    prepared_runs(codec, plan, bytes, 0);
    prepared_runs(codec, plan, bytes, CALPE_RUN_ACCUMULATE);
  }
  prepared_runs(codec, plan, STRIDE, CALPE_RUN_STREAMING);

  REFUSED(calpe_prepare(NULL, plan, 64, 0, &prepared, &error));
  REFUSED(calpe_prepare(codec, NULL, 64, 0, &prepared, &error));
  REFUSED(calpe_prepare(codec, plan, 64, 0, NULL, &error));
  REFUSED(calpe_prepare(codec, plan, 64, 1u << 31, &prepared, &error));
  REFUSED(calpe_prepare(codec, plan, (size_t)-1, 0, &prepared, &error));
  CHECK(prepared == NULL);
  calpe_prepared_destroy(NULL);

  /* It outlives the codec and the plan. */
  CHECK_OK(calpe_prepare(codec, plan, STRIDE, 0, &prepared, &error));
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
  clear_outputs(0);
  CHECK_OK(calpe_prepared_run(prepared, inputs, outputs, &error));
  CHECK(to[0][0][0] ==
        (unsigned char)(from[0][0][0] ^ from[0][1][0] ^ from[0][2][0] ^ from[0][3][0]));
  calpe_prepared_destroy(prepared);
  return 0;
}
