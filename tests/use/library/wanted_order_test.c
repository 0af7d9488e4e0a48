/* SPDX-License-Identifier: Apache-2.0 */
/* Callers may list the wanted shards in any order, and outputs come in that order. Tests all
 * ordered lists of one to three of the seven shards of 4+3, through every call that runs a plan. */
#include <calpe/calpe.h>

#include "c/check.h"

#define DATA 4
#define PARITY 3
#define SHARDS (DATA + PARITY)
#define BYTES 1003 /* neither whole vectors nor whole packets */
#define CUT 331    /* where shards in pieces are cut */

static calpe_error error;
static unsigned char stripe[SHARDS][BYTES + 8];
static unsigned char spare[PARITY][BYTES + 8];
static const calpe_codec* codec;
static size_t parity_bytes;
static unsigned plans, runs;

static size_t bytes_of(uint16_t shard) {
  return shard < DATA ? BYTES : parity_bytes;
}

static void clear(void) {
  (void)memset(spare, 0xA5, sizeof spare);
}

static int is_in_order(const char* call, const uint16_t* wanted, size_t count) {
  ++runs;
  for (size_t i = 0; i < count; ++i) {
    if (memcmp(spare[i], stripe[wanted[i]], bytes_of(wanted[i])) == 0) continue;
    (void)fprintf(stderr, "%s: output %zu is not shard %u, of wanted", call, i, wanted[i]);
    for (size_t j = 0; j < count; ++j)
      (void)fprintf(stderr, " %u", wanted[j]);
    (void)fprintf(stderr, "\n");
    return 0;
  }
  return 1;
}

static calpe_const_pieces read_pieces(const void* shard, size_t bytes, calpe_const_piece room[2]) {
  room[0].data = shard;
  room[0].bytes = CUT;
  room[1].data = (const char*)shard + CUT;
  room[1].bytes = bytes - CUT;
  calpe_const_pieces pieces = {room, 2};
  return pieces;
}

static calpe_pieces written_pieces(void* shard, size_t bytes, calpe_piece room[2]) {
  room[0].data = shard;
  room[0].bytes = CUT;
  room[1].data = (char*)shard + CUT;
  room[1].bytes = bytes - CUT;
  calpe_pieces pieces = {room, 2};
  return pieces;
}

static void rebuild(const uint16_t* wanted, size_t count) {
  uint16_t available[SHARDS], reads[SHARDS], writes[SHARDS];
  size_t available_count = 0;
  for (uint16_t shard = 0; shard < SHARDS; ++shard) {
    int is_wanted = 0;
    for (size_t i = 0; i < count; ++i)
      is_wanted |= wanted[i] == shard;
    if (!is_wanted) available[available_count++] = shard;
  }
  calpe_plan* plan = NULL;
  CHECK_OK(
      calpe_plan_decode(codec, available, available_count, wanted, count, NULL, &plan, &error));
  if (plan == NULL) return;
  ++plans;
  CHECK(calpe_plan_writes(plan, writes, SHARDS) == count);
  CHECK(memcmp(writes, wanted, count * sizeof *wanted) == 0);
  const size_t read_count = calpe_plan_reads(plan, reads, SHARDS);
  const void* in[SHARDS];
  void* out[PARITY];
  calpe_const_piece cut_in[SHARDS][2];
  calpe_piece cut_out[PARITY][2];
  calpe_const_pieces pieces_in[SHARDS];
  calpe_pieces pieces_out[PARITY];
  for (size_t i = 0; i < read_count; ++i) {
    CHECK(i == 0 || reads[i - 1] < reads[i]);
    in[i] = stripe[reads[i]];
    pieces_in[i] = read_pieces(stripe[reads[i]], bytes_of(reads[i]), cut_in[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    out[i] = spare[i];
    pieces_out[i] = written_pieces(spare[i], bytes_of(wanted[i]), cut_out[i]);
  }

  clear();
  CHECK_OK(calpe_run(codec, plan, in, out, BYTES, 0, &error));
  CHECK(is_in_order("calpe_run", wanted, count));
  clear();
  const calpe_stripe one = {in, out, BYTES};
  CHECK_OK(calpe_run_batch(codec, plan, &one, 1, 0, &error));
  CHECK(is_in_order("calpe_run_batch", wanted, count));
  clear();
  CHECK_OK(calpe_run_pieces(codec, plan, pieces_in, pieces_out, 0, &error));
  CHECK(is_in_order("calpe_run_pieces", wanted, count));
  clear();
  calpe_pending* pending = NULL;
  CHECK_OK(calpe_submit(codec, plan, &one, 1, 0, &pending, &error));
  CHECK_OK(calpe_wait(pending, &error));
  CHECK(is_in_order("calpe_submit", wanted, count));
  clear();
  CHECK_OK(calpe_decode(codec, plan, in, out, BYTES, &error));
  CHECK(is_in_order("calpe_decode", wanted, count));

  /* Two nodes add up their partial sums. */
  clear();
  calpe_plan* share = NULL;
  for (size_t half = 0; half < 2; ++half) {
    const size_t first = half * (read_count / 2);
    const size_t held = half == 0 ? read_count / 2 : read_count - first;
    CHECK_OK(calpe_plan_partial(codec, plan, reads + first, held, &share, &error));
    const uint32_t flags = half == 0 ? 0 : CALPE_RUN_ACCUMULATE;
    CHECK_OK(calpe_run(codec, share, in + first, out, BYTES, flags, &error));
    calpe_plan_destroy(share);
  }
  CHECK(is_in_order("calpe_plan_partial", wanted, count));
  calpe_plan_destroy(plan);
}

/* Parity shards of an update plan, in the given order. */
static void update(const uint16_t* parity, size_t count) {
  calpe_plan* plan = NULL;
  uint16_t writes[SHARDS], cell;
  CHECK_OK(calpe_plan_update(codec, 1, parity, count, &plan, &error));
  if (plan == NULL) return;
  ++plans;
  CHECK(calpe_plan_writes(plan, writes, SHARDS) == count);
  CHECK(memcmp(writes, parity, count * sizeof *parity) == 0);
  uint16_t cells[PARITY];
  CHECK(calpe_plan_coefficients(plan, cells, PARITY) == count);
  calpe_plan_destroy(plan);
  for (size_t i = 0; i < count; ++i) {
    CHECK_OK(calpe_plan_update(codec, 1, &parity[i], 1, &plan, &error));
    CHECK(calpe_plan_coefficients(plan, &cell, 1) == 1 && cell == cells[i]);
    calpe_plan_destroy(plan);
  }
}

static int is_repeated(const uint16_t* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (list[i] == list[j]) return 1;
    }
  }
  return 0;
}

/* Every ordered list of `count` shards; a list with a repeated shard is refused. */
static void try_lists(size_t count) {
  size_t all = 1;
  for (size_t i = 0; i < count; ++i)
    all *= SHARDS;
  for (size_t number = 0; number < all; ++number) {
    uint16_t list[PARITY];
    int is_parity = 1;
    size_t rest = number;
    for (size_t i = 0; i < count; ++i, rest /= SHARDS) {
      list[i] = (uint16_t)(rest % SHARDS);
      is_parity &= list[i] >= DATA;
    }
    if (!is_repeated(list, count)) {
      rebuild(list, count);
      if (is_parity) update(list, count);
      continue;
    }
    static const uint16_t every[] = {0, 1, 2, 3, 4, 5, 6};
    calpe_plan* plan = NULL;
    CHECK(calpe_plan_decode(codec, every, SHARDS, list, count, NULL, &plan, &error) ==
          CALPE_ERROR_INVALID_ARGUMENT);
    CHECK(plan == NULL && strstr(error.message, "twice") != NULL);
    if (!is_parity) continue;
    CHECK(calpe_plan_update(codec, 0, list, count, &plan, &error) == CALPE_ERROR_INVALID_ARGUMENT);
    CHECK(plan == NULL && strstr(error.message, "twice") != NULL);
  }
}

static void try_code(uint32_t family, uint32_t layout, const char* backend, uint32_t threads) {
  calpe_spec spec = {sizeof spec, family, layout, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_options options = {sizeof options, backend, threads, 0, 0, 0};
  calpe_codec* made = NULL;
  CHECK_OK(calpe_codec_create(&spec, &options, &made, &error));
  if (made == NULL) return;
  codec = made;
  parity_bytes = calpe_parity_bytes(made, BYTES);
  const void* data[DATA];
  void* parity[PARITY];
  for (unsigned i = 0; i < DATA; ++i) {
    for (unsigned j = 0; j < BYTES; ++j)
      stripe[i][j] = (unsigned char)((i * BYTES + j) * 2654435761U >> 13);
    data[i] = stripe[i];
  }
  for (size_t i = 0; i < PARITY; ++i)
    parity[i] = stripe[DATA + i];
  CHECK_OK(calpe_encode(made, data, parity, BYTES, &error));
  for (size_t count = 1; count <= PARITY; ++count)
    try_lists(count);
  calpe_codec_destroy(made);
}

int main(void) {
  try_code(CALPE_FAMILY_DEFAULT, CALPE_LAYOUT_BYTES, NULL, 0);
  try_code(CALPE_FAMILY_DEFAULT, CALPE_LAYOUT_BYTES, "reference", 0);
  try_code(CALPE_FAMILY_LCH, CALPE_LAYOUT_BYTES, NULL, 2);
  try_code(CALPE_FAMILY_CAUCHY, CALPE_LAYOUT_PACKETS, NULL, 0);
  try_code(CALPE_FAMILY_CAUCHY, CALPE_LAYOUT_PACKETS, "cpu", 2);
  (void)printf("%u plans, %u runs\n", plans, runs);
  return failures != 0;
}
