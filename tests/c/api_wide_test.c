/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: a code of 1,200 shards, with lists longer than fit on a stack. */
#include <stdint.h>
#include <stdlib.h>

#include <calpe/calpe.h>

#include "check.h"

enum { data_shards = 1000, parity_shards = 200, shards = 1200, bytes = 301, parity_bytes = 302 };

static calpe_error error;
static unsigned char stripe[shards][parity_bytes];
static unsigned char rebuilt[parity_shards][parity_bytes];

static uint32_t state = 1;
static unsigned char next_byte(void) {
  state = state * 1664525u + 1013904223u;
  return (unsigned char)(state >> 24);
}

static calpe_codec* make_codec(void) {
  calpe_spec spec = CALPE_SPEC_INIT, resolved = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  if (codec == NULL) exit(1);
  calpe_codec_spec(codec, &resolved);
  CHECK(resolved.family == CALPE_FAMILY_LCH && resolved.word_bits == 16);
  CHECK(calpe_parity_bytes(codec, bytes) == parity_bytes);
  return codec;
}

static void test_stripe(const calpe_codec* codec) {
  const void* data[data_shards];
  void* parity[parity_shards];
  const void* all[shards];
  for (int i = 0; i < data_shards; ++i) {
    data[i] = stripe[i];
    for (int b = 0; b < bytes; ++b)
      stripe[i][b] = next_byte();
  }
  for (int i = 0; i < parity_shards; ++i)
    parity[i] = stripe[data_shards + i];
  for (int i = 0; i < shards; ++i)
    all[i] = stripe[i];
  CHECK_OK(calpe_encode(codec, data, parity, bytes, &error));

  uint16_t wrong[shards];
  size_t wrong_count = 1;
  CHECK_OK(calpe_verify(codec, data, (const void* const*)parity, bytes, wrong, shards, &wrong_count,
                        &error));
  CHECK(wrong_count == 0);

  /* Loses every fifth data shard and reads all parity. */
  uint16_t available[data_shards], lost[parity_shards], reads[data_shards];
  size_t available_count = 0, lost_count = 0;
  for (int i = 0; i < shards; ++i) {
    if (i < data_shards && i % 5 == 0) {
      lost[lost_count++] = (uint16_t)i;
    } else {
      available[available_count++] = (uint16_t)i;
    }
  }
  calpe_plan* plan = NULL;
  CHECK_OK(
      calpe_plan_decode(codec, available, available_count, lost, lost_count, NULL, &plan, &error));
  CHECK(calpe_plan_reads(plan, reads, data_shards) == data_shards);
  CHECK(calpe_plan_coefficients(plan, NULL, 0) == 0);
  const void* inputs[data_shards];
  void* outputs[parity_shards];
  for (int i = 0; i < data_shards; ++i)
    inputs[i] = stripe[reads[i]];
  for (int i = 0; i < parity_shards; ++i)
    outputs[i] = rebuilt[i];
  CHECK_OK(calpe_run(codec, plan, inputs, outputs, bytes, 0, &error));
  for (int i = 0; i < parity_shards; ++i)
    CHECK(memcmp(rebuilt[i], stripe[lost[i]], bytes) == 0);
  calpe_plan_destroy(plan);

  /* A whole stripe. */
  uint8_t present[shards];
  void* places[shards];
  for (int i = 0; i < shards; ++i) {
    present[i] = i != 7 && i != 1100;
    places[i] = stripe[i];
  }
  unsigned char kept[2][parity_bytes];
  (void)memcpy(kept[0], stripe[7], parity_bytes);
  (void)memcpy(kept[1], stripe[1100], parity_bytes);
  (void)memset(stripe[7], 0, bytes);
  (void)memset(stripe[1100], 0, parity_bytes);
  CHECK_OK(calpe_rebuild(codec, places, present, bytes, 0, &error));
  CHECK(memcmp(kept[0], stripe[7], bytes) == 0 && memcmp(kept[1], stripe[1100], parity_bytes) == 0);

  /* An update, then a wrong shard. */
  unsigned char delta[64];
  for (int i = 0; i < 64; ++i) {
    delta[i] = next_byte();
    stripe[999][100 + i] ^= delta[i];
  }
  CHECK_OK(calpe_update(codec, 999, 100, delta, sizeof delta, NULL, 0, parity, bytes, &error));
  CHECK_OK(calpe_locate(codec, all, bytes, NULL, 0, wrong, shards, &wrong_count, &error));
  CHECK(wrong_count == 0);
  stripe[500][17] ^= 1;
  CHECK_OK(calpe_locate(codec, all, bytes, NULL, 0, wrong, shards, &wrong_count, &error));
  CHECK(wrong_count == 1 && wrong[0] == 500);
}

int main(void) {
  calpe_codec* codec = make_codec();
  test_stripe(codec);
  calpe_codec_destroy(codec);
  return failures != 0;
}
