/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: objects of any length. */
#include <calpe/calpe.h>

#include "check.h"

#define DATA 4
#define PARITY 2
#define BYTES_MAX 1000

static calpe_error error;
static unsigned char object[BYTES_MAX], padded[DATA][BYTES_MAX];
static unsigned char parity[PARITY][BYTES_MAX], expected[PARITY][BYTES_MAX];
static void* const outputs[PARITY] = {parity[0], parity[1]};
static void* const expected_outputs[PARITY] = {expected[0], expected[1]};

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0')

static calpe_codec* make_codec(uint32_t family, uint32_t layout) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  spec.family = family;
  spec.layout = layout;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  if (layout == CALPE_LAYOUT_PACKETS) spec.packet_bytes = 8;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  return codec;
}

/* Parity is that of shards padded with zeros, and lost data shards are rebuilt in the object. */
static void test_object(const calpe_codec* codec, size_t object_bytes, size_t shard_bytes) {
  static const uint16_t available[] = {0, 2, 4, 5}, wanted[] = {3, 1};
  const void *data[DATA], *padded_data[DATA];
  size_t data_bytes[DATA], total = 0;
  unsigned char before[BYTES_MAX];
  const void* const survivors[PARITY] = {parity[0], parity[1]};
  calpe_plan* plan = NULL;
  CHECK_OK(calpe_split(codec, object, object_bytes, shard_bytes, data, data_bytes, &error));
  (void)memset(padded, 0, sizeof padded);
  for (unsigned i = 0; i < DATA; ++i) {
    CHECK((data[i] == NULL) == (data_bytes[i] == 0));
    CHECK(data_bytes[i] == 0 || data[i] == object + total);
    if (data_bytes[i] > 0) (void)memcpy(padded[i], data[i], data_bytes[i]);
    padded_data[i] = padded[i];
    total += data_bytes[i];
  }
  CHECK(total == object_bytes);
  CHECK_OK(calpe_encode(codec, padded_data, expected_outputs, shard_bytes, &error));
  CHECK_OK(calpe_encode_object(codec, object, object_bytes, outputs, shard_bytes, &error));
  CHECK(memcmp(parity, expected, sizeof parity) == 0);

  (void)memcpy(before, object, sizeof before);
  CHECK_OK(calpe_plan_decode(codec, available, 4, wanted, 2, NULL, &plan, &error));
  for (unsigned i = 0; i < 2; ++i) {
    const size_t at = wanted[i] * shard_bytes;
    if (data_bytes[wanted[i]] > 0) (void)memset(object + at, 0xEE, data_bytes[wanted[i]]);
  }
  CHECK_OK(calpe_decode_object(codec, plan, object, object_bytes, survivors, shard_bytes, &error));
  CHECK(memcmp(before, object, sizeof before) == 0);
  calpe_plan_destroy(plan);
}

static void test_objects(void) {
  static const size_t lengths[] = {0, 1, 3, 4, 97, 256, 801};
  static const uint32_t families[] = {CALPE_FAMILY_DEFAULT, CALPE_FAMILY_CAUCHY,
                                      CALPE_FAMILY_CAUCHY_GOOD};
  for (size_t i = 0; i < sizeof object; ++i)
    object[i] = (unsigned char)(i * i + 7 * i + 1);
  for (unsigned f = 0; f < 3; ++f) {
    calpe_codec* codec =
        make_codec(families[f], f == 0 ? CALPE_LAYOUT_BYTES : CALPE_LAYOUT_PACKETS);
    const size_t multiple = calpe_shard_bytes_multiple(codec);
    CHECK(multiple == (f == 2 ? 64 : 1));
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
      const size_t shard_bytes = calpe_shard_bytes_for(codec, lengths[i]);
      CHECK(shard_bytes == ((lengths[i] + DATA - 1) / DATA + multiple - 1) / multiple * multiple);
      test_object(codec, lengths[i], shard_bytes);
      test_object(codec, lengths[i], shard_bytes + 3 * multiple);
    }
    calpe_codec_destroy(codec);
  }
}

static void test_refusals(void) {
  static const uint16_t available[] = {1, 2, 3, 4};
  static const uint16_t wanted = 0;
  void* const half[PARITY] = {parity[0], NULL};
  const void *data[DATA], *read[PARITY] = {NULL, NULL};
  size_t data_bytes[DATA];
  calpe_codec* codec = make_codec(CALPE_FAMILY_CAUCHY, 0);
  calpe_plan *plan = NULL, *encode = NULL;
  CHECK_OK(calpe_plan_decode(codec, available, 4, &wanted, 1, NULL, &plan, &error));
  CHECK_OK(calpe_plan_encode(codec, &encode, &error));
  REFUSED(calpe_split(NULL, object, 10, 3, data, data_bytes, &error));
  REFUSED(calpe_split(codec, NULL, 10, 3, data, data_bytes, &error));
  REFUSED(calpe_split(codec, object, 10, 3, NULL, data_bytes, &error));
  REFUSED(calpe_split(codec, object, 10, 3, data, NULL, &error));
  REFUSED(calpe_split(codec, object, 10, 2, data, data_bytes, &error));
  CHECK(strcmp(error.message, "shard_bytes is 2; expected at least 3 as object has 10 bytes") == 0);
  CHECK_OK(calpe_split(codec, NULL, 0, 0, data, data_bytes, &error));
  REFUSED(calpe_encode_object(NULL, object, 10, outputs, 3, &error));
  REFUSED(calpe_encode_object(codec, NULL, 10, outputs, 3, &error));
  REFUSED(calpe_encode_object(codec, object, 10, NULL, 3, &error));
  REFUSED(calpe_encode_object(codec, object, 10, half, 3, &error));
  CHECK(strcmp(error.message, "parity[1] is NULL; expected 3 bytes") == 0);
  REFUSED(calpe_encode_object(codec, object, 10, outputs, 2, &error));
  REFUSED(calpe_encode_object(codec, object, 10, outputs, SIZE_MAX, &error));
  REFUSED(calpe_decode_object(NULL, plan, object, 10, read, 3, &error));
  REFUSED(calpe_decode_object(codec, NULL, object, 10, read, 3, &error));
  REFUSED(calpe_decode_object(codec, plan, NULL, 10, read, 3, &error));
  REFUSED(calpe_decode_object(codec, plan, object, 10, NULL, 3, &error));
  REFUSED(calpe_decode_object(codec, plan, object, 10, read, 3, &error));
  CHECK(strcmp(error.message, "parity[0] is NULL; expected 3 bytes") == 0);
  read[0] = parity[0]; /* the plan does not read the other one */
  CHECK_OK(calpe_decode_object(codec, plan, object, 10, read, 3, &error));
  REFUSED(calpe_decode_object(codec, encode, object, 10, read, 3, &error));
  CHECK_OK(calpe_decode_object(codec, plan, NULL, 0, read, 0, &error));
  calpe_plan_destroy(encode);
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
}

int main(void) {
  test_objects();
  test_refusals();
  return failures == 0 ? 0 : 1;
}
