/* SPDX-License-Identifier: Apache-2.0 */
/* Loses and rebuilds a shard, using only the installed header and library. */
#include <stdio.h>
#include <string.h>

#include <calpe/calpe.h>

enum { shard_bytes = 1000 };

static int fail(const char* step, const calpe_error* error) {
  fprintf(stderr, "outside: %s: %s\n", step, error->message);
  return 1;
}

int main(void) {
  static unsigned char first[shard_bytes], second[shard_bytes], sum[shard_bytes];
  static unsigned char rebuilt[shard_bytes];
  const uint16_t available[2] = {0, 2}, wanted[1] = {1};
  const void *data[2], *survivors[2];
  void *parity[1], *outputs[1];
  calpe_spec spec;
  calpe_codec* codec = NULL;
  calpe_plan* plan = NULL;
  calpe_error error;
  int i, sound;

  memset(&spec, 0, sizeof spec);
  spec.struct_size = sizeof spec;
  spec.data_shards = 2;
  spec.parity_shards = 1;
  if (calpe_codec_create(&spec, NULL, &codec, &error)) return fail("create", &error);

  for (i = 0; i < shard_bytes; ++i) {
    first[i] = (unsigned char)i;
    second[i] = (unsigned char)(i * 7 + 3);
  }
  data[0] = survivors[0] = first;
  data[1] = second;
  survivors[1] = parity[0] = sum;
  outputs[0] = rebuilt;
  if (calpe_encode(codec, data, parity, shard_bytes, &error)) return fail("encode", &error);
  if (calpe_plan_decode(codec, available, 2, wanted, 1, NULL, &plan, &error)) {
    return fail("plan", &error);
  }
  if (calpe_decode(codec, plan, survivors, outputs, shard_bytes, &error)) {
    return fail("decode", &error);
  }

  sound = memcmp(rebuilt, second, shard_bytes) == 0;
  printf("calpe %s on %s: %s\n", calpe_version_string(), calpe_codec_backend(codec),
         sound ? "rebuilt" : "wrong bytes");
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
  return sound ? 0 : 1;
}
