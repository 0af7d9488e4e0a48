/* SPDX-License-Identifier: Apache-2.0 */
/* gib.h from C, on the backend that CALPE_BACKEND names: the program of the paper's Appendix B
 * for many failures, its parity compared with calpe.h and the golden vectors, and refusals.
 *
 *   gib_test [tests/vectors/vandermonde.json]
 *
 * Exits with 77 and a reason if the backend is not available. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include <calpe/gib.h>

#include "check.h"

#define SHARDS 256

static unsigned long checked; /* failures that were recovered from */

#define CHECK_GIB(call)                                                                       \
  do {                                                                                        \
    if ((call) != GIB_OK) {                                                                   \
      fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call, gib_error_text()); \
      ++failures;                                                                             \
    }                                                                                         \
  } while (0)

/* Checks that the call fails as invalid and the message contains `word`. */
#define CHECK_REFUSED(call, word)                                                               \
  do {                                                                                          \
    CHECK((call) == GIB_INVALID);                                                               \
    if (strstr(gib_error_text(), word) == NULL) {                                               \
      fprintf(stderr, "%s:%d: no \"%s\" in: %s\n", __FILE__, __LINE__, word, gib_error_text()); \
      ++failures;                                                                               \
    }                                                                                           \
  } while (0)

/* As in tests/vectors/README.md. */
static unsigned char formula_byte(size_t j, size_t i) {
  const size_t v = 7 * i * i + 131 * i + 29 * i * j + 17 * j + 11;
  return (unsigned char)((v ^ v >> 8) & 0xFF);
}

static uint32_t next_random(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static unsigned char* position(void* buffers, int ld, int i) {
  return (unsigned char*)buffers + (size_t)i * (size_t)ld;
}

/* One program of Appendix B: a stripe with parity, and its expected content. */
typedef struct {
  int k, m, size, ld;
  gib_context gc;
  void* buffers;
  unsigned char* sound; /* a copy with parity, at the same stride */
  size_t bytes;
} stripe;

static int open_stripe(stripe* s, int k, int m, int size) {
  s->k = k;
  s->m = m;
  s->size = size;
  CHECK_GIB(gib_init(k, m, &s->gc));
  if (s->gc == NULL) return 0;
  CHECK_GIB(gib_alloc(&s->buffers, size, &s->ld, s->gc));
  CHECK(s->ld >= size && s->ld % 64 == 0 && s->ld % 128 != 0 && (uintptr_t)s->buffers % 64 == 0);
  s->bytes = (size_t)s->ld * (size_t)(k + m);
  for (size_t i = 0; i < s->bytes; ++i)
    CHECK(((unsigned char*)s->buffers)[i] == 0);
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < size; ++i)
      position(s->buffers, s->ld, j)[i] = formula_byte((unsigned long)j, (unsigned long)i);
  CHECK_GIB(gib_generate(s->buffers, s->ld, s->gc));
  s->sound = malloc(s->bytes);
  memcpy(s->sound, s->buffers, s->bytes);
  return 1;
}

static void close_stripe(stripe* s) {
  free(s->sound);
  CHECK_GIB(gib_free(s->buffers, s->gc));
  CHECK_GIB(gib_destroy(s->gc));
}

/* Appendix B: fail_config has a one for every lost buffer. Remaining data buffers stay where
 * they are, and parity fills the gaps. At the end the first k buffers have their original
 * content. `swapped` swaps the numbers of two intact buffers. Returns whether the data is right. */
static int recover_in_place(stripe* s, const int* fail_config, int swapped) {
  int buf_ids[SHARDS];
  int lost = 0, parity = s->k;
  memcpy(s->buffers, s->sound, s->bytes);
  for (int i = 0; i < s->k + s->m; ++i)
    if (fail_config[i]) memset(position(s->buffers, s->ld, i), 0xEE, (size_t)s->ld);
  for (int i = 0; i < s->k; ++i) {
    buf_ids[i] = i;
    if (!fail_config[i]) continue;
    while (fail_config[parity])
      ++parity;
    memcpy(position(s->buffers, s->ld, i), position(s->buffers, s->ld, parity), (size_t)s->ld);
    buf_ids[i] = parity++;
    buf_ids[s->k + lost++] = i;
  }
  if (swapped) {
    const int first = buf_ids[0];
    buf_ids[0] = buf_ids[1];
    buf_ids[1] = first;
  }
  CHECK_GIB(gib_recover(s->buffers, s->ld, buf_ids, lost, s->gc));
  for (int i = 0; i < lost; ++i) {
    memcpy(position(s->buffers, s->ld, buf_ids[s->k + i]), position(s->buffers, s->ld, s->k + i),
           (size_t)s->ld);
  }
  return memcmp(s->buffers, s->sound, (size_t)s->ld * (size_t)s->k) == 0;
}

/* Recovers all lost buffers, including parity, from intact buffers in random order. */
static void recover_shuffled(stripe* s, uint32_t* seed) {
  int buf_ids[SHARDS];
  const int count = s->k + s->m;
  for (int i = 0; i < count; ++i)
    buf_ids[i] = i;
  for (int i = count - 1; i > 0; --i) {
    const int other = (int)(next_random(seed) % (uint32_t)(i + 1));
    const int id = buf_ids[i];
    buf_ids[i] = buf_ids[other];
    buf_ids[other] = id;
  }
  const int wanted = 1 + (int)(next_random(seed) % (uint32_t)s->m);
  memset(s->buffers, 0xEE, s->bytes);
  for (int i = 0; i < s->k; ++i)
    memcpy(position(s->buffers, s->ld, i), position(s->sound, s->ld, buf_ids[i]), (size_t)s->ld);
  CHECK_GIB(gib_recover(s->buffers, s->ld, buf_ids, wanted, s->gc));
  for (int i = 0; i < s->k + wanted; ++i) {
    CHECK(memcmp(position(s->buffers, s->ld, i), position(s->sound, s->ld, buf_ids[i]),
                 (size_t)s->ld) == 0);
  }
  for (int i = s->k + wanted; i < count; ++i) /* nothing else is written */
    CHECK(position(s->buffers, s->ld, i)[0] == 0xEE);
  ++checked;
}

static void test_every_failure(int k, int m, int size) {
  stripe s;
  if (!open_stripe(&s, k, m, size)) return;
  for (unsigned lost = 0; lost < 1u << (k + m); ++lost) {
    int fail_config[SHARDS] = {0}, count = 0;
    for (int i = 0; i < k + m; ++i)
      count += fail_config[i] = (int)(lost >> i & 1u);
    if (count > m) continue;
    CHECK(recover_in_place(&s, fail_config, 0));
    ++checked;
  }
  /* Make sure that this check can fail: swapping the numbers of two intact buffers gives other
   * bytes. Not with the first parity of 3+2, which is the sum of the data in any order. */
  int sum_lost[SHARDS] = {1};
  sum_lost[k] = 1;
  CHECK(!recover_in_place(&s, sum_lost, 1));
  close_stripe(&s);
}

static void test_seeded_failures(int k, int m, int size, int count) {
  uint32_t seed = (uint32_t)(k * 1000 + m);
  stripe s;
  if (!open_stripe(&s, k, m, size)) return;
  for (int trial = 0; trial < count; ++trial) {
    int fail_config[SHARDS] = {0};
    const int most = 1 + (int)(next_random(&seed) % (uint32_t)m);
    for (int i = 0; i < most; ++i)
      fail_config[next_random(&seed) % (uint32_t)(k + m)] = 1;
    CHECK(recover_in_place(&s, fail_config, 0));
    ++checked;
    recover_shuffled(&s, &seed);
  }
  close_stripe(&s);
}

/* Gives the same parity as the codec of the profile in calpe.h, also with another ld than the
 * given one. */
static void test_same_as_codec(int k, int m, int size) {
  static calpe_error error;
  calpe_spec spec = {
      sizeof spec, CALPE_FAMILY_VANDERMONDE, 0, (uint32_t)k, (uint32_t)m, 0, 0, 0, 0, 0};
  calpe_codec* codec = NULL;
  const void* data[SHARDS];
  void* parity[SHARDS];
  const size_t bytes = (size_t)size * (size_t)(k + m);
  unsigned char* buffers = malloc(bytes + 1);
  unsigned char* expected = malloc(bytes + 1);
  gib_context gc = NULL;
  for (size_t i = 0; i < bytes; ++i)
    buffers[i + 1] = expected[i + 1] = formula_byte(i % 251, i);
  for (int i = 0; i < k + m; ++i)
    *(i < k ? (void**)&data[i] : &parity[i - k]) = expected + 1 + (size_t)i * (size_t)size;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  CHECK_OK(calpe_encode(codec, data, parity, (size_t)size, &error));
  calpe_codec_destroy(codec);
  CHECK_GIB(gib_init(k, m, &gc));
  CHECK_GIB(gib_generate(buffers + 1, size, gc)); /* one byte off any alignment */
  CHECK(memcmp(buffers + 1, expected + 1, bytes) == 0);
  CHECK_GIB(gib_destroy(gc));
  free(buffers);
  free(expected);
}

static int is_same_hex(const unsigned char* bytes, const char* hex, int count) {
  for (int i = 0; i < count; ++i) {
    unsigned value;
    if (sscanf(hex + 2 * (ptrdiff_t)i, "%2x", &value) != 1 || value != bytes[i]) return 0;
  }
  return hex[2 * (ptrdiff_t)count] == '"';
}

/* Checks the "stripes" of one vector: {"shard_bytes":7,"parity":["0b95..","..."]}. Returns their
 * number. */
static int test_vector(const char* text, const char* end, int k, int m) {
  static unsigned char buffers[SHARDS * 512];
  int stripes = 0;
  gib_context gc = NULL;
  CHECK_GIB(gib_init(k, m, &gc));
  while ((text = strstr(text, "\"shard_bytes\":")) != NULL && text < end) {
    int size = -1;
    text += strlen("\"shard_bytes\":");
    CHECK(sscanf(text, "%d,", &size) == 1 && size >= 0 && size <= 512);
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < size; ++i)
        position(buffers, size, j)[i] = formula_byte((unsigned long)j, (unsigned long)i);
    CHECK_GIB(gib_generate(buffers, size, gc));
    text = strstr(text, "[");
    for (int j = 0; j < m; ++j) {
      text = strchr(text, '"') + 1;
      CHECK(is_same_hex(position(buffers, size, k + j), text, size));
      text = strchr(text, '"') + 1;
    }
    ++stripes;
  }
  CHECK_GIB(gib_destroy(gc));
  return stripes;
}

static void test_golden_vectors(const char* path) {
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL);
  if (file == NULL) return;
  fseek(file, 0, SEEK_END);
  const size_t length = (size_t)ftell(file);
  char* text = calloc(length + 1, 1);
  rewind(file);
  CHECK(fread(text, 1, length, file) == length);
  fclose(file);
  int stripes = 0;
  for (const char* at = strstr(text, "\"data_shards\":"); at != NULL;) {
    int k = 0, m = 0;
    CHECK(sscanf(at, "\"data_shards\":%d,\"parity_shards\":%d", &k, &m) == 2);
    const char* next = strstr(at + 1, "\"data_shards\":");
    stripes += test_vector(at, next != NULL ? next : text + length, k, m);
    at = next;
  }
  CHECK(stripes >= 10);
  printf("golden vectors: %d stripes\n", stripes);
  free(text);
}

static void test_refusals(void) {
  static unsigned char memory[5 * 64];
  int ids[] = {0, 1, 2, 3, 4};
  gib_context gc = NULL;
  void* buffers = NULL;
  int ld = 0;
  CHECK_REFUSED(gib_init(0, 2, &gc), "k is 0");
  CHECK_REFUSED(gib_init(-3, 2, &gc), "k is -3");
  CHECK_REFUSED(gib_init(3, 0, &gc), "m is 0");
  CHECK_REFUSED(gib_init(3, -1, &gc), "m is -1");
  CHECK_REFUSED(gib_init(223, 34, &gc), "m is 34 with k = 223; expected 1..33");
  CHECK_REFUSED(gib_init(INT_MAX, INT_MAX, &gc), "k is");
  CHECK_REFUSED(gib_init(3, 2, NULL), "gc is NULL");
  CHECK(gc == NULL);
  CHECK_REFUSED(gib_generate(memory, 64, gc), "gc is NULL");
  CHECK_REFUSED(gib_destroy(gc), "gc is NULL");
  CHECK_REFUSED(gib_alloc(&buffers, 64, &ld, gc), "gc is NULL");
  CHECK_REFUSED(gib_recover(memory, 64, ids, 1, gc), "gc is NULL");
  CHECK_REFUSED(gib_free(NULL, gc), "gc is NULL");
  CHECK_GIB(gib_init(3, 2, &gc));
  CHECK_GIB(gib_free(NULL, gc));
  CHECK_REFUSED(gib_alloc(NULL, 64, &ld, gc), "NULL");
  CHECK_REFUSED(gib_alloc(&buffers, 64, NULL, gc), "NULL");
  CHECK_REFUSED(gib_alloc(&buffers, -1, &ld, gc), "buf_size is -1");
  CHECK_REFUSED(gib_alloc(&buffers, INT_MAX - 62, &ld, gc), "expected at most 2147483584");
  CHECK_REFUSED(gib_generate(memory, -1, gc), "buf_size is -1");
  CHECK_REFUSED(gib_generate(NULL, 64, gc), "buffers is NULL");
  CHECK_GIB(gib_generate(NULL, 0, gc));
  CHECK_REFUSED(gib_recover(NULL, 64, ids, 2, gc), "buffers is NULL");
  CHECK_REFUSED(gib_recover(memory, 64, NULL, 2, gc), "buf_ids is NULL");
  CHECK_REFUSED(gib_recover(memory, -64, ids, 2, gc), "buf_size is -64");
  CHECK_REFUSED(gib_recover(memory, 64, ids, 3, gc), "recover_last is 3; expected 0..2");
  CHECK_REFUSED(gib_recover(memory, 64, ids, -1, gc), "recover_last is -1");
  ids[4] = 0;
  CHECK_REFUSED(gib_recover(memory, 64, ids, 2, gc), "buf_ids[4] is 0, as is buf_ids[0]");
  CHECK_GIB(gib_recover(memory, 64, ids, 1, gc)); /* does not read that far */
  ids[1] = 5;
  CHECK_REFUSED(gib_recover(memory, 64, ids, 1, gc), "buf_ids[1] is 5; expected 0..4");
  ids[1] = -1;
  CHECK_REFUSED(gib_recover(memory, 64, ids, 0, gc), "buf_ids[1] is -1");
  ids[1] = 1;
  CHECK_GIB(gib_recover(memory, 64, ids, 0, gc));
  CHECK_GIB(gib_destroy(gc));
}

#ifdef _WIN32
static int setenv(const char* name, const char* value, int replaces) {
  (void)replaces;
  return _putenv_s(name, value);
}
#endif

/* The environment names the backend. An empty name counts as unset. */
static void test_backend_of_environment(void) {
  gib_context gc = NULL;
  CHECK(setenv("CALPE_BACKEND", "no-such", 1) == 0);
  CHECK(gib_init(3, 2, &gc) != GIB_OK && gc == NULL);
  CHECK(strstr(gib_error_text(), "no-such") != NULL);
  CHECK(setenv("CALPE_BACKEND", "", 1) == 0);
  CHECK_GIB(gib_init(3, 2, &gc));
  CHECK_GIB(gib_destroy(gc));
}

int main(int count, char** arguments) {
  gib_context gc = NULL;
  const char* backend = getenv("CALPE_BACKEND");
  printf("backend: %s\n", backend != NULL ? backend : "auto");
  const int status = gib_init(3, 2, &gc);
  if (status == GIB_NO_BACKEND) return printf("skipped: %s\n", gib_error_text()), 77;
  if (status != GIB_OK) return fprintf(stderr, "gib_init: %s\n", gib_error_text()), 1;
  CHECK_GIB(gib_destroy(gc));
  test_refusals();
  if (count > 1) test_golden_vectors(arguments[1]);
  test_every_failure(3, 2, 1000);
  test_every_failure(4, 3, 64);
  test_seeded_failures(10, 4, 4096, 20);
  test_seeded_failures(16, 16, 333, 10);
  test_seeded_failures(223, 32, 100, 5);
  test_seeded_failures(10, 246, 100, 5);
  test_seeded_failures(1, 255, 65, 3);
  test_seeded_failures(255, 1, 65, 3);
  test_same_as_codec(3, 2, 1);
  test_same_as_codec(10, 4, 1003);
  test_same_as_codec(223, 32, 77);
  test_same_as_codec(10, 246, 77);
  test_backend_of_environment();
  printf("%lu failures recovered, %d claims do not hold\n", checked, failures);
  return failures != 0;
}
