/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: the library, codes and their proofs, codecs, the field. Plans and work are in
 * api_work_test.c. Comments derive the expected values by hand. */
#include <calpe/calpe.h>

#include "check.h"

static calpe_error error;

static calpe_spec make_spec(uint32_t family, uint32_t data_shards, uint32_t parity_shards) {
  calpe_spec spec = {sizeof spec, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  spec.family = family;
  spec.data_shards = data_shards;
  spec.parity_shards = parity_shards;
  return spec;
}

static calpe_proof make_proof(void) {
  calpe_proof proof;
  (void)memset(&proof, 0xEE, sizeof proof);
  proof.struct_size = sizeof proof;
  return proof;
}

static void test_library(void) {
  CHECK(calpe_abi_version() == CALPE_ABI_VERSION);

  size_t profiles = 0;
  int has_lrc = 0;
  const calpe_profile* profile;
  for (; (profile = calpe_profile_at(profiles)) != NULL; ++profiles) {
    CHECK(profile->struct_size == sizeof *profile);
    CHECK(profile->name[0] != '\0' && profile->construction[0] != '\0');
    CHECK(profile->compatible[0] != '\0');
    CHECK(profile->bytes_layout || profile->packets_layout);
    if (profile->family == CALPE_FAMILY_LRC) has_lrc = strcmp(profile->name, "lrc") == 0;
  }
  CHECK(profiles >= 14 && has_lrc);
  CHECK(strcmp(calpe_profile_at(0)->name, "default") == 0);
  CHECK(calpe_profile_at(0)->family == CALPE_FAMILY_DEFAULT);

  calpe_backend_info info = {sizeof info, "", "", "", 0};
  size_t backends = 0;
  int has_reference = 0;
  for (; calpe_backend_at(backends, &info); ++backends) {
    CHECK(info.name[0] != '\0' && info.description[0] != '\0');
    CHECK(info.available == (info.reason[0] == '\0'));
    if (strcmp(info.name, "reference") == 0) has_reference = info.available == 1;
  }
  CHECK(backends >= 3 && has_reference);
  CHECK(calpe_backend_at(0, NULL) == 0);
  /* A caller whose header does not have the field `reason` yet. */
  (void)memset(&info, 0xEE, sizeof info);
  info.struct_size = offsetof(calpe_backend_info, reason);
  CHECK(calpe_backend_at(0, &info) == 1 && memchr(info.name, 0, sizeof info.name) != NULL);
  CHECK(info.struct_size == offsetof(calpe_backend_info, reason));
  CHECK((unsigned char)info.reason[0] == 0xEE && info.available == 0xEEEEEEEE);
  info.struct_size = 0;
  CHECK(calpe_backend_at(0, &info) == 0);
}

/* A path of the cpu backend is listed exactly if it was built. */
static void test_techniques(void) {
  const calpe_technique* technique;
  size_t techniques = 0;
  for (; (technique = calpe_technique_at(techniques)) != NULL; ++techniques) {
    CHECK(technique->struct_size == sizeof *technique);
    CHECK(technique->name[0] != '\0' && technique->description[0] != '\0');
    CHECK(technique == calpe_technique_at(techniques));
    if (strcmp(technique->name, "jit") == 0 || strcmp(technique->name, "additive-fft") == 0) {
      continue;
    }
    calpe_backend_info info = {sizeof info, "", "", "", 0};
    uint32_t listed = 0;
    for (size_t i = 0; calpe_backend_at(i, &info); ++i) {
      const int is_path = strncmp(info.name, "cpu:", 4) == 0;
      if (is_path && strcmp(info.name + 4, technique->name) == 0) listed = 1;
    }
    CHECK(listed == technique->built);
  }
  CHECK(techniques >= 1);
}

static void test_proof_kinds(void) {
  static const char* const names[] = {"cauchy", "minors", "pyramid", "refuted", "undecided"};
  for (uint32_t i = 0; i < 5; ++i) {
    CHECK(strcmp(calpe_proof_kind_name(CALPE_PROOF_CAUCHY + i), names[i]) == 0);
  }
  CHECK(calpe_proof_kind_name(0) == NULL && calpe_proof_kind_name(6) == NULL);
  CHECK(calpe_proof_kind_name(256 + CALPE_PROOF_CAUCHY) == NULL);
  CHECK(calpe_proof_kind_name(UINT32_MAX) == NULL);
}

static void test_proofs(void) {
  calpe_proof proof = make_proof();
  calpe_spec spec = make_spec(CALPE_FAMILY_CAUCHY, 10, 4);
  CHECK_OK(calpe_prove(&spec, &proof, &error));
  CHECK(proof.kind == CALPE_PROOF_CAUCHY && proof.losses == 4 && proof.dead_count == 0);
  CHECK(strstr(proof.text, "MDS") != NULL);

  /* ISA-L documents that its Vandermonde matrix fails here: data 0, 3, 5 with parity 2, 3. */
  static const uint16_t dead[] = {0, 3, 5, 12, 13};
  spec = make_spec(CALPE_FAMILY_VANDERMONDE_ISAL, 10, 5);
  CHECK_OK(calpe_prove(&spec, &proof, &error));
  CHECK(proof.kind == CALPE_PROOF_REFUTED && proof.dead_count == 5 && proof.minors > 0);
  CHECK(memcmp(proof.dead, dead, sizeof dead) == 0);
  calpe_codec* codec = (calpe_codec*)&spec;
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_UNPROVEN);
  CHECK(codec == NULL && error.status == CALPE_ERROR_UNPROVEN);
  CHECK(strstr(error.message, "data 0, 3, 5 with parity 2, 3") != NULL);

  /* Azure's 12+2+2 rebuilds 1568 of the 1820 losses of four shards. */
  calpe_pattern_count counts[4];
  spec = make_spec(CALPE_FAMILY_LRC, 12, 4);
  spec.local_groups = 2;
  CHECK_OK(calpe_prove(&spec, &proof, &error));
  CHECK(proof.kind == CALPE_PROOF_PYRAMID && proof.losses == 3);
  CHECK_OK(calpe_count_recoverable(&spec, counts, 4, &error));
  CHECK(counts[0].losses == 1 && counts[0].patterns == 16 && counts[0].recoverable == 16);
  CHECK(counts[3].patterns == 1820 && counts[3].recoverable == 1568);
  CHECK(calpe_count_recoverable(&spec, counts, 3, &error) == CALPE_ERROR_INVALID_ARGUMENT);

  CHECK(calpe_prove(NULL, &proof, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_prove(&spec, NULL, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  proof = make_proof();
  proof.struct_size = offsetof(calpe_proof, minors);
  CHECK_OK(calpe_prove(&spec, &proof, &error));
  CHECK(proof.kind == CALPE_PROOF_PYRAMID && proof.losses == 3 && proof.dead_count == 0xEEEEEEEE);
  proof.struct_size = 0;
  CHECK(calpe_prove(&spec, &proof, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "expected sizeof(calpe_proof)") != NULL);
  CHECK(calpe_count_recoverable(&spec, NULL, 4, NULL) == CALPE_ERROR_INVALID_ARGUMENT);
}

static void test_rows(void) {
  /* 1/((3+i) xor j): {1/3, 1/2, 1/1} and {1/4, 1/5, 1/6}. */
  static const uint16_t expected[] = {0xF4, 0x8E, 0x01, 0x47, 0xA7, 0x7A};
  uint16_t rows[6];
  calpe_spec spec = make_spec(CALPE_FAMILY_CAUCHY, 3, 2);
  CHECK_OK(calpe_parity_rows(&spec, rows, 6, &error));
  CHECK(memcmp(rows, expected, sizeof expected) == 0);
  /* The same with a first row of ones. */
  static const uint16_t hybrid[] = {0x01, 0x01, 0x01, 0x47, 0xA7, 0x7A};
  spec = make_spec(CALPE_FAMILY_DEFAULT, 3, 2);
  CHECK_OK(calpe_parity_rows(&spec, rows, 6, &error));
  CHECK(memcmp(rows, hybrid, sizeof hybrid) == 0);
  /* {w1/w2, w1/w3, w2/w4}, {w1/w3, w1/w2, w2/w5} with w1..w5 = 01, d6, d7, 98, 99. */
  static const uint16_t lch[] = {0xD7, 0xD6, 0x99, 0xD6, 0xD7, 0x98};
  spec = make_spec(CALPE_FAMILY_LCH, 3, 2);
  CHECK_OK(calpe_parity_rows(&spec, rows, 6, &error));
  CHECK(memcmp(rows, lch, sizeof lch) == 0);
  CHECK(calpe_parity_rows(&spec, rows, 5, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_parity_rows(&spec, NULL, 6, &error) == CALPE_ERROR_INVALID_ARGUMENT);
}

static void test_refused_specs(void) {
  calpe_codec* codec;
  calpe_spec spec = make_spec(0, 0, 2);
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "data_shards is 0; expected at least 1") == 0);
  spec = make_spec(0, 70000, 2);
  CHECK(calpe_codec_create(&spec, NULL, &codec, NULL) == CALPE_ERROR_INVALID_ARGUMENT);
  spec = make_spec(15, 4, 2); /* not assigned */
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  spec = make_spec(CALPE_FAMILY_LCH, 193, 40); /* 64 places for parity leave 192 */
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "N is 64, which makes 320") != NULL);
  spec = make_spec(CALPE_FAMILY_DEFAULT, 4, 2);
  spec.layout = CALPE_LAYOUT_PACKETS;
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "one of cauchy, hybrid, hybrid-good") != NULL);
  spec = make_spec(CALPE_FAMILY_CUSTOM, 4, 2);
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  spec = make_spec(0, 4, 2);
  spec.matrix_hash = 1;
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_CORRUPT);
  spec.struct_size = 0;
  CHECK(calpe_codec_create(&spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_codec_create(NULL, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  spec = make_spec(0, 4, 2);
  CHECK(calpe_codec_create(&spec, NULL, NULL, &error) == CALPE_ERROR_INVALID_ARGUMENT);

  calpe_options options = {sizeof options, "cpu:no-such-path", 0, 0, 0, 0};
  CHECK(calpe_codec_create(&spec, &options, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "no-such-path") != NULL && codec == NULL);
  calpe_codec_destroy(NULL);
}

/* The default family, and what the caller must store: the family it resolves to. */
static void test_default_family(void) {
  static const struct {
    uint32_t data_shards, parity_shards, family;
  } expected[] = {{10, 1, CALPE_FAMILY_HYBRID},
                  {252, 4, CALPE_FAMILY_HYBRID},
                  {10, 5, CALPE_FAMILY_LCH},
                  {248, 8, CALPE_FAMILY_LCH},
                  {249, 7, CALPE_FAMILY_HYBRID}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
    const calpe_spec spec = make_spec(0, expected[i].data_shards, expected[i].parity_shards);
    calpe_codec* codec = NULL;
    CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
    calpe_spec resolved = {sizeof resolved, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    calpe_codec_spec(codec, &resolved);
    CHECK(resolved.family == expected[i].family && resolved.matrix_hash != 0);
    calpe_codec_destroy(codec);
    /* Family 0 has the hash of the code it resolves to. */
    resolved.family = CALPE_FAMILY_DEFAULT;
    CHECK_OK(calpe_codec_create(&resolved, NULL, &codec, &error));
    calpe_codec_destroy(codec);
    resolved.matrix_hash ^= 1;
    CHECK(calpe_codec_create(&resolved, NULL, &codec, &error) == CALPE_ERROR_CORRUPT);
  }
}

static void test_structures_grow(void) {
  /* A caller built with a header that ends after data_shards and parity_shards: the library must
   * not read or write beyond. */
  calpe_spec spec = make_spec(CALPE_FAMILY_HYBRID, 4, 2);
  spec.struct_size = offsetof(calpe_spec, word_bits);
  spec.word_bits = 99;
  spec.matrix_hash = 99;
  calpe_options options = {offsetof(calpe_options, threads), "reference", 7, 7, 7, 7};
  calpe_codec* codec = NULL;
  CHECK_OK(calpe_codec_create(&spec, &options, &codec, &error));
  CHECK(error.status == CALPE_OK && error.message[0] == '\0');
  CHECK(strcmp(calpe_codec_backend(codec), "reference") == 0);
  CHECK(calpe_codec_threads(codec) == 1);

  calpe_spec resolved;
  (void)memset(&resolved, 0xEE, sizeof resolved);
  resolved.struct_size = offsetof(calpe_spec, polynomial);
  calpe_codec_spec(codec, &resolved);
  CHECK(resolved.struct_size == offsetof(calpe_spec, polynomial));
  CHECK(resolved.family == CALPE_FAMILY_HYBRID && resolved.layout == CALPE_LAYOUT_BYTES);
  CHECK(resolved.data_shards == 4 && resolved.parity_shards == 2 && resolved.word_bits == 8);
  CHECK(resolved.polynomial == 0xEEEEEEEE);

  /* The complete spec makes the same codec again, and its hash is checked. */
  resolved.struct_size = sizeof resolved;
  calpe_codec_spec(codec, &resolved);
  CHECK(resolved.polynomial == 0x11D && resolved.matrix_hash != 0 && resolved.packet_bytes == 0);
  calpe_codec* again = NULL;
  CHECK_OK(calpe_codec_create(&resolved, NULL, &again, &error));
  calpe_codec_destroy(again);
  calpe_codec_destroy(codec);
}

/* A caller built with a newer header: additional fields that are zero are accepted, others are
 * refused. Structures that callers fill must not end with padding, or its garbage would be taken
 * for the first new field. */
static void test_newer_callers(void) {
  struct {
    calpe_spec spec;
    uint64_t newer;
  } grown = {make_spec(0, 4, 2), 0};
  struct {
    calpe_options options;
    uint64_t newer;
  } chosen = {{sizeof chosen, "reference", 0, 0, 0, 0}, 0};
  grown.spec.struct_size = sizeof grown;
  calpe_codec* codec = NULL;
  CHECK_OK(calpe_codec_create(&grown.spec, &chosen.options, &codec, &error));
  calpe_codec_spec(codec, &grown.spec);
  CHECK(grown.spec.struct_size == sizeof grown && grown.newer == 0);
  calpe_codec_destroy(codec);
  chosen.newer = 1;
  CHECK(calpe_codec_create(&grown.spec, &chosen.options, &codec, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "options->struct_size is 40; expected sizeof(calpe_options), 32"));
  chosen.options.struct_size = 0;
  CHECK(calpe_codec_create(&grown.spec, &chosen.options, &codec, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  grown.newer = (uint64_t)1 << 63;
  CHECK(calpe_codec_create(&grown.spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(codec == NULL && strstr(error.message, "spec->struct_size is 56; expected") != NULL);
  (void)memset(&grown, 0xEE, sizeof grown); /* never set: nothing after it is read */
  CHECK(calpe_codec_create(&grown.spec, NULL, &codec, &error) == CALPE_ERROR_INVALID_ARGUMENT);

  CHECK(offsetof(calpe_spec, matrix_hash) + sizeof grown.spec.matrix_hash == sizeof(calpe_spec));
  CHECK(offsetof(calpe_options, effort) + sizeof chosen.options.effort == sizeof(calpe_options));
  CHECK(offsetof(calpe_matrix, row_stride) + sizeof(size_t) == sizeof(calpe_matrix));
}

static void test_codec_facts(void) {
  static const uint32_t asked[] = {0, 1, 2, CALPE_THREADS_ALL};
  calpe_spec spec = make_spec(CALPE_FAMILY_CAUCHY_GOOD, 4, 2);
  spec.layout = CALPE_LAYOUT_PACKETS;
  spec.word_bits = 4;
  spec.packet_bytes = 24;
  calpe_codec* codec = NULL;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
    calpe_options options = {sizeof options, NULL, 0, 0, 0, 0};
    options.threads = asked[i];
    CHECK_OK(calpe_codec_create(&spec, &options, &codec, &error));
    const uint32_t threads = calpe_codec_threads(codec);
    CHECK(asked[i] == CALPE_THREADS_ALL ? threads >= 1 : threads == (asked[i] < 2 ? 1 : asked[i]));
    CHECK(strchr(calpe_codec_backend(codec), ':') != NULL); /* jit:avx2, cpu:neon, ... */
    CHECK(calpe_shard_bytes_multiple(codec) == 96);         /* as Jerasure: w * packet_bytes */
    calpe_proof proof = make_proof();
    calpe_codec_proof(codec, &proof);
    CHECK(proof.kind <= CALPE_PROOF_PYRAMID && proof.losses == 2);
    calpe_codec_destroy(codec);
  }
  spec.family = CALPE_FAMILY_CAUCHY;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  CHECK(calpe_shard_bytes_multiple(codec) == 1);
  CHECK(calpe_parity_bytes(codec, 301) == 304); /* the next multiple of w */
  size_t offset = 100, bytes = 5;               /* in the second group of 4 x 24 */
  calpe_codable_range(codec, 301, &offset, &bytes);
  CHECK(offset == 96 && bytes == 96);
  offset = 290;
  bytes = 11; /* in the short last group */
  calpe_codable_range(codec, 301, &offset, &bytes);
  CHECK(offset == 288 && bytes == 13);
  calpe_codec_destroy(codec);
}

static void test_custom_matrix(void) {
  static const uint16_t good[] = {1, 1, 1, 2};
  static const uint16_t bad[] = {1, 1, 1, 1}; /* cannot restore both data shards */
  calpe_spec spec = make_spec(CALPE_FAMILY_CUSTOM, 2, 2);
  calpe_options options = {sizeof options, NULL, 0, 0, 0, 0};
  calpe_codec* codec = NULL;
  CHECK_OK(calpe_codec_create_from_matrix(&spec, good, NULL, &codec, &error));
  calpe_proof proof = make_proof();
  calpe_codec_proof(codec, &proof);
  CHECK(proof.losses == 2 && proof.kind <= CALPE_PROOF_MINORS);
  calpe_codec_destroy(codec);

  CHECK(calpe_codec_create_from_matrix(&spec, bad, &options, &codec, &error) ==
        CALPE_ERROR_UNPROVEN);
  CHECK(codec == NULL && strstr(error.message, "losing data 0, 1") != NULL);
  options.allow_unproven = 1;
  CHECK_OK(calpe_codec_create_from_matrix(&spec, bad, &options, &codec, &error));
  calpe_codec_proof(codec, &proof);
  CHECK(proof.kind == CALPE_PROOF_REFUTED && proof.dead[0] == 0 && proof.dead[1] == 1);
  calpe_codec_destroy(codec);
  codec = NULL;
  options.effort = 300;
  CHECK(calpe_codec_create_from_matrix(&spec, bad, &options, &codec, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(codec == NULL &&
        strstr(error.message, "effort is 300; expected CALPE_EFFORT_FAST (0)") != NULL);
  options.effort = CALPE_EFFORT_THOROUGH;
  CHECK_OK(calpe_codec_create_from_matrix(&spec, bad, &options, &codec, &error));
  static const uint16_t parity[] = {2, 3}, data[] = {0, 1}, mixed[] = {1, 2};
  calpe_plan* plan = NULL;
  CHECK(calpe_plan_decode(codec, parity, 2, data, 2, NULL, &plan, &error) ==
        CALPE_ERROR_UNRECOVERABLE);
  CHECK(plan == NULL && strstr(error.message, "cannot be rebuilt") != NULL);
  CHECK_OK(calpe_plan_decode(codec, mixed, 2, data, 1, NULL, &plan, &error));
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);

  CHECK(calpe_codec_create_from_matrix(&spec, NULL, NULL, &codec, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_codec_create_from_matrix(&spec, good, NULL, NULL, &error) ==
        CALPE_ERROR_INVALID_ARGUMENT);
}

static void test_field(void) {
  uint16_t result = 0;
  CHECK_OK(calpe_gf_multiply(0, 0, 0x80, 2, &result, &error));
  CHECK(result == 0x1D); /* x^8 = x^4 + x^3 + x^2 + 1 */
  CHECK_OK(calpe_gf_multiply(8, 0x11B, 0x53, 0xCA, &result, &error));
  CHECK(result == 1); /* the pair in the AES standard */
  /* x^(w-1) times x is what the usual polynomial has below x^w: for w = 3, x + 1. */
  static const uint16_t below[] = {0, 0, 0x3, 0x3, 0x3, 0x5, 0x3, 0x9, 0x1D};
  for (uint32_t w = 2; w <= 8; ++w) {
    CHECK_OK(calpe_gf_multiply(w, 0, 2, (uint16_t)(1u << (w - 1)), &result, &error));
    CHECK(result == below[w]);
  }
  CHECK_OK(calpe_gf_inverse(8, 0, 2, &result, &error));
  CHECK(result == 0x8E);
  CHECK(calpe_gf_inverse(8, 0, 0, &result, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_gf_multiply(8, 0, 256, 1, &result, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_gf_multiply(9, 0, 1, 1, &result, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_gf_multiply(8, 0x100, 1, 1, &result, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_gf_multiply(8, 0, 1, 1, NULL, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_gf_inverse(8, 0, 1, NULL, &error) == CALPE_ERROR_INVALID_ARGUMENT);

  /* {1,1; 1,2} has determinant 3, so its inverse is {2,1; 1,1} / 3; in place. */
  uint16_t matrix[] = {1, 1, 1, 2};
  CHECK_OK(calpe_gf_invert_matrix(8, 0, matrix, 2, matrix, &error));
  CHECK(matrix[0] == 0xF5 && matrix[1] == 0xF4 && matrix[2] == 0xF4 && matrix[3] == 0xF4);
  static const uint16_t singular[] = {1, 2, 1, 2};
  CHECK(calpe_gf_invert_matrix(8, 0, singular, 2, matrix, &error) == CALPE_ERROR_UNRECOVERABLE);
  CHECK(calpe_gf_invert_matrix(8, 0, NULL, 2, matrix, &error) == CALPE_ERROR_INVALID_ARGUMENT);
}

int main(void) {
  test_library();
  test_techniques();
  test_proof_kinds();
  test_proofs();
  test_rows();
  test_refused_specs();
  test_default_family();
  test_structures_grow();
  test_newer_callers();
  test_codec_facts();
  test_custom_matrix();
  test_field();
  return failures == 0 ? 0 : 1;
}
