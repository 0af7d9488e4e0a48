/* SPDX-License-Identifier: Apache-2.0 */
/* A server with busy threads forks. Each child plans, encodes and destroys its inherited codec on
 * its only thread. The threads plan, encode and create codecs all the time, so that a fork can
 * happen while any lock of the library is held. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <calpe/calpe.h>

#include "c/check.h"

#define DATA 4
#define PARITY 2
#define SHARDS (DATA + PARITY)
#define BYTES ((size_t)256 << 10) /* enough to be divided over the pool */
#define THREADS 4
#define HANG_SECONDS 20U /* a child needs milliseconds; a loaded machine gets this long */

static calpe_error error;
static calpe_codec* codec;
static unsigned char stripe[SHARDS][BYTES];
static volatile sig_atomic_t is_over;

typedef struct work_room {
  unsigned char shards[PARITY][BYTES];
} work_room;
static work_room rooms[THREADS + 1]; /* one per thread, the last for children */
static uint32_t thread_seeds[THREADS];

static uint32_t next(uint32_t* seed) {
  *seed = *seed * 1664525U + 1013904223U;
  return *seed >> 8;
}

/* Plans the loss of one or two shards and rebuilds them; returns 0 if the bytes are right. */
static int rebuild(const calpe_codec* with, work_room* room, uint32_t* seed) {
  const uint16_t first = (uint16_t)(next(seed) % SHARDS);
  const uint16_t second = (uint16_t)((first + 1 + next(seed) % (SHARDS - 1)) % SHARDS);
  const uint16_t wanted[2] = {first, second};
  const size_t count = 1 + next(seed) % 2;
  uint16_t available[SHARDS], reads[SHARDS];
  size_t available_count = 0;
  for (uint16_t i = 0; i < SHARDS; ++i) {
    if (i != first && (i != second || count == 1)) available[available_count++] = i;
  }
  calpe_plan* plan = NULL;
  calpe_error why;
  if (calpe_plan_decode(with, available, available_count, wanted, count, NULL, &plan, &why) != 0)
    return 1;
  const void* in[SHARDS];
  void* const out[] = {room->shards[0], room->shards[1]};
  const size_t read_count = calpe_plan_reads(plan, reads, SHARDS);
  for (size_t i = 0; i < read_count; ++i)
    in[i] = stripe[reads[i]];
  int status = calpe_run(with, plan, in, out, BYTES, 0, &why) != CALPE_OK;
  for (size_t i = 0; i < count; ++i)
    status |= memcmp(out[i], stripe[wanted[i]], BYTES) != 0;
  calpe_plan_destroy(plan);
  return status;
}

static int encode(const calpe_codec* with, work_room* room) {
  const void* in[DATA];
  for (size_t i = 0; i < DATA; ++i)
    in[i] = stripe[i];
  void* const out[] = {room->shards[0], room->shards[1]};
  (void)memset(room, 0, sizeof *room);
  if (calpe_encode(with, in, out, BYTES, NULL) != CALPE_OK) return 1;
  return memcmp(room->shards[0], stripe[DATA], BYTES) != 0 ||
         memcmp(room->shards[1], stripe[DATA + 1], BYTES) != 0;
}

static int update(const calpe_codec* with, work_room* room, uint32_t* seed) {
  const uint16_t changed = (uint16_t)(next(seed) % DATA);
  const unsigned char delta[16] = {1, 2, 3};
  void* const out[] = {room->shards[0], room->shards[1]};
  return calpe_update(with, changed, 0, delta, sizeof delta, NULL, 0, out, BYTES, NULL) != CALPE_OK;
}

static calpe_codec* make_codec(const char* backend, uint32_t layout, uint32_t threads) {
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, layout, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_options options = {sizeof options, backend, threads, 3, 0, 0}; /* a small plan cache */
  calpe_codec* made = NULL;
  CHECK_OK(calpe_codec_create(&spec, &options, &made, &error));
  return made;
}

static void* busy(void* argument) {
  const size_t number = (size_t)((uint32_t*)argument - thread_seeds);
  uint32_t* seed = argument;
  while (!is_over) {
    if (rebuild(codec, &rooms[number], seed) != 0) abort();
    if (update(codec, &rooms[number], seed) != 0) abort();
    if (next(seed) % 8 == 0) {
      calpe_spec spec = {sizeof spec, 0, 0, DATA, PARITY, 0, 0, 0, 0, 0};
      calpe_codec* other = NULL;
      if (calpe_codec_create(&spec, NULL, &other, NULL) != CALPE_OK) abort();
      calpe_codec_destroy(other);
    }
  }
  return NULL;
}

/* Returns exit code 0, or the number of the failed step. */
static int child(uint32_t seed, const char* backend, uint32_t layout) {
  work_room* const room = &rooms[THREADS];
  if (rebuild(codec, room, &seed) != 0) return 1;
  if (encode(codec, room) != 0) return 2;
  if (update(codec, room, &seed) != 0) return 3;
  if (calpe_codec_threads(codec) != 1) return 4;
  for (int i = 0; i < 8; ++i) {
    if (rebuild(codec, room, &seed) != 0) return 5;
  }
  calpe_codec_destroy(codec);
  codec = make_codec(backend, layout, 0);
  if (codec == NULL || encode(codec, room) != 0) return 6;
  calpe_codec_destroy(codec);
  return 0;
}

static void try_backend(const char* backend, uint32_t layout, uint32_t pool, int forks) {
  codec = make_codec(backend, layout, pool);
  if (codec == NULL) return;
  const void* data[DATA];
  void* const parity[] = {stripe[DATA], stripe[DATA + 1]};
  for (size_t i = 0; i < DATA; ++i)
    data[i] = stripe[i];
  CHECK_OK(calpe_encode(codec, data, parity, BYTES, &error));
  pthread_t threads[THREADS];
  is_over = 0;
  for (unsigned i = 0; i < THREADS; ++i) {
    thread_seeds[i] = i + 1;
    CHECK(pthread_create(&threads[i], NULL, busy, &thread_seeds[i]) == 0);
  }
  int hung = 0, wrong = 0;
  for (int i = 0; i < forks; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      (void)alarm(HANG_SECONDS);
      _exit(child((uint32_t)i + 100, backend, layout));
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) ++hung;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    (void)fprintf(stderr, "child %d: %s %d\n", i, WIFEXITED(status) ? "step" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    if (++wrong == 3) break; /* each may have taken HANG_SECONDS */
  }
  is_over = 1;
  for (unsigned i = 0; i < THREADS; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(hung == 0);
  CHECK(wrong == 0);
  (void)printf("%s: %d forks of %d busy threads, %d children hung\n", backend ? backend : "auto",
               forks, THREADS, hung);
  calpe_codec_destroy(codec);
}

int main(void) {
  uint32_t seed = 1;
  for (size_t i = 0; i < DATA; ++i) {
    for (size_t j = 0; j < BYTES; ++j)
      stripe[i][j] = (unsigned char)next(&seed);
  }
  const char* const nightly = getenv("CALPE_NIGHTLY");
  const int times = nightly != NULL && nightly[0] == '1' ? 10 : 1;
  try_backend(NULL, CALPE_LAYOUT_BYTES, 4, 400 * times);
  try_backend(NULL, CALPE_LAYOUT_PACKETS, 2, 100 * times); /* jit */
  try_backend("cpu+reference", CALPE_LAYOUT_BYTES, 0, 20 * times);
  try_backend("openmp:2", CALPE_LAYOUT_PACKETS, 0, 40 * times);
  return failures != 0;
}
