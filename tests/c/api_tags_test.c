/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: tags of a stripe of 5+4 with shards of 40,000 bytes. */
#include <string.h>

#include <calpe/calpe.h>

#include "check.h"

#define DATA 5
#define PARITY 4
#define SHARDS (DATA + PARITY)
#define BYTES 40000

static calpe_error error;
static unsigned char stripe[SHARDS][BYTES];
static const void* shards[SHARDS];
static void* parity[PARITY];

static void test_tags(const calpe_codec* codec) {
  unsigned char tags[SHARDS][CALPE_TAG_BYTES];
  unsigned char separate[SHARDS][CALPE_TAG_BYTES];
  const void* tag_list[SHARDS];
  uint16_t wrong[PARITY];
  size_t wrong_count = 99;
  CHECK_OK(calpe_encode_tagged(codec, shards, parity, BYTES, tags, &error));
  CHECK_OK(calpe_tag(codec, shards, SHARDS, BYTES, separate, &error));
  CHECK(memcmp(tags, separate, sizeof tags) == 0);

  /* Tags are shards: parity that does not match is found from tags alone. */
  stripe[DATA + 2][39999] ^= 1;
  CHECK_OK(calpe_tag(codec, shards, SHARDS, BYTES, tags, &error));
  for (size_t i = 0; i < SHARDS; ++i)
    tag_list[i] = tags[i];
  CHECK_OK(calpe_verify(codec, tag_list, &tag_list[DATA], CALPE_TAG_BYTES, wrong, PARITY,
                        &wrong_count, &error));
  CHECK(wrong_count == 1 && wrong[0] == DATA + 2);
  CHECK_OK(
      calpe_locate(codec, tag_list, CALPE_TAG_BYTES, NULL, 0, wrong, PARITY, &wrong_count, &error));
  CHECK(wrong_count == 1 && wrong[0] == DATA + 2);
}

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT)

static void test_refusals(const calpe_codec* codec) {
  unsigned char tags[SHARDS][CALPE_TAG_BYTES];
  const void* holes[SHARDS] = {NULL};
  void* out_holes[PARITY] = {NULL};
  calpe_spec spec = {
      sizeof spec, CALPE_FAMILY_CAUCHY, CALPE_LAYOUT_PACKETS, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_codec* packets = NULL;
  REFUSED(calpe_tag(NULL, shards, SHARDS, BYTES, tags, &error));
  REFUSED(calpe_tag(codec, NULL, SHARDS, BYTES, tags, &error));
  REFUSED(calpe_tag(codec, shards, SHARDS, BYTES, NULL, &error));
  REFUSED(calpe_tag(codec, holes, SHARDS, BYTES, tags, &error));
  CHECK(strcmp(error.message, "shards[0] is NULL; expected 40000 bytes") == 0);
  REFUSED(calpe_tag(codec, shards, (size_t)-1, BYTES, tags, &error));
  CHECK_OK(calpe_tag(codec, NULL, 0, BYTES, NULL, &error));
  CHECK_OK(calpe_tag(codec, holes, SHARDS, 0, tags, &error));
  REFUSED(calpe_encode_tagged(NULL, shards, parity, BYTES, tags, &error));
  REFUSED(calpe_encode_tagged(codec, NULL, parity, BYTES, tags, &error));
  REFUSED(calpe_encode_tagged(codec, shards, out_holes, BYTES, tags, &error));
  REFUSED(calpe_encode_tagged(codec, shards, parity, BYTES, NULL, &error));
  CHECK_OK(calpe_codec_create(&spec, NULL, &packets, &error));
  REFUSED(calpe_tag(packets, shards, SHARDS, BYTES, tags, &error));
  calpe_codec_destroy(packets);
}

int main(void) {
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  spec.data_shards = DATA;
  spec.parity_shards = PARITY;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  for (size_t i = 0; i < SHARDS; ++i) {
    for (size_t at = 0; at < BYTES; ++at)
      stripe[i][at] = (unsigned char)(at * at / 7 + 31 * i + at);
    shards[i] = stripe[i];
  }
  for (size_t i = 0; i < PARITY; ++i)
    parity[i] = stripe[DATA + i];
  test_tags(codec);
  test_refusals(codec);
  calpe_codec_destroy(codec);
  return failures == 0 ? 0 : 1;
}
