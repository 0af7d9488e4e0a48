/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: calpe_rebuild() and calpe_rebuild_batch() for every loss of small codes. */
#include <calpe/calpe.h>

#include "check.h"

#define SHARDS_MAX 8
#define BYTES_MAX 112

static calpe_error error;
static unsigned char whole[SHARDS_MAX][BYTES_MAX];
static unsigned char now[SHARDS_MAX][BYTES_MAX];
static void* shards[SHARDS_MAX]; /* of now */
static uint8_t present[SHARDS_MAX];

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0')
#define SAYS(words) CHECK(strstr(error.message, words) != NULL)

static calpe_codec* make_codec(const calpe_spec* spec, size_t bytes) {
  calpe_codec* codec = NULL;
  void* all[SHARDS_MAX];
  CHECK_OK(calpe_codec_create(spec, NULL, &codec, &error));
  for (unsigned i = 0; i < SHARDS_MAX; ++i) {
    for (unsigned b = 0; b < BYTES_MAX; ++b)
      whole[i][b] = (unsigned char)(31 * i + 7 * b + b * b * i);
    all[i] = whole[i];
  }
  CHECK_OK(calpe_encode(codec, (const void* const*)all, &all[spec->data_shards], bytes, &error));
  return codec;
}

/* Copies the stripe without the shards of `mask`. Returns their number. */
static unsigned lose(unsigned mask, unsigned count) {
  unsigned lost = 0;
  (void)memcpy(now, whole, sizeof now);
  for (unsigned i = 0; i < count; ++i) {
    shards[i] = now[i];
    present[i] = (mask >> i & 1) == 0;
    if (present[i]) continue;
    (void)memset(now[i], 0xA5, BYTES_MAX);
    ++lost;
  }
  return lost;
}

/* Compares the shards; of missing parity nothing is written if data_only. */
static int is_rebuilt(const calpe_codec* codec, const calpe_spec* spec, size_t bytes,
                      int data_only) {
  const unsigned count = spec->data_shards + spec->parity_shards;
  for (unsigned i = 0; i < count; ++i) {
    const int is_data = i < spec->data_shards;
    const size_t length = is_data ? bytes : calpe_parity_bytes(codec, bytes);
    const int is_left = data_only && !is_data && !present[i];
    if (is_left ? now[i][0] != 0xA5 : memcmp(now[i], whole[i], length) != 0) return 0;
    /* Nothing is written after the end. */
    if (!present[i] && now[i][length] != 0xA5) return 0;
  }
  return 1;
}

static void test_every_loss(void) {
  static const calpe_spec specs[] = {
      {sizeof(calpe_spec), 0, 0, 4, 2, 0, 0, 0, 0, 0},
      {sizeof(calpe_spec), CALPE_FAMILY_LCH, 0, 3, 3, 0, 0, 0, 0, 0},
      {sizeof(calpe_spec), CALPE_FAMILY_LRC, 0, 4, 4, 0, 0, 0, 2, 0},
      {sizeof(calpe_spec), CALPE_FAMILY_CAUCHY, CALPE_LAYOUT_PACKETS, 4, 2, 0, 0, 8, 0, 0}};
  for (size_t s = 0; s < sizeof specs / sizeof *specs; ++s) {
    const calpe_spec* const spec = &specs[s];
    const unsigned count = spec->data_shards + spec->parity_shards;
    const size_t bytes = 97;
    calpe_codec* const codec = make_codec(spec, bytes);
    calpe_proof proof = {sizeof proof, 0, 0, 0, 0, {0}, {0}};
    calpe_codec_proof(codec, &proof);
    for (unsigned mask = 0; mask < 1u << count; ++mask) {
      for (int data_only = 0; data_only < 2; ++data_only) {
        const unsigned lost = lose(mask, count);
        const calpe_status status = calpe_rebuild(codec, shards, present, bytes,
                                                  data_only ? CALPE_REBUILD_DATA_ONLY : 0, &error);
        CHECK(status == CALPE_OK || status == CALPE_ERROR_UNRECOVERABLE);
        CHECK(status == CALPE_OK || lost > proof.losses);
        CHECK(status != CALPE_OK || is_rebuilt(codec, spec, bytes, data_only));
      }
    }
    calpe_codec_destroy(codec);
  }
}

static void test_null(void) {
  static const calpe_spec spec = {sizeof spec, 0, 0, 4, 2, 0, 0, 0, 0, 0};
  void* nothing[SHARDS_MAX] = {NULL};
  calpe_codec* const codec = make_codec(&spec, 100);
  /* A missing shard without a buffer is not rebuilt. */
  (void)lose(1u << 1 | 1u << 5, 6);
  shards[5] = NULL;
  CHECK_OK(calpe_rebuild(codec, shards, present, 100, CALPE_RUN_CACHED, &error));
  CHECK(memcmp(now[1], whole[1], 100) == 0 && now[5][0] == 0xA5);
  shards[1] = NULL;
  REFUSED(calpe_rebuild(codec, shards, present, 100, 0, &error));
  SAYS("shards[1] is missing and has no buffer");
  shards[2] = NULL;
  REFUSED(calpe_rebuild(codec, shards, present, 100, 0, &error));
  SAYS("shards[2] is NULL but present[2] is 1");
  CHECK_OK(calpe_rebuild(codec, nothing, present, 0, 0, &error)); /* nothing to read or write */
  REFUSED(calpe_rebuild(NULL, shards, present, 100, 0, &error));
  REFUSED(calpe_rebuild(codec, NULL, present, 100, 0, &error));
  REFUSED(calpe_rebuild(codec, shards, NULL, 100, 0, &error));

  (void)lose(1u << 1, 6);
  REFUSED(calpe_rebuild(codec, shards, present, 100, CALPE_RUN_ACCUMULATE, &error));
  REFUSED(
      calpe_rebuild(codec, shards, present, 100, CALPE_RUN_CACHED | CALPE_RUN_STREAMING, &error));
  REFUSED(calpe_rebuild(codec, shards, present, SIZE_MAX, 0, &error));
  shards[1] = shards[3];
  REFUSED(calpe_rebuild(codec, shards, present, 100, 0, &error));
  SAYS("shards[1] overlaps shards[3]");
  (void)lose(7u, 6);
  CHECK(calpe_rebuild(codec, shards, present, 100, 0, NULL) == CALPE_ERROR_UNRECOVERABLE);
  CHECK(calpe_rebuild(codec, shards, present, 100, 0, &error) == CALPE_ERROR_UNRECOVERABLE);
  SAYS("needed: any 4");
  calpe_codec_destroy(codec);
}

static void test_batch(void) {
  static const calpe_spec spec = {sizeof spec, 0, 0, 4, 2, 0, 0, 0, 0, 0};
  calpe_codec* const codec = make_codec(&spec, 100);
  (void)lose(1u << 0 | 1u << 4, 6);
  /* The second stripe is a part of the first, elsewhere. Columns are independent. */
  static unsigned char other[6][40];
  void* others[6];
  for (unsigned i = 0; i < 6; ++i) {
    (void)memcpy(other[i], now[i], 40);
    others[i] = other[i];
  }
  const calpe_whole_stripe batch[] = {{shards, 100}, {others, 40}};
  CHECK_OK(calpe_rebuild_batch(codec, batch, 2, present, CALPE_RUN_STREAMING, &error));
  CHECK(is_rebuilt(codec, &spec, 100, 0));
  CHECK(memcmp(other[0], whole[0], 40) == 0 && memcmp(other[4], whole[4], 40) == 0);
  CHECK_OK(calpe_rebuild_batch(codec, NULL, 0, present, 0, &error));

  REFUSED(calpe_rebuild_batch(NULL, batch, 2, present, 0, &error));
  REFUSED(calpe_rebuild_batch(codec, NULL, 2, present, 0, &error));
  REFUSED(calpe_rebuild_batch(codec, batch, 2, NULL, 0, &error));
  REFUSED(calpe_rebuild_batch(codec, batch, SIZE_MAX, present, 0, &error));
  REFUSED(calpe_rebuild_batch(codec, batch, 2, present, CALPE_RUN_ACCUMULATE, &error));
  others[3] = NULL;
  REFUSED(calpe_rebuild_batch(codec, batch, 2, present, 0, &error));
  SAYS("stripes[1].shards[3] is NULL");
  const calpe_whole_stripe empty = {NULL, 40};
  REFUSED(calpe_rebuild_batch(codec, &empty, 1, present, 0, &error));
  SAYS("stripes[0].shards is NULL");
  calpe_codec_destroy(codec);
}

int main(void) {
  test_every_loss();
  test_null();
  test_batch();
  return failures == 0 ? 0 : 1;
}
