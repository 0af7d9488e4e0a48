/* SPDX-License-Identifier: Apache-2.0 */
/* liberasurecode's public calls, as a storage server makes them, over our libisal.so.2.
 *
 *   calpe_liberasurecode_calls LIBRARY
 * LIBRARY is the file that must be the only libisal.so in this process. Both back ends that use it
 * (isa_l_rs_vand, isa_l_rs_cauchy): parity against plain loops, every pattern of at most m lost
 * fragments of 4+2 and 10+4, sizes around every edge, damaged fragments and wrong arguments.
 */
#define _XOPEN_SOURCE 700
#include <erasurecode.h>
#include <stdbool.h>
#include <stdlib.h>

#include "c/check.h"

enum { fragments_max = 14, unknown_instance = 9999 };

struct Backend {
  ec_backend_id_t id;
  const char* name;
  bool is_cauchy;
};

static const struct Backend backends[] = {{EC_BACKEND_ISA_L_RS_VAND, "isa_l_rs_vand", false},
                                          {EC_BACKEND_ISA_L_RS_CAUCHY, "isa_l_rs_cauchy", true}};

/* Counts of work done, to detect empty loops. */
static long encoded, decoded, rebuilt, refused;

struct Code {
  const struct Backend* backend;
  int instance, k, m;
};

struct Stripe {
  char* content;
  uint64_t bytes, fragment_bytes;
  char** data;
  char** parity;
  char* fragments[fragments_max]; /* data, then parity */
};

/* Multiplies in GF(2^8), 0x11d, bit by bit. */
static unsigned product(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) sum ^= a;
    a = (a << 1) ^ ((a & 0x80) != 0 ? 0x11d : 0);
  }
  return sum;
}

static unsigned power(unsigned base, unsigned exponent) {
  unsigned result = 1;
  for (; exponent != 0; --exponent)
    result = product(result, base);
  return result;
}

/* Coefficient of a parity row: 2^(row * column), or 1 / ((k + row) ^ column) as the 254th power. */
static unsigned coefficient(const struct Code* code, int row, int column) {
  if (!code->backend->is_cauchy) return power(2, (unsigned)(row * column));
  return power((unsigned)((code->k + row) ^ column), 254);
}

static struct Code make_code(const struct Backend* backend, int k, int m, ec_checksum_type_t sum) {
  struct ec_args arguments;
  memset(&arguments, 0, sizeof arguments);
  arguments.k = k;
  arguments.m = m;
  arguments.hd = m + 1;
  arguments.ct = sum;
  struct Code code = {backend, liberasurecode_instance_create(backend->id, &arguments), k, m};
  CHECK(code.instance > 0);
  return code;
}

static void remove_code(const struct Code* code) {
  CHECK(liberasurecode_instance_destroy(code->instance) == 0);
}

static struct Stripe make_stripe(const struct Code* code, uint64_t bytes) {
  struct Stripe stripe;
  memset(&stripe, 0, sizeof stripe);
  stripe.bytes = bytes;
  stripe.content = malloc(bytes);
  uint32_t state = (uint32_t)bytes * 2654435761U + 1;
  for (uint64_t i = 0; i < bytes; ++i) {
    state = state * 1664525U + 1013904223U;
    stripe.content[i] = (char)(state >> 24);
  }
  if (liberasurecode_encode(code->instance, stripe.content, bytes, &stripe.data, &stripe.parity,
                            &stripe.fragment_bytes) != 0) {
    fprintf(stderr, "%s %d+%d: %lu bytes are not encoded\n", code->backend->name, code->k, code->m,
            (unsigned long)bytes);
    exit(1);
  }
  for (int i = 0; i < code->k + code->m; ++i)
    stripe.fragments[i] = i < code->k ? stripe.data[i] : stripe.parity[i - code->k];
  ++encoded;
  return stripe;
}

static void remove_stripe(const struct Code* code, struct Stripe* stripe) {
  CHECK(liberasurecode_encode_cleanup(code->instance, stripe->data, stripe->parity) == 0);
  free(stripe->content);
}

static const unsigned char* payload(const char* fragment) {
  return (const unsigned char*)fragment + sizeof(fragment_header_t);
}

/* Verifies the stripe by the metadata of all fragments. */
static int verify(const struct Code* code, const struct Stripe* stripe) {
  fragment_metadata_t told[fragments_max];
  char* list[fragments_max];
  for (int i = 0; i < code->k + code->m; ++i) {
    const int status = liberasurecode_get_fragment_metadata(stripe->fragments[i], &told[i]);
    if (status != 0) return status;
    list[i] = (char*)&told[i];
  }
  return liberasurecode_verify_stripe_metadata(code->instance, list, code->k + code->m);
}

/* Checks parity and metadata. */
static void check_fragments(const struct Code* code, const struct Stripe* stripe) {
  const uint64_t bytes = FRAGSIZE_2_BLOCKSIZE(stripe->fragment_bytes);
  for (int row = 0; row < code->m; ++row) {
    unsigned table[fragments_max][256];
    for (int column = 0; column < code->k; ++column) {
      for (unsigned value = 0; value < 256; ++value)
        table[column][value] = product(coefficient(code, row, column), value);
    }
    bool is_equal = true;
    for (uint64_t i = 0; i < bytes; ++i) {
      unsigned sum = 0;
      for (int column = 0; column < code->k; ++column)
        sum ^= table[column][payload(stripe->data[column])[i]];
      is_equal = is_equal && sum == payload(stripe->parity[row])[i];
    }
    CHECK(is_equal);
  }
  for (int i = 0; i < code->k + code->m; ++i) {
    fragment_metadata_t told;
    CHECK(liberasurecode_get_fragment_metadata(stripe->fragments[i], &told) == 0);
    CHECK(told.idx == (uint32_t)i && told.size == bytes && told.orig_data_size == stripe->bytes);
    CHECK(told.backend_id == code->backend->id && told.chksum_mismatch == 0);
    CHECK(is_invalid_fragment(code->instance, stripe->fragments[i]) == 0);
  }
  CHECK(verify(code, stripe) == 0);
}

/* The remaining fragments, optionally backwards, because their order must not matter. */
static int collect(const struct Code* code, const struct Stripe* stripe, unsigned lost,
                   bool is_backwards, char** left) {
  const int n = code->k + code->m;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    const int index = is_backwards ? n - 1 - i : i;
    if ((lost >> index & 1) == 0) left[count++] = stripe->fragments[index];
  }
  return count;
}

static void check_decode(const struct Code* code, const struct Stripe* stripe, char** left,
                         int count, int is_forced) {
  char* out = NULL;
  uint64_t bytes = 0;
  const int status = liberasurecode_decode(code->instance, left, count, stripe->fragment_bytes,
                                           is_forced, &out, &bytes);
  CHECK(status == 0);
  if (status != 0) return;
  CHECK(bytes == stripe->bytes && memcmp(out, stripe->content, bytes) == 0);
  CHECK(liberasurecode_decode_cleanup(code->instance, out) == 0);
  ++decoded;
}

/* k fragments that are neither wanted nor unavailable. */
static void check_needed(const struct Code* code, int wanted, unsigned lost) {
  int wanted_list[] = {wanted, -1};
  int excluded[fragments_max + 1];
  int needed[fragments_max + 1];
  int count = 0;
  for (int i = 0; i < code->k + code->m; ++i) {
    if ((lost >> i & 1) != 0) excluded[count++] = i;
  }
  excluded[count] = -1;
  CHECK(liberasurecode_fragments_needed(code->instance, wanted_list, excluded, needed) == 0);
  unsigned seen = 0;
  for (count = 0; count <= code->k && needed[count] >= 0; ++count)
    seen |= 1U << needed[count];
  CHECK(count == code->k && __builtin_popcount(seen) == code->k && (seen & lost) == 0);
}

static void check_pattern(const struct Code* code, const struct Stripe* stripe, unsigned lost,
                          char* room) {
  char* left[fragments_max];
  const int count = collect(code, stripe, lost, decoded % 2 != 0, left);
  check_decode(code, stripe, left, count, 0);
  for (int i = 0; i < code->k + code->m; ++i) {
    if ((lost >> i & 1) == 0) continue;
    memset(room, 0xa5, stripe->fragment_bytes);
    CHECK(liberasurecode_reconstruct_fragment(code->instance, left, count, stripe->fragment_bytes,
                                              i, room) == 0);
    CHECK(memcmp(room, stripe->fragments[i], stripe->fragment_bytes) == 0);
    check_needed(code, i, lost);
    ++rebuilt;
  }
}

/* One loss too many: data, parity and both. */
static void check_too_many_lost(const struct Code* code, const struct Stripe* stripe, char* room) {
  const unsigned many = (1U << (code->m + 1)) - 1;
  const unsigned patterns[] = {many, many << (code->k - 1), many << (code->k - 2)};
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; ++p) {
    char* left[fragments_max];
    const int count = collect(code, stripe, patterns[p], false, left);
    char* out = NULL;
    uint64_t bytes = 0;
    CHECK(liberasurecode_decode(code->instance, left, count, stripe->fragment_bytes, 0, &out,
                                &bytes) == -EINSUFFFRAGS);
    CHECK(liberasurecode_reconstruct_fragment(code->instance, left, count, stripe->fragment_bytes,
                                              0, room) < 0 ||
          (patterns[p] & 1) == 0);
    ++refused;
  }
}

static void check_every_pattern(const struct Code* code, uint64_t bytes) {
  struct Stripe stripe = make_stripe(code, bytes);
  char* const room = malloc(stripe.fragment_bytes);
  for (unsigned lost = 0; lost < 1U << (code->k + code->m); ++lost) {
    if (__builtin_popcount(lost) <= code->m) check_pattern(code, &stripe, lost, room);
  }
  check_too_many_lost(code, &stripe, room);
  free(room);
  remove_stripe(code, &stripe);
}

/* Sizes around the fragment alignment, a vector, a cache line, a page and a kernel block. */
static void check_sizes(const struct Code* code) {
  const int edges[] = {1, 2, 15, 16, 17, 31, 63, 64, 65, 127, 1024, 4096, 16384, 70001};
  const int minimum = liberasurecode_get_minimum_encode_size(code->instance);
  CHECK(minimum > 0 && minimum % code->k == 0);
  for (size_t e = 0; e < sizeof edges / sizeof *edges; ++e) {
    for (int more = -1; more <= 1; ++more) {
      const int bytes = edges[e] * code->k + more;
      struct Stripe stripe = make_stripe(code, (uint64_t)bytes);
      const int aligned = liberasurecode_get_aligned_data_size(code->instance, (uint64_t)bytes);
      CHECK(aligned >= bytes && aligned < bytes + minimum && aligned % minimum == 0);
      CHECK(FRAGSIZE_2_BLOCKSIZE(stripe.fragment_bytes) * (uint64_t)code->k == (uint64_t)aligned);
      CHECK(liberasurecode_get_fragment_size(code->instance, bytes) * code->k >= aligned);
      check_fragments(code, &stripe);
      char* left[fragments_max];
      const unsigned first = (1U << code->m) - 1;
      check_decode(code, &stripe, left, collect(code, &stripe, first, false, left), 0);
      check_decode(code, &stripe, left, collect(code, &stripe, 0, true, left), 1);
      remove_stripe(code, &stripe);
    }
  }
}

/* A flipped bit of the payload, which its checksum tells, and of each part of the header: what is
 * left serves when the caller leaves that fragment out. */
static void check_damage(const struct Backend* backend) {
  const struct Code code = make_code(backend, 4, 2, CHKSUM_CRC32);
  struct Stripe stripe = make_stripe(&code, 5000);
  const size_t meta = offsetof(fragment_header_t, meta);
  const struct {
    size_t place;
    int status;
  } damages[] = {{sizeof(fragment_header_t) + 100, -EBADCHKSUM},
                 {offsetof(fragment_header_t, magic), -EBADHEADER},
                 {offsetof(fragment_header_t, metadata_chksum), -EBADHEADER},
                 {meta + offsetof(fragment_metadata_t, idx), -EBADHEADER},
                 {meta + offsetof(fragment_metadata_t, backend_version), -EBADHEADER}};
  for (size_t d = 0; d < sizeof damages / sizeof *damages; ++d) {
    char* const byte = &stripe.fragments[1][damages[d].place];
    char *left[fragments_max], *out = NULL;
    uint64_t bytes = 0;
    *byte ^= 0x40;
    CHECK(verify(&code, &stripe) == damages[d].status);
    if (damages[d].status == -EBADHEADER) {
      CHECK(is_invalid_fragment(code.instance, stripe.fragments[1]) == 1);
      CHECK(liberasurecode_decode(code.instance, stripe.fragments, 6, stripe.fragment_bytes, 1,
                                  &out, &bytes) < 0);
    }
    check_decode(&code, &stripe, left, collect(&code, &stripe, 1U << 1, false, left), 1);
    *byte ^= 0x40;
    CHECK(verify(&code, &stripe) == 0);
    ++refused;
  }
  remove_stripe(&code, &stripe);
  remove_code(&code);
}

static void check_wrong_creation(const struct Backend* backend) {
  struct ec_args arguments;
  memset(&arguments, 0, sizeof arguments);
  arguments.k = 28;
  arguments.m = 5;
  CHECK(liberasurecode_instance_create(backend->id, &arguments) == -EINVALIDPARAMS);
  CHECK(liberasurecode_instance_create(backend->id, NULL) == -EINVALIDPARAMS);
  CHECK(liberasurecode_instance_create(EC_BACKENDS_MAX, &arguments) == -EBACKENDNOTSUPP);
  CHECK(liberasurecode_instance_destroy(unknown_instance) < 0);
  refused += 4;
}

/* Nulls, instances that do not exist and buffers that are not fragments. */
static void check_wrong_arguments(const struct Backend* backend) {
  check_wrong_creation(backend);
  const struct Code code = make_code(backend, 4, 2, CHKSUM_NONE);
  const int instance = code.instance;
  struct Stripe stripe = make_stripe(&code, 1000);
  const uint64_t bytes = stripe.fragment_bytes;
  char **data = NULL, **parity = NULL, *out = NULL;
  char* const room = malloc(bytes);
  uint64_t length = 0;
  int list[] = {0, -1}, needed[8];
  fragment_metadata_t told;
  char** const all = stripe.fragments;
  const int statuses[] = {
      liberasurecode_encode(instance, NULL, 9, &data, &parity, &length),
      liberasurecode_encode(instance, "abc", 3, NULL, &parity, &length),
      liberasurecode_encode(instance, "abc", 3, &data, NULL, &length),
      liberasurecode_encode(instance, "abc", 3, &data, &parity, NULL),
      liberasurecode_encode(unknown_instance, "abc", 3, &data, &parity, &length),
      liberasurecode_encode_cleanup(unknown_instance, data, parity),
      liberasurecode_decode(instance, NULL, 6, bytes, 0, &out, &length),
      liberasurecode_decode(instance, all, 6, bytes, 0, NULL, &length),
      liberasurecode_decode(instance, all, 6, bytes, 0, &out, NULL),
      liberasurecode_decode(instance, all, 6, sizeof(fragment_header_t) - 1, 0, &out, &length),
      liberasurecode_decode(instance, all, 3, bytes, 0, &out, &length),
      liberasurecode_decode(unknown_instance, all, 6, bytes, 0, &out, &length),
      liberasurecode_decode_cleanup(unknown_instance, NULL),
      liberasurecode_reconstruct_fragment(instance, NULL, 6, bytes, 0, room),
      liberasurecode_reconstruct_fragment(instance, all, 6, bytes, 0, NULL),
      liberasurecode_reconstruct_fragment(instance, all + 1, 3, bytes, 0, room),
      liberasurecode_reconstruct_fragment(unknown_instance, all, 6, bytes, 0, room),
      liberasurecode_fragments_needed(instance, NULL, list, needed),
      liberasurecode_fragments_needed(instance, list, NULL, needed),
      liberasurecode_fragments_needed(instance, list, list, NULL),
      liberasurecode_fragments_needed(unknown_instance, list, list, needed),
      liberasurecode_get_fragment_metadata(NULL, &told),
      liberasurecode_get_fragment_metadata(all[0], NULL),
      liberasurecode_verify_stripe_metadata(instance, NULL, 6),
      liberasurecode_verify_stripe_metadata(instance, all, 0),
      liberasurecode_verify_stripe_metadata(unknown_instance, all, 6),
      liberasurecode_get_aligned_data_size(unknown_instance, 9),
      liberasurecode_get_minimum_encode_size(unknown_instance),
      liberasurecode_get_fragment_size(unknown_instance, 9),
  };
  for (size_t s = 0; s < sizeof statuses / sizeof *statuses; ++s) {
    if (statuses[s] >= 0) fprintf(stderr, "wrong arguments %zu: status %d\n", s, statuses[s]);
    CHECK(statuses[s] < 0);
    ++refused;
  }
  CHECK(is_invalid_fragment(instance, NULL) == 1);
  CHECK(is_invalid_fragment(unknown_instance, all[0]) == 1);
  free(room);
  remove_stripe(&code, &stripe);
  remove_code(&code);
}

/* Many instances of both back ends at once, destroyed in another order, as in a server. */
static void check_many_instances(void) {
  enum { count = 24 };
  struct Code codes[count];
  for (int i = 0; i < count; ++i)
    codes[i] = make_code(&backends[i % 2], 2 + i % 9, 1 + i % 4, CHKSUM_NONE);
  for (int i = 0; i < count; ++i) {
    const struct Code* const code = &codes[(i * 7) % count];
    struct Stripe stripe = make_stripe(code, (uint64_t)(1 + 977 * i));
    char* left[fragments_max];
    check_fragments(code, &stripe);
    check_decode(code, &stripe, left, collect(code, &stripe, 1, false, left), 0);
    remove_stripe(code, &stripe);
  }
  for (int i = 0; i < count; ++i)
    remove_code(&codes[(i * 5) % count]);
  CHECK(liberasurecode_instance_destroy(codes[0].instance) < 0);
}

/* True if the only mapped libisal.so is the given file. */
static bool is_ours_mapped(const char* library) {
  char* const expected = realpath(library, NULL);
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[4400];
  int found = 0, others = 0;
  while (expected != NULL && maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char* const path = strchr(line, '/');
    if (path == NULL || strstr(path, "/libisal.so") == NULL) continue;
    path[strcspn(path, "\n")] = '\0';
    if (strcmp(path, expected) == 0) {
      ++found;
    } else {
      fprintf(stderr, "mapped is %s; expected %s\n", path, expected);
      ++others;
    }
  }
  if (maps != NULL) fclose(maps);
  free(expected);
  return found > 0 && others == 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: calpe_liberasurecode_calls LIBRARY\n");
    return 2;
  }
  CHECK(liberasurecode_get_version() == LIBERASURECODE_VERSION);
  const int sizes[][2] = {{4, 2}, {10, 4}};
  for (size_t b = 0; b < sizeof backends / sizeof *backends; ++b) {
    CHECK(liberasurecode_backend_available(backends[b].id) == 1);
    check_wrong_arguments(&backends[b]);
    check_damage(&backends[b]);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const struct Code code = make_code(&backends[b], sizes[s][0], sizes[s][1], CHKSUM_CRC32);
      check_sizes(&code);
      check_every_pattern(&code, 1);
      check_every_pattern(&code, 12345);
      CHECK(is_ours_mapped(argv[1]));
      remove_code(&code);
    }
  }
  check_many_instances();
  /* Two back ends; 22 patterns of 4+2 and 1,471 of 10+4, the empty one too, of two sizes each. */
  const long patterns = 22 + 1471, losses = 6 + 2 * 15 + 14 + 2 * 91 + 3 * 364 + 4 * 1001;
  CHECK(encoded == 2 * (1 + 1 + 2 * (3 * 14 + 2)) + 24);
  CHECK(decoded == 2 * (5 + 2 * 2 * 3 * 14 + 2 * patterns) + 24);
  CHECK(rebuilt == 2 * 2 * losses);
  printf("liberasurecode: %ld stripes, %ld decoded, %ld fragments rebuilt, %ld calls refused\n",
         encoded, decoded, rebuilt, refused);
  return failures == 0 ? 0 : 1;
}
