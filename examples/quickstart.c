/* SPDX-License-Identifier: Apache-2.0 */
/* quickstart.cpp in C: encodes 4+2, loses two shards and rebuilds them. */
#include <stdio.h>
#include <string.h>

#include <calpe/calpe.h>

enum { data_shards = 4, parity_shards = 2, shard_bytes = 1000 };

static unsigned char shards[data_shards + parity_shards][shard_bytes];
static unsigned char whole[data_shards + parity_shards][shard_bytes];

int main(void) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  calpe_error error;
  const void* data[data_shards];
  void* all[data_shards + parity_shards];
  const uint8_t present[] = {1, 0, 1, 0, 1, 1}; /* shards 1 and 3 are lost */
  size_t i;

  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  if (calpe_codec_create(&spec, NULL, &codec, &error)) goto failed;
  for (i = 0; i < data_shards + parity_shards; ++i)
    all[i] = shards[i];
  for (i = 0; i < data_shards; ++i)
    data[i] = memset(shards[i], (int)i + 65, shard_bytes);
  if (calpe_encode(codec, data, &all[data_shards], shard_bytes, &error)) goto failed;

  memcpy(whole, shards, sizeof shards);
  memset(shards[1], 0, shard_bytes);
  memset(shards[3], 0, shard_bytes);
  if (calpe_rebuild(codec, all, present, shard_bytes, 0, &error)) goto failed;
  calpe_codec_destroy(codec);
  if (memcmp(shards, whole, sizeof shards)) return puts("wrong bytes"), 1;
  return puts("rebuilt 2 of 2 shards"), 0;

failed:
  fprintf(stderr, "%s\n", error.message);
  return 1;
}
