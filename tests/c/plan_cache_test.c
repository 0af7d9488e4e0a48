/* SPDX-License-Identifier: Apache-2.0 */
/* All 6,195 loss patterns of 16+4, with codecs that cache 1,024, three or no plans: twice in one
 * order and once in the other, so that plans are found, evicted and made again. Each plan
 * rebuilds the bytes of the lost shards. */
#include <stdint.h>
#include <stdlib.h>

#include <calpe/calpe.h>

#include "check.h"

enum { DATA = 16, PARITY = 4, SHARDS = DATA + PARITY, BYTES = 32, PATTERNS = 6195 };

static unsigned char stripe[SHARDS][BYTES];
static uint32_t patterns[PATTERNS];

static unsigned ones(uint32_t bits) {
  unsigned count = 0;
  for (; bits != 0; bits &= bits - 1)
    ++count;
  return count;
}

static void rebuild(const calpe_codec* codec, uint32_t lost) {
  uint16_t available[SHARDS], wanted[SHARDS], reads[SHARDS];
  size_t available_count = 0, wanted_count = 0, i;
  unsigned char rebuilt[PARITY][BYTES];
  const void* inputs[SHARDS];
  void* outputs[PARITY];
  calpe_error error;
  calpe_plan* plan = NULL;
  for (i = 0; i < SHARDS; ++i) {
    if ((lost >> i & 1) != 0) {
      wanted[wanted_count++] = (uint16_t)i;
    } else {
      available[available_count++] = (uint16_t)i;
    }
  }
  CHECK_OK(calpe_plan_decode(codec, available, available_count, wanted, wanted_count, NULL, &plan,
                             &error));
  if (plan == NULL) return;
  CHECK(calpe_plan_reads(plan, reads, SHARDS) == DATA);
  for (i = 0; i < DATA; ++i) {
    CHECK((lost >> reads[i] & 1) == 0);
    inputs[i] = stripe[reads[i]];
  }
  for (i = 0; i < wanted_count; ++i)
    outputs[i] = rebuilt[i];
  memset(rebuilt, 0xEE, sizeof rebuilt);
  CHECK_OK(calpe_decode(codec, plan, inputs, outputs, BYTES, &error));
  for (i = 0; i < wanted_count; ++i)
    CHECK(memcmp(rebuilt[i], stripe[wanted[i]], BYTES) == 0);
  calpe_plan_destroy(plan);
}

static unsigned overflow(uint32_t entries) {
  calpe_spec spec = {0};
  calpe_options options = {0};
  calpe_codec* codec = NULL;
  calpe_error error;
  const void* data[DATA];
  void* parity[PARITY];
  unsigned rebuilt = 0;
  size_t i;
  spec.struct_size = sizeof spec;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  options.struct_size = sizeof options;
  options.plan_cache_entries = entries;
  CHECK_OK(calpe_codec_create(&spec, &options, &codec, &error));
  if (codec == NULL) return 0;
  for (i = 0; i < SHARDS; ++i)
    if (i < DATA) {
      data[i] = stripe[i];
    } else {
      parity[i - DATA] = stripe[i];
    }
  CHECK_OK(calpe_encode(codec, data, parity, BYTES, &error));
  for (i = 0; i < 2 * PATTERNS; ++i, ++rebuilt)
    rebuild(codec, patterns[i % PATTERNS]);
  for (i = PATTERNS; i-- > 0; ++rebuilt)
    rebuild(codec, patterns[i]);
  calpe_codec_destroy(codec);
  return rebuilt;
}

int main(void) {
  uint32_t lost;
  size_t count = 0, i, j;
  unsigned rebuilt = 0;
  for (lost = 1; lost < (uint32_t)1 << SHARDS; ++lost) {
    if (ones(lost) > PARITY) continue;
    CHECK(count < PATTERNS);
    if (count < PATTERNS) patterns[count++] = lost;
  }
  CHECK(count == PATTERNS);
  for (i = 0; i < DATA; ++i) {
    for (j = 0; j < BYTES; ++j)
      stripe[i][j] = (unsigned char)(i * 37 + j * 11 + i * j);
  }
  rebuilt += overflow(0); /* 1,024 */
  rebuilt += overflow(3);
  rebuilt += overflow(UINT32_MAX); /* none */
  CHECK(rebuilt == 9 * PATTERNS);
  printf("%u rebuilds of %u patterns through caches of 1024, 3 and no plans\n", rebuilt,
         (unsigned)count);
  return failures != 0;
}
