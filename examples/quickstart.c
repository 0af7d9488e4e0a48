/* SPDX-License-Identifier: Apache-2.0 */
/* quickstart.cpp in C: encodes 4+2, loses two shards and rebuilds them. */
#include <stdio.h>
#include <string.h>

#include <calpe/calpe.h>

enum { data_shards = 4, parity_shards = 2, shard_bytes = 1000 };

static unsigned char shards[data_shards + parity_shards][shard_bytes];
static unsigned char rebuilt[2][shard_bytes];

int main(void) {
  calpe_spec spec = {0};
  calpe_codec* codec = NULL;
  calpe_plan* plan = NULL;
  calpe_error error;
  const void *data[data_shards], *survivors[data_shards];
  void *parity[parity_shards] = {shards[4], shards[5]}, *outputs[2] = {rebuilt[0], rebuilt[1]};
  const uint16_t available[] = {0, 2, 4, 5}, wanted[] = {1, 3};
  uint16_t reads[data_shards];
  size_t i, count;

  spec.struct_size = sizeof spec;
  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  if (calpe_codec_create(&spec, NULL, &codec, &error)) goto failed;
  for (i = 0; i < data_shards; ++i) {
    memset(shards[i], (int)i + 65, shard_bytes);
    data[i] = shards[i];
  }
  if (calpe_encode(codec, data, parity, shard_bytes, &error)) goto failed;

  if (calpe_plan_decode(codec, available, 4, wanted, 2, NULL, &plan, &error)) goto failed;
  count = calpe_plan_reads(plan, reads, data_shards);
  for (i = 0; i < count; ++i)
    survivors[i] = shards[reads[i]];
  if (calpe_decode(codec, plan, survivors, outputs, shard_bytes, &error)) goto failed;

  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
  if (memcmp(rebuilt[0], shards[1], shard_bytes) || memcmp(rebuilt[1], shards[3], shard_bytes)) {
    return puts("wrong bytes"), 1;
  }
  return puts("rebuilt 2 of 2 shards"), 0;

failed:
  fprintf(stderr, "%s\n", error.message);
  return 1;
}
