/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: every call refuses NULL and invalid counts and indices. */
#include <calpe/calpe.h>

#include "check.h"

#define DATA 3
#define PARITY 2
#define SHARDS (DATA + PARITY)
#define BYTES 16

static calpe_error error;
static calpe_codec* codec;
static calpe_plan* plan; /* for encoding */
static unsigned char stripe[SHARDS][BYTES];
static const void* shards[SHARDS];
static void* parity[PARITY];
static const void* nothing[SHARDS];
static void* nowhere[SHARDS];

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0')

static void set_up(void) {
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  for (unsigned i = 0; i < SHARDS; ++i)
    shards[i] = stripe[i];
  for (unsigned i = 0; i < PARITY; ++i)
    parity[i] = stripe[DATA + i];
  CHECK_OK(calpe_encode(codec, shards, parity, BYTES, &error));
}

static void test_plans(void) {
  static const uint16_t some[] = {0, 1, 2, 3, 4, 5, 6};
  calpe_plan* made = NULL;
  REFUSED(calpe_plan_encode(NULL, &made, &error));
  REFUSED(calpe_plan_encode(codec, NULL, &error));
  REFUSED(calpe_plan_decode(NULL, some, 3, some, 1, NULL, &made, &error));
  REFUSED(calpe_plan_decode(codec, some, 3, some, 1, NULL, NULL, &error));
  REFUSED(calpe_plan_decode(codec, NULL, 3, some, 1, NULL, &made, &error));
  REFUSED(calpe_plan_decode(codec, some, 3, NULL, 1, NULL, &made, &error));
  REFUSED(calpe_plan_decode(codec, some, 6, some, 1, NULL, &made, &error));
  REFUSED(calpe_plan_decode(codec, some, 3, some, 6, NULL, &made, &error));
  REFUSED(calpe_plan_update(NULL, 0, NULL, 0, &made, &error));
  REFUSED(calpe_plan_update(codec, 0, NULL, 0, NULL, &error));
  REFUSED(calpe_plan_update(codec, 0, NULL, 1, &made, &error));
  REFUSED(calpe_plan_update(codec, DATA, NULL, 0, &made, &error));
  REFUSED(calpe_plan_update(codec, 0, some, 1, &made, &error)); /* 0 is not a parity shard */
  REFUSED(calpe_plan_update(codec, 0, some, 3, &made, &error));
  REFUSED(calpe_plan_partial(NULL, plan, some, 1, &made, &error));
  REFUSED(calpe_plan_partial(codec, NULL, some, 1, &made, &error));
  REFUSED(calpe_plan_partial(codec, plan, some, 1, NULL, &error));
  REFUSED(calpe_plan_partial(codec, plan, NULL, 1, &made, &error));
  REFUSED(calpe_plan_partial(codec, plan, &some[3], 1, &made, &error)); /* not read by the plan */
  CHECK(made == NULL);
}

static void test_specs(void) {
  static const uint16_t rows[] = {1, 1, 1, 1, 2, 3};
  const calpe_spec good = {sizeof good, CALPE_FAMILY_CUSTOM, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  const calpe_spec wide = {sizeof wide, CALPE_FAMILY_CAUCHY, 0, 70000, PARITY, 0, 0, 0, 0, 0};
  const calpe_options no_size = {0};
  calpe_pattern_count counts[PARITY];
  calpe_codec* made = NULL;
  uint16_t cells[DATA * PARITY];
  CHECK_OK(calpe_codec_create_from_matrix(&good, rows, NULL, &made, &error));
  calpe_codec_destroy(made);
  REFUSED(calpe_codec_create_from_matrix(NULL, rows, NULL, &made, &error));
  REFUSED(calpe_codec_create_from_matrix(&wide, rows, NULL, &made, &error));
  REFUSED(calpe_codec_create_from_matrix(&good, rows, &no_size, &made, &error));
  CHECK(made == NULL);
  REFUSED(calpe_parity_rows(NULL, cells, DATA * PARITY, &error));
  REFUSED(calpe_parity_rows(&wide, cells, DATA * PARITY, &error));
  REFUSED(calpe_count_recoverable(NULL, counts, PARITY, &error));
  REFUSED(calpe_count_recoverable(&wide, counts, PARITY, &error));
}

/* The simulator is in the command. The library neither lists nor opens it, and tells where it
 * is. */
static void test_backend_of_the_command(void) {
  const calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, 0, DATA, PARITY, 0, 0, 0, 0, 0};
  const calpe_options options = {sizeof options, "reram:nvsim-32nm", 0, 0, 0, 0};
  calpe_codec* made = NULL;
  calpe_backend_info info = {sizeof info, "", "", "", 0};
  CHECK(calpe_codec_create(&spec, &options, &made, &error) == CALPE_ERROR_BACKEND_UNAVAILABLE);
  CHECK(strstr(error.message, "\"reram:nvsim-32nm\" is not part of this library") != NULL);
  CHECK(strstr(error.message, "calpe command") != NULL);
  CHECK(made == NULL);
  for (size_t i = 0; calpe_backend_at(i, &info); ++i)
    CHECK(strncmp(info.name, "reram", 5) != 0);
}

/* A plan that reads and writes nothing needs no pointers. */
static void test_nothing_to_do(void) {
  static const uint16_t all[] = {0, 1, 2, 3, 4};
  const calpe_stripe empty = {NULL, NULL, BYTES};
  calpe_plan* idle = NULL;
  CHECK_OK(calpe_plan_decode(codec, all, SHARDS, NULL, 0, NULL, &idle, &error));
  CHECK_OK(calpe_run_batch(codec, idle, &empty, 1, 0, &error));
  CHECK_OK(calpe_run_pieces(codec, idle, NULL, NULL, 0, &error));
  calpe_plan_destroy(idle);
}

static void test_work(void) {
  const calpe_stripe good = {shards, parity, BYTES};
  const calpe_stripe no_inputs = {NULL, parity, BYTES};
  const calpe_stripe no_outputs = {shards, nowhere, BYTES};
  void* const onto_data[PARITY] = {stripe[0], stripe[1]};
  const calpe_stripe overlapping = {shards, onto_data, BYTES};
  calpe_pending* pending = NULL;
  REFUSED(calpe_run_batch(codec, plan, &overlapping, 1, 0, &error));
  REFUSED(calpe_submit(codec, plan, &overlapping, 1, 0, &pending, &error));
  REFUSED(calpe_run_batch(NULL, plan, &good, 1, 0, &error));
  REFUSED(calpe_run_batch(codec, NULL, &good, 1, 0, &error));
  REFUSED(calpe_run_batch(codec, plan, NULL, 1, 0, &error));
  REFUSED(calpe_run_batch(codec, plan, &no_inputs, 1, 0, &error));
  REFUSED(calpe_run_batch(codec, plan, &no_outputs, 1, 0, &error));
  CHECK_OK(calpe_run_batch(codec, plan, NULL, 0, 0, &error));
  REFUSED(calpe_submit(NULL, plan, &good, 1, 0, &pending, &error));
  REFUSED(calpe_submit(codec, NULL, &good, 1, 0, &pending, &error));
  REFUSED(calpe_submit(codec, plan, NULL, 1, 0, &pending, &error));
  REFUSED(calpe_submit(codec, plan, &no_inputs, 1, 0, &pending, &error));
  CHECK(pending == NULL);
  REFUSED(calpe_add(NULL, stripe[0], 4, &error));
  REFUSED(calpe_add(stripe[0], NULL, 4, &error));
  CHECK_OK(calpe_add(NULL, NULL, 0, &error));
}

static void test_pieces(void) {
  calpe_const_piece read[DATA];
  calpe_piece written[PARITY];
  calpe_const_pieces from[DATA];
  calpe_pieces to[PARITY];
  for (unsigned i = 0; i < DATA; ++i) {
    read[i].data = stripe[i];
    read[i].bytes = BYTES;
    from[i].pieces = &read[i];
    from[i].count = 1;
  }
  for (unsigned i = 0; i < PARITY; ++i) {
    written[i].data = stripe[DATA + i];
    written[i].bytes = BYTES;
    to[i].pieces = &written[i];
    to[i].count = 1;
  }
  CHECK_OK(calpe_run_pieces(codec, plan, from, to, 0, &error));
  REFUSED(calpe_run_pieces(NULL, plan, from, to, 0, &error));
  REFUSED(calpe_run_pieces(codec, NULL, from, to, 0, &error));
  REFUSED(calpe_run_pieces(codec, plan, NULL, to, 0, &error));
  REFUSED(calpe_run_pieces(codec, plan, from, NULL, 0, &error));
  read[1].data = NULL;
  REFUSED(calpe_run_pieces(codec, plan, from, to, 0, &error));
  read[1].data = stripe[1];
  from[0].pieces = NULL;
  REFUSED(calpe_run_pieces(codec, plan, from, to, 0, &error));
  from[0].count = 0; /* no pieces: no bytes */
  REFUSED(calpe_run_pieces(codec, plan, from, to, 0, &error));
}

/* Any number of pieces, any of which may be empty. */
static void test_many_pieces(void) {
  static calpe_const_piece read[DATA][1000 + BYTES];
  static calpe_piece written[PARITY][1000 + BYTES];
  static unsigned char encoded[PARITY][BYTES];
  calpe_const_pieces from[DATA];
  calpe_pieces to[PARITY];
  for (unsigned i = 0; i < DATA; ++i) {
    for (unsigned b = 0; b < BYTES; ++b) {
      stripe[i][b] = (unsigned char)(7 * i + b);
      read[i][60 * b].data = &stripe[i][b];
      read[i][60 * b].bytes = 1;
    }
    from[i].pieces = read[i];
    from[i].count = 1000 + i;
  }
  for (unsigned i = 0; i < PARITY; ++i) {
    for (unsigned b = 0; b < BYTES; ++b) {
      written[i][60 * b].data = &encoded[i][b];
      written[i][60 * b].bytes = 1;
    }
    to[i].pieces = written[i];
    to[i].count = 1000 + DATA + i;
  }
  CHECK_OK(calpe_encode(codec, shards, parity, BYTES, &error));
  CHECK_OK(calpe_run_pieces(codec, plan, from, to, 0, &error));
  CHECK(memcmp(encoded, stripe[DATA], sizeof encoded) == 0);
}

static void test_updates(void) {
  static const uint16_t both[] = {3, 4};
  unsigned char delta[4] = {1, 2, 3, 4};
  REFUSED(calpe_update(NULL, 0, 0, delta, 4, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, 0, delta, 4, NULL, 0, NULL, BYTES, &error));
  REFUSED(calpe_update(codec, 0, 0, NULL, 4, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, 0, delta, 4, NULL, 2, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, 0, delta, 4, both, 300, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, 0, delta, 4, NULL, 0, nowhere, BYTES, &error));
  REFUSED(calpe_update(codec, DATA, 0, delta, 4, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, BYTES - 3, delta, 4, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update(codec, 0, BYTES + 1, delta, 0, NULL, 0, parity, BYTES, &error));
  CHECK_OK(calpe_update(codec, 0, 0, NULL, 0, NULL, 0, parity, BYTES, &error));
  CHECK_OK(calpe_update(codec, 0, 0, NULL, 0, NULL, 0, nowhere, 0, &error));
  REFUSED(calpe_update_from(NULL, 0, 0, delta, delta, 4, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update_from(codec, 0, 0, delta, delta, 4, NULL, 0, NULL, BYTES, &error));
  REFUSED(calpe_update_from(codec, 0, 0, NULL, delta, 4, NULL, 0, parity, BYTES, &error));
  REFUSED(calpe_update_from(codec, 0, 0, delta, NULL, 4, NULL, 0, parity, BYTES, &error));
  CHECK_OK(calpe_update_from(codec, 0, 0, NULL, NULL, 0, NULL, 0, parity, BYTES, &error));
}

static void test_checks(void) {
  static const uint16_t missing[] = {1, 9};
  uint16_t wrong[SHARDS];
  size_t count = 0;
  REFUSED(calpe_verify(NULL, shards, shards + DATA, BYTES, wrong, SHARDS, &count, &error));
  REFUSED(calpe_verify(codec, shards, shards + DATA, BYTES, wrong, SHARDS, NULL, &error));
  REFUSED(calpe_verify(codec, nothing, shards + DATA, BYTES, wrong, SHARDS, &count, &error));
  REFUSED(calpe_verify(codec, shards, nothing, BYTES, wrong, SHARDS, &count, &error));
  REFUSED(calpe_locate(NULL, shards, BYTES, NULL, 0, wrong, SHARDS, &count, &error));
  REFUSED(calpe_locate(codec, NULL, BYTES, NULL, 0, wrong, SHARDS, &count, &error));
  REFUSED(calpe_locate(codec, shards, BYTES, NULL, 0, wrong, SHARDS, NULL, &error));
  REFUSED(calpe_locate(codec, shards, BYTES, NULL, 1, wrong, SHARDS, &count, &error));
  REFUSED(calpe_locate(codec, shards, BYTES, missing, 2, wrong, SHARDS, &count, &error));
  REFUSED(calpe_locate(codec, nothing, BYTES, NULL, 0, wrong, SHARDS, &count, &error));
  CHECK_OK(calpe_locate(codec, nothing, 0, NULL, 0, wrong, SHARDS, &count, &error));
  CHECK(count == 0);
}

static void test_fields(void) {
  static const uint16_t cells[] = {1, 2, 3, 4};
  uint16_t inverse[4];
  REFUSED(calpe_gf_invert_matrix(8, 0, NULL, 2, inverse, &error));
  REFUSED(calpe_gf_invert_matrix(8, 0, cells, 2, NULL, &error));
  REFUSED(calpe_gf_invert_matrix(8, 0, cells, 5000, inverse, &error));
  REFUSED(calpe_gf_invert_matrix(2, 0, cells, 2, inverse, &error)); /* 4 is not an element */
  CHECK_OK(calpe_gf_invert_matrix(8, 0, cells, 2, inverse, &error));
}

int main(void) {
  set_up();
  test_plans();
  test_specs();
  test_backend_of_the_command();
  test_nothing_to_do();
  test_work();
  test_pieces();
  test_many_pieces();
  test_updates();
  test_checks();
  test_fields();
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
  return failures == 0 ? 0 : 1;
}
