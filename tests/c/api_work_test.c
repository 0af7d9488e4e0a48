/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: plans and work, on a stripe of 5+4 with shards of 1003 bytes. */
#include <stdlib.h>

#include <calpe/calpe.h>

#include "check.h"

#define DATA 5
#define PARITY 4
#define SHARDS (DATA + PARITY)
#define BYTES 1003

static calpe_error error;
static calpe_codec* codec;
static unsigned char stripe[SHARDS][BYTES];
static unsigned char spare[SHARDS][BYTES];
static const void* shards[SHARDS]; /* of the stripe */
static void* parity[PARITY];
static void* spares[SHARDS];

static void fill(unsigned char* bytes, unsigned seed) {
  for (size_t i = 0; i < BYTES; ++i) {
    seed = seed * 1103515245u + 12345u;
    bytes[i] = (unsigned char)(seed >> 16);
  }
}

static void set_up(void) {
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  for (unsigned i = 0; i < SHARDS; ++i) {
    fill(stripe[i], i + 1);
    shards[i] = stripe[i];
    spares[i] = spare[i];
  }
  for (size_t i = 0; i < PARITY; ++i)
    parity[i] = stripe[DATA + i];
  CHECK_OK(calpe_encode(codec, shards, parity, BYTES, &error));
}

/* P is the XOR of the data, Q the sum of 2^j * data j. One byte by hand: 01, 80, 03: P = 82; Q =
 * 01 ^ 2*80 ^ 4*03 = 01 ^ 1D ^ 0C = 10. */
static void test_known_bytes(void) {
  static const unsigned char d0 = 0x01, d1 = 0x80, d2 = 0x03;
  const void* const data[] = {&d0, &d1, &d2};
  unsigned char p = 0, q = 0;
  void* const out[] = {&p, &q};
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_RAID6, 0, 3, 2, 0, 0, 0, 0, 0};
  calpe_codec* raid6 = NULL;
  CHECK_OK(calpe_codec_create(&spec, NULL, &raid6, &error));
  CHECK_OK(calpe_encode(raid6, data, out, 1, &error));
  CHECK(p == 0x82 && q == 0x10);
  CHECK_OK(calpe_encode(raid6, data, out, 0, &error));
  calpe_codec_destroy(raid6);
}

/* Loses as many shards as the code survives, data and parity. Costs decide which ones are read. */
static void test_decode(void) {
  static const uint16_t left[] = {8, 1, 3, 4, 6}, lost[] = {7, 0, 2, 5};
  calpe_plan* plan = NULL;
  uint16_t indices[SHARDS], cells[SHARDS * SHARDS];
  CHECK_OK(calpe_plan_decode(codec, left, 5, lost, 4, NULL, &plan, &error));
  CHECK(calpe_plan_reads(plan, indices, SHARDS) == 5);
  CHECK(indices[0] == 1 && indices[4] == 8);
  CHECK(calpe_plan_writes(plan, indices, 2) == 4); /* writes no more than fit */
  CHECK(indices[0] == 7 && indices[1] == 0 && indices[2] == 4);
  CHECK(calpe_plan_coefficients(plan, cells, sizeof cells / sizeof *cells) == 20);
  CHECK(cells[0] != 0 && calpe_plan_coefficients(plan, NULL, 0) == 20);
  const void* const in[] = {stripe[1], stripe[3], stripe[4], stripe[6], stripe[8]};
  CHECK_OK(calpe_decode(codec, plan, in, spares, BYTES, &error));
  for (size_t i = 0; i < 4; ++i)
    CHECK(memcmp(spare[i], stripe[lost[i]], BYTES) == 0);
  calpe_plan_destroy(plan);

  static const uint16_t others[] = {1, 2, 3, 4, 5, 6, 7, 8};
  static const uint32_t costs[] = {9, 1, 1, 1, 9, 9, 1, 1};
  CHECK_OK(calpe_plan_decode(codec, others, 8, &lost[1], 1, costs, &plan, &error));
  CHECK(calpe_plan_reads(plan, indices, SHARDS) == 5);
  CHECK(indices[0] == 2 && indices[1] == 3 && indices[2] == 4 && indices[3] == 7);
  CHECK(indices[4] == 8);
  calpe_plan_destroy(plan);
  CHECK(calpe_plan_decode(codec, left, 4, lost, 4, NULL, &plan, &error) ==
        CALPE_ERROR_UNRECOVERABLE);
  CHECK(plan == NULL);
  calpe_plan_destroy(NULL);
}

/* Bytes 100..149 of data shard 2 change. Two parities are updated now, two later. */
static void test_update(void) {
  static const uint16_t first_two[] = {5, 6}, last_two[] = {7, 8};
  unsigned char delta[50];
  (void)memcpy(spare, stripe, sizeof stripe);
  for (size_t i = 0; i < sizeof delta; ++i) {
    delta[i] = (unsigned char)(3 * i + 1);
    spare[2][100 + i] ^= delta[i];
  }
  CHECK_OK(calpe_encode(codec, (const void* const*)spares, &spares[DATA], BYTES, &error));
  CHECK_OK(calpe_update(codec, 2, 100, delta, 50, first_two, 2, parity, BYTES, &error));
  CHECK(memcmp(stripe[5], spare[5], 2 * (size_t)BYTES) == 0);
  CHECK(memcmp(stripe[7], spare[7], BYTES) != 0);
  CHECK_OK(calpe_update(codec, 2, 100, delta, 50, last_two, 2, &parity[2], BYTES, &error));
  CHECK(memcmp(stripe[5], spare[5], 4 * (size_t)BYTES) == 0);
  CHECK_OK(calpe_update(codec, 2, 100, delta, 50, NULL, 0, parity, BYTES, &error)); /* undo */

  /* The same by hand: run a plan with accumulate. */
  calpe_plan* plan = NULL;
  CHECK_OK(calpe_plan_update(codec, 2, NULL, 0, &plan, &error));
  uint16_t index;
  CHECK(calpe_plan_reads(plan, &index, 1) == 1 && index == 2);
  const void* change = delta;
  void* at[PARITY];
  for (size_t i = 0; i < PARITY; ++i)
    at[i] = stripe[DATA + i] + 100;
  CHECK_OK(calpe_run(codec, plan, &change, at, 50, CALPE_RUN_ACCUMULATE, &error));
  CHECK(memcmp(stripe[5], spare[5], 4 * (size_t)BYTES) == 0);
  CHECK_OK(calpe_run(codec, plan, &change, at, 50, CALPE_RUN_ACCUMULATE, &error));
  calpe_plan_destroy(plan);
  CHECK(calpe_update(codec, 2, BYTES - 9, delta, 50, NULL, 0, parity, BYTES, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "delta has 50 bytes from offset") != NULL);

  /* From the old and new bytes of the shard. */
  CHECK_OK(calpe_update_from(codec, 2, 100, &stripe[2][100], &spare[2][100], 50, NULL, 0, parity,
                             BYTES, &error));
  CHECK(memcmp(stripe[5], spare[5], 4 * (size_t)BYTES) == 0);
  CHECK_OK(calpe_update_from(codec, 2, 100, &spare[2][100], &stripe[2][100], 50, last_two, 2,
                             &parity[2], BYTES, &error));
  CHECK_OK(calpe_update_from(codec, 2, 100, &spare[2][100], &stripe[2][100], 50, first_two, 2,
                             parity, BYTES, &error));
  CHECK(calpe_update_from(codec, 2, BYTES - 9, delta, delta, 50, NULL, 0, parity, BYTES, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
}

static void test_verify_and_locate(void) {
  uint16_t wrong[SHARDS];
  size_t count = 99;
  CHECK_OK(calpe_verify(codec, shards, &shards[DATA], BYTES, wrong, SHARDS, &count, &error));
  CHECK(count == 0);
  CHECK_OK(calpe_locate(codec, shards, BYTES, NULL, 0, wrong, SHARDS, &count, &error));
  CHECK(count == 0);

  stripe[7][1002] ^= 1;
  CHECK_OK(calpe_verify(codec, shards, &shards[DATA], BYTES, wrong, SHARDS, &count, &error));
  CHECK(count == 1 && wrong[0] == 7);
  stripe[1][0] ^= 0x40; /* affects all four, but only two fit */
  CHECK_OK(calpe_verify(codec, shards, &shards[DATA], BYTES, wrong, 2, &count, &error));
  CHECK(count == 4 && wrong[0] == 5 && wrong[1] == 6);
  CHECK_OK(calpe_locate(codec, shards, BYTES, NULL, 0, wrong, SHARDS, &count, &error));
  CHECK(count == 2 && wrong[0] == 1 && wrong[1] == 7);

  /* With shard 1 missing, one more wrong shard can be located. */
  static const uint16_t missing[] = {1};
  shards[1] = NULL;
  CHECK_OK(calpe_locate(codec, shards, BYTES, missing, 1, wrong, SHARDS, &count, &error));
  CHECK(count == 1 && wrong[0] == 7);
  shards[1] = stripe[1];
  stripe[4][0] ^= 0x40; /* a third: no shard is named */
  CHECK(calpe_locate(codec, shards, BYTES, NULL, 0, wrong, SHARDS, &count, &error) ==
        CALPE_ERROR_AMBIGUOUS);
  stripe[4][0] ^= 0x40;
  stripe[1][0] ^= 0x40;
  stripe[7][1002] ^= 1;
}

/* Three holders of data compute their shares. The codec adds the first two, the caller adds the
 * third. */
static void test_partial_sums(void) {
  static const uint16_t held[][2] = {{0, 1}, {2, 3}, {4, 0}};
  calpe_plan *whole = NULL, *share = NULL;
  CHECK_OK(calpe_plan_encode(codec, &whole, &error));
  for (size_t h = 0; h < 3; ++h) {
    CHECK_OK(calpe_plan_partial(codec, whole, held[h], h < 2 ? 2 : 1, &share, &error));
    CHECK_OK(calpe_run(codec, share, &shards[2 * h], h < 2 ? spares : &spares[PARITY], BYTES,
                       h == 1 ? CALPE_RUN_ACCUMULATE : 0, &error));
    calpe_plan_destroy(share);
  }
  for (size_t i = 0; i < PARITY; ++i) {
    CHECK_OK(calpe_add(spares[i], spares[PARITY + i], BYTES, &error));
    CHECK(memcmp(spare[i], stripe[DATA + i], BYTES) == 0);
  }
  static const uint16_t stranger[] = {7};
  CHECK(calpe_plan_partial(codec, whole, stranger, 1, &share, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "names shard 7") != NULL);
  CHECK(calpe_add(spares[0], spare[0] + 1, 5, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  calpe_plan_destroy(whole);
}

static void test_batch_and_pieces(void) {
  calpe_plan* plan = NULL;
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  /* Two stripes of different length. Columns are independent, so the second is the head of the
   * first. */
  const calpe_stripe batch[] = {{shards, spares, BYTES}, {shards, &spares[PARITY], 17}};
  CHECK_OK(calpe_run_batch(codec, plan, batch, 2, 0, &error));
  for (size_t i = 0; i < PARITY; ++i) {
    CHECK(memcmp(spare[i], stripe[DATA + i], BYTES) == 0);
    CHECK(memcmp(spare[PARITY + i], stripe[DATA + i], 17) == 0);
  }
  CHECK_OK(calpe_run_batch(codec, plan, NULL, 0, 0, &error));

  /* Each shard in three pieces, one of them empty, cut at different offsets. */
  calpe_const_piece read[DATA][3];
  calpe_piece written[PARITY][3];
  calpe_const_pieces from[DATA];
  calpe_pieces to[PARITY];
  (void)memset(spare, 0, sizeof spare);
#define CUT(list, pieces_of, at, first)     \
  do {                                      \
    (pieces_of)[0].data = (at);             \
    (pieces_of)[0].bytes = (first);         \
    (pieces_of)[1].data = NULL;             \
    (pieces_of)[1].bytes = 0;               \
    (pieces_of)[2].data = (at) + (first);   \
    (pieces_of)[2].bytes = BYTES - (first); \
    (list).pieces = (pieces_of);            \
    (list).count = 3;                       \
  } while (0)
  for (size_t i = 0; i < DATA; ++i)
    CUT(from[i], read[i], stripe[i], 100 * i + 1);
  for (size_t i = 0; i < PARITY; ++i)
    CUT(to[i], written[i], spare[DATA + i], 100 * (DATA + i) + 1);
  CHECK_OK(calpe_run_pieces(codec, plan, from, to, 0, &error));
  CHECK(memcmp(spare[DATA], stripe[DATA], PARITY * (size_t)BYTES) == 0);
  CHECK(calpe_run_pieces(codec, plan, from, to, 8, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  read[0][2].bytes -= 1;
  CHECK(calpe_run_pieces(codec, plan, from, to, 0, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_run(codec, plan, shards, parity, BYTES, 8, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_run_batch(codec, plan, batch, 2, 8, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  calpe_plan_destroy(plan);
}

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT)

static void test_null_is_refused(void) {
  calpe_plan* plan = NULL;
  const void* holes[SHARDS] = {NULL};
  void* out_holes[SHARDS] = {NULL};
  uint16_t wrong[1];
  size_t count;
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  REFUSED(calpe_encode(NULL, shards, parity, BYTES, &error));
  REFUSED(calpe_encode(codec, NULL, parity, BYTES, &error));
  REFUSED(calpe_encode(codec, holes, parity, BYTES, &error));
  REFUSED(calpe_encode(codec, shards, out_holes, BYTES, NULL));
  CHECK_OK(calpe_encode(codec, holes, out_holes, 0, &error)); /* nothing to read or write */
  REFUSED(calpe_run(codec, NULL, shards, parity, BYTES, 0, &error));
  REFUSED(calpe_decode(NULL, plan, shards, parity, BYTES, &error));
  REFUSED(calpe_run_batch(codec, plan, NULL, 1, 0, &error));
  REFUSED(calpe_run_pieces(codec, plan, NULL, NULL, 0, &error));
  REFUSED(calpe_update(codec, 0, 0, NULL, 5, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, 0, stripe[0], 5, NULL, 1, parity, BYTES, &error));
  REFUSED(calpe_update_from(codec, 0, 0, NULL, stripe[0], 5, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update_from(codec, 0, 0, stripe[0], NULL, 5, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_run(codec, plan, shards, parity, BYTES, CALPE_RUN_CACHED | CALPE_RUN_STREAMING,
                    &error));
  CHECK_OK(calpe_run(codec, plan, shards, parity, BYTES, CALPE_RUN_CACHED, &error));
  CHECK_OK(calpe_run(codec, plan, shards, parity, BYTES, CALPE_RUN_STREAMING, &error));
  REFUSED(calpe_verify(codec, shards, &shards[DATA], BYTES, wrong, 1, NULL, &error));
  REFUSED(calpe_locate(codec, holes, BYTES, NULL, 0, wrong, 1, &count, &error));
  REFUSED(calpe_add(NULL, stripe[0], 1, &error));
  CHECK(error.status == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0');
  calpe_plan_destroy(plan);
  REFUSED(calpe_plan_encode(NULL, &plan, &error));
  REFUSED(calpe_plan_update(codec, 9, NULL, 0, &plan, &error));
  REFUSED(calpe_plan_decode(codec, NULL, 5, NULL, 0, NULL, &plan, &error));
  REFUSED(calpe_plan_partial(codec, NULL, NULL, 0, &plan, &error));
}

int main(void) {
  set_up();
  test_known_bytes();
  test_decode();
  test_update();
  test_verify_and_locate();
  test_partial_sums();
  test_batch_and_pieces();
  test_null_is_refused();
  calpe_codec_destroy(codec);
  return failures == 0 ? 0 : 1;
}
