/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: errors name the caller's parameter and its index. */
#include <calpe/calpe.h>

#include "check.h"

#define DATA 4
#define PARITY 2
#define SHARDS 6
#define BYTES 32
#define STRIPES 100

static calpe_codec* codec;
static calpe_plan* plan; /* rebuilds shards 1 and 4 from 0, 2, 3 and 5 */
static calpe_error error;
static unsigned char memory[SHARDS][BYTES];
/* Restored before each call. */
static const void* data[DATA];
static void* parity[PARITY];
static const void* checks[PARITY];
static const void* survivors[DATA];
static void* rebuilt[PARITY];
static void* shards[SHARDS];
static const void* all[SHARDS];
static calpe_stripe stripes[STRIPES];
static calpe_whole_stripe whole[3];
static void* bad_shards[SHARDS];
static const void* bad_inputs[DATA];
static void* bad_outputs[PARITY];
static uint16_t wrong[SHARDS];
static size_t wrong_count;

static void restore(void) {
  static const int reads[DATA] = {0, 2, 3, 5};
  static const int writes[PARITY] = {1, 4};
  size_t i;
  for (i = 0; i < SHARDS; ++i)
    all[i] = shards[i] = bad_shards[i] = memory[i];
  for (i = 0; i < DATA; ++i) {
    data[i] = memory[i];
    survivors[i] = bad_inputs[i] = memory[reads[i]];
  }
  for (i = 0; i < PARITY; ++i) {
    checks[i] = parity[i] = memory[DATA + i];
    rebuilt[i] = bad_outputs[i] = memory[writes[i]];
  }
  for (i = 0; i < STRIPES; ++i) {
    stripes[i].inputs = i == 70 ? bad_inputs : survivors;
    stripes[i].outputs = i == 70 ? bad_outputs : rebuilt;
    stripes[i].shard_bytes = BYTES;
  }
  for (i = 0; i < 3; ++i) {
    whole[i].shards = i == 2 ? bad_shards : shards;
    whole[i].shard_bytes = BYTES;
  }
}

/* Makes one mistake, and expects the message of the call. */
#define SAYS(mistake, call, text)                                                        \
  do {                                                                                   \
    restore();                                                                           \
    mistake;                                                                             \
    CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT);                                       \
    if (strcmp(error.message, text) != 0) {                                              \
      fprintf(stderr, "%s:%d: %s, not %s\n", __FILE__, __LINE__, error.message, (text)); \
      ++failures;                                                                        \
    }                                                                                    \
  } while (0)

static void test_stripes(void) {
#define ENCODE calpe_encode(codec, data, parity, BYTES, &error)
#define DECODE calpe_decode(codec, plan, survivors, rebuilt, BYTES, &error)
#define RUN calpe_run(codec, plan, survivors, rebuilt, BYTES, 0, &error)
  SAYS(data[3] = NULL, ENCODE, "data[3] is NULL; expected 32 bytes");
  SAYS(parity[1] = NULL, ENCODE, "parity[1] is NULL; expected 32 bytes");
  SAYS((void)0, calpe_encode(codec, NULL, parity, BYTES, &error),
       "data is NULL; expected 4 addresses");
  SAYS((void)0, calpe_encode(NULL, data, parity, BYTES, &error), "codec is NULL");
  SAYS(parity[1] = memory[2], ENCODE, "parity[1] overlaps data[2]; expected separate memory");
  SAYS(survivors[3] = NULL, DECODE, "survivors[3] is NULL; expected 32 bytes");
  SAYS(rebuilt[1] = NULL, DECODE, "rebuilt[1] is NULL; expected 32 bytes");
  SAYS(rebuilt[1] = memory[1], DECODE, "rebuilt[1] overlaps rebuilt[0]; expected separate memory");
  SAYS((void)0, calpe_decode(codec, NULL, survivors, rebuilt, BYTES, &error), "plan is NULL");
  SAYS(survivors[3] = NULL, RUN, "inputs[3] is NULL; expected 32 bytes");
  SAYS(rebuilt[1] = NULL, RUN, "outputs[1] is NULL; expected 32 bytes");
  SAYS(rebuilt[1] = memory[3], RUN, "outputs[1] overlaps inputs[2]; expected separate memory");
  SAYS((void)0, calpe_run(codec, plan, survivors, NULL, BYTES, 0, &error),
       "outputs is NULL; expected 2 addresses");
}

/* Stripe 70 is not among the first that the library takes at once. */
static void test_batches(void) {
  calpe_pending* pending = NULL;
#define BATCH calpe_run_batch(codec, plan, stripes, STRIPES, 0, &error)
#define SUBMIT calpe_submit(codec, plan, stripes, STRIPES, 0, &pending, &error)
  SAYS(bad_inputs[3] = NULL, BATCH, "stripes[70].inputs[3] is NULL; expected 32 bytes");
  SAYS(bad_inputs[3] = NULL, SUBMIT, "stripes[70].inputs[3] is NULL; expected 32 bytes");
  SAYS(bad_outputs[1] = NULL, BATCH, "stripes[70].outputs[1] is NULL; expected 32 bytes");
  SAYS(stripes[70].inputs = NULL, BATCH, "stripes[70].inputs is NULL; expected 4 addresses");
  SAYS(stripes[70].outputs = NULL, SUBMIT, "stripes[70].outputs is NULL; expected 2 addresses");
  SAYS(bad_outputs[1] = memory[2], BATCH,
       "stripes[70].outputs[1] overlaps stripes[70].inputs[1]; expected separate memory");
  SAYS(bad_outputs[1] = memory[2], SUBMIT,
       "stripes[70].outputs[1] overlaps stripes[70].inputs[1]; expected separate memory");
  SAYS((void)0, calpe_run_batch(codec, plan, NULL, 1, 0, &error), "stripes is NULL");
  CHECK(pending == NULL);
}

static calpe_const_piece read[DATA][2];
static calpe_piece written[PARITY][2];
static calpe_const_pieces in[DATA];
static calpe_pieces out[PARITY];

static void restore_pieces(void) {
  size_t i, p;
  for (i = 0; i < DATA; ++i) {
    in[i].pieces = read[i];
    in[i].count = 2;
    for (p = 0; p < 2; ++p) {
      read[i][p].data = &memory[i][7 * p];
      read[i][p].bytes = p == 0 ? 7 : BYTES - 7;
    }
  }
  for (i = 0; i < PARITY; ++i) {
    out[i].pieces = written[i];
    out[i].count = 2;
    for (p = 0; p < 2; ++p) {
      written[i][p].data = &memory[DATA + i][7 * p];
      written[i][p].bytes = p == 0 ? 7 : BYTES - 7;
    }
  }
}

static void test_pieces(void) {
#define PIECES calpe_run_pieces(codec, plan, in, out, 0, &error)
  restore_pieces();
  SAYS(read[3][1].data = NULL, PIECES, "inputs[3].pieces[1].data is NULL; expected 25 bytes");
  restore_pieces();
  SAYS(in[3].pieces = NULL, PIECES, "inputs[3].pieces is NULL; expected 2 pieces");
  restore_pieces();
  SAYS(written[0][1].bytes = 24, PIECES, "outputs[0] has 31 bytes; expected 32 like inputs[0]");
  restore_pieces();
  SAYS(written[1][0].data = memory[3], PIECES,
       "outputs[1].pieces[0] overlaps inputs[3].pieces[0]; expected separate memory");
  SAYS((void)0, calpe_run_pieces(codec, plan, NULL, out, 0, &error),
       "inputs is NULL; expected 4 shards");
}

static void test_others(void) {
  static const uint8_t present[SHARDS] = {1, 0, 1, 1, 0, 1};
  static unsigned char delta[4];
  size_t data_bytes[DATA];
#define UPDATE calpe_update(codec, 0, 0, delta, 4, NULL, 0, parity, BYTES, &error)
  SAYS(parity[1] = NULL, UPDATE, "parity[1] is NULL; expected 32 bytes");
  SAYS(parity[1] = parity[0], UPDATE, "parity[1] overlaps parity[0]; expected separate memory");
  SAYS((void)0, calpe_update(codec, 0, 29, delta, 4, NULL, 0, parity, BYTES, &error),
       "delta has 4 bytes from offset 29; expected to end within shard_bytes, 32");
  SAYS((void)0, calpe_update(codec, 0, 0, NULL, 4, NULL, 0, parity, BYTES, &error),
       "delta is NULL");
  SAYS((void)0, calpe_update_from(codec, 0, 0, delta, NULL, 4, NULL, 0, parity, BYTES, &error),
       "new_bytes is NULL");
#define VERIFY calpe_verify(codec, data, checks, BYTES, wrong, SHARDS, &wrong_count, &error)
  SAYS(data[2] = NULL, VERIFY, "data[2] is NULL; expected 32 bytes");
  SAYS(checks[1] = NULL, VERIFY, "parity[1] is NULL; expected 32 bytes");
#define LOCATE calpe_locate(codec, all, BYTES, NULL, 0, wrong, SHARDS, &wrong_count, &error)
  SAYS(all[5] = NULL, LOCATE, "shards[5] is NULL; expected 32 bytes, or 5 in missing");
#define REBUILD calpe_rebuild(codec, shards, present, BYTES, 0, &error)
  SAYS(shards[5] = NULL, REBUILD,
       "shards[5] is NULL but present[5] is 1; pass the shard, or 0 in present if it is lost");
  SAYS(shards[4] = memory[2], REBUILD, "shards[4] overlaps shards[2]; expected separate memory");
#define REBUILD_BATCH calpe_rebuild_batch(codec, whole, 3, present, 0, &error)
  SAYS(bad_shards[5] = NULL, REBUILD_BATCH,
       "stripes[2].shards[5] is NULL but present[5] is 1; pass the shard, or 0 in present if it is "
       "lost");
  SAYS(bad_shards[4] = memory[2], REBUILD_BATCH,
       "stripes[2].shards[4] overlaps stripes[2].shards[2]; expected separate memory");
  SAYS(parity[1] = NULL, calpe_encode_object(codec, memory, 100, parity, 25, &error),
       "parity[1] is NULL; expected 25 bytes");
  SAYS(parity[1] = memory[0], calpe_encode_object(codec, memory, 100, parity, 25, &error),
       "parity[1] overlaps object; expected separate memory");
  SAYS((void)0, calpe_split(codec, memory, 100, 24, data, data_bytes, &error),
       "shard_bytes is 24; expected at least 25 as object has 100 bytes");
  SAYS((void)0, calpe_add(memory[0], memory[0], 4, &error),
       "target overlaps addend; expected separate memory");
  SAYS((void)0, calpe_add(memory[0], NULL, 4, &error), "addend is NULL");
}

int main(void) {
  static const uint16_t available[] = {0, 2, 3, 5}, wanted[] = {1, 4};
  calpe_spec spec = CALPE_SPEC_INIT;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  CHECK_OK(calpe_plan_decode(codec, available, DATA, wanted, PARITY, NULL, &plan, &error));
  restore();
  CHECK_OK(ENCODE);
  CHECK_OK(BATCH);
  test_stripes();
  test_batches();
  test_pieces();
  test_others();
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
  return failures == 0 ? 0 : 1;
}
