/* SPDX-License-Identifier: Apache-2.0 */
/* Codes many small stripes in one call, and lets a thread or a device work in the background.
 *
 * usage: batch [BACKEND]     (default: auto; `calpe devices` lists the names) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calpe/calpe.h>

enum { data_shards = 10, parity_shards = 4, stripe_count = 64, shard_bytes = 4096, lost_count = 2 };

/* Pointers to the shards of one stripe, in the order of the plan's reads and writes. */
typedef struct stripe_buffers {
  const void* data[data_shards];
  void* parity[parity_shards];
  const void* survivors[data_shards];
  void* rebuilt[lost_count];
} stripe_buffers;

static unsigned char shards[stripe_count][data_shards + parity_shards][shard_bytes];
static unsigned char rebuilt[stripe_count][lost_count][shard_bytes];
static stripe_buffers buffers[stripe_count];
static calpe_stripe stripes[stripe_count];

int main(int argc, char** argv) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_options options = CALPE_OPTIONS_INIT;
  calpe_codec* codec = NULL;
  calpe_plan *encode = NULL, *decode = NULL;
  calpe_pending* pending = NULL;
  calpe_error error;
  const uint16_t lost[lost_count] = {3, 7};
  uint16_t available[data_shards + parity_shards], reads[data_shards];
  size_t s, i, available_count = 0, read_count, wrong = 0;

  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  options.backend = argc > 1 ? argv[1] : NULL;
  options.threads = 2;
  if (calpe_codec_create(&spec, &options, &codec, &error)) goto failed;
  if (calpe_plan_encode(codec, &encode, &error)) goto failed;
  for (i = 0; i < data_shards + parity_shards; ++i)
    if (i != lost[0] && i != lost[1]) available[available_count++] = (uint16_t)i;
  if (calpe_plan_decode(codec, available, available_count, lost, lost_count, NULL, &decode, &error))
    goto failed;
  read_count = calpe_plan_reads(decode, reads, data_shards);

  for (s = 0; s < stripe_count; ++s) {
    for (i = 0; i < data_shards; ++i) {
      memset(shards[s][i], (int)(s * 31 + i + 1), shard_bytes);
      buffers[s].data[i] = shards[s][i];
    }
    for (i = 0; i < parity_shards; ++i)
      buffers[s].parity[i] = shards[s][data_shards + i];
    for (i = 0; i < read_count; ++i)
      buffers[s].survivors[i] = shards[s][reads[i]];
    for (i = 0; i < lost_count; ++i)
      buffers[s].rebuilt[i] = rebuilt[s][i];
    stripes[s] = (calpe_stripe){buffers[s].data, buffers[s].parity, shard_bytes};
  }
  if (calpe_run_batch(codec, encode, stripes, stripe_count, 0, &error)) goto failed;

  /* The codec's threads or the device work in the background. Do not touch the shards before
   * calpe_wait() returns. */
  for (s = 0; s < stripe_count; ++s)
    stripes[s] = (calpe_stripe){buffers[s].survivors, buffers[s].rebuilt, shard_bytes};
  if (calpe_submit(codec, decode, stripes, stripe_count, 0, &pending, &error)) goto failed;
  puts("doing something else meanwhile");
  if (calpe_wait(pending, &error)) goto failed;

  for (s = 0; s < stripe_count; ++s)
    for (i = 0; i < lost_count; ++i)
      wrong += memcmp(rebuilt[s][i], shards[s][lost[i]], shard_bytes) != 0;
  printf("%d stripes on %s: rebuilt %d shards, %d wrong\n", stripe_count,
         calpe_codec_backend(codec), stripe_count * lost_count, (int)wrong);
  calpe_plan_destroy(encode);
  calpe_plan_destroy(decode);
  calpe_codec_destroy(codec);
  return wrong != 0;

failed:
  fprintf(stderr, "%s\n", error.message);
  return 1;
}
