/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: specs as bytes. */
#include <calpe/calpe.h>

#include "check.h"

static calpe_error error;

#define REFUSED(call) CHECK((call) == CALPE_ERROR_INVALID_ARGUMENT && error.message[0] != '\0')
#define CORRUPT(call) CHECK((call) == CALPE_ERROR_CORRUPT && error.message[0] != '\0')

/* docs/codes.md has the same bytes. */
static void test_spec_bytes(void) {
  static const unsigned char documented[CALPE_SPEC_BYTES] = {
      0x63, 0x61, 0x6c, 0x70, 0x65, 0x2d, 0x63, 0x31, 0x01, 0x00, 0x00, 0x00, 0x40,
      0x00, 0x00, 0x00, 0x03, 0x01, 0x0a, 0x00, 0x04, 0x00, 0x08, 0x00, 0x1d, 0x01,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x99, 0xd5, 0x14, 0xfc, 0x8c, 0x35, 0xe3, 0x08, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xf7, 0xd4, 0xfa, 0xef, 0x91, 0xd7, 0x79, 0x97};
  calpe_spec spec = CALPE_SPEC_INIT, resolved = CALPE_SPEC_INIT, decoded = CALPE_SPEC_INIT;
  unsigned char bytes[CALPE_SPEC_BYTES + 1];
  calpe_codec* codec = NULL;
  spec.data_shards = 10;
  spec.parity_shards = 4;
  REFUSED(calpe_spec_encode(&spec, bytes, sizeof bytes, &error));
  CHECK(strstr(error.message, "family is default") != NULL);
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  calpe_codec_spec(codec, &resolved);
  calpe_codec_destroy(codec);

  bytes[CALPE_SPEC_BYTES] = 0x77;
  CHECK_OK(calpe_spec_encode(&resolved, bytes, CALPE_SPEC_BYTES, &error));
  CHECK(memcmp(bytes, documented, sizeof documented) == 0 && bytes[CALPE_SPEC_BYTES] == 0x77);
  CHECK_OK(calpe_spec_decode(bytes, CALPE_SPEC_BYTES, &decoded, &error));
  CHECK(memcmp(&decoded, &resolved, sizeof decoded) == 0);
  CHECK_OK(calpe_codec_create(&decoded, NULL, &codec, &error));
  calpe_codec_destroy(codec);

  REFUSED(calpe_spec_encode(&resolved, bytes, CALPE_SPEC_BYTES - 1, &error));
  REFUSED(calpe_spec_encode(&resolved, NULL, CALPE_SPEC_BYTES, &error));
  REFUSED(calpe_spec_encode(NULL, bytes, sizeof bytes, &error));
  REFUSED(calpe_spec_decode(NULL, CALPE_SPEC_BYTES, &decoded, &error));
  REFUSED(calpe_spec_decode(bytes, CALPE_SPEC_BYTES, NULL, &error));
  decoded.struct_size = offsetof(calpe_spec, matrix_hash); /* the hash would be lost */
  REFUSED(calpe_spec_decode(bytes, CALPE_SPEC_BYTES, &decoded, &error));
  (void)memset(&decoded, 0xEE, sizeof decoded);
  decoded.struct_size = sizeof decoded;
  CORRUPT(calpe_spec_decode(bytes, CALPE_SPEC_BYTES + 1, &decoded, &error));
  CORRUPT(calpe_spec_decode(bytes, CALPE_SPEC_BYTES - 1, &decoded, &error));
  CORRUPT(calpe_spec_decode(bytes, 0, &decoded, &error));
  for (unsigned bit = 0; bit < 8 * CALPE_SPEC_BYTES; ++bit) {
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    CORRUPT(calpe_spec_decode(bytes, CALPE_SPEC_BYTES, &decoded, &error));
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  CHECK(decoded.family == 0xEEEEEEEE); /* untouched */
}

int main(void) {
  test_spec_bytes();
  return failures == 0 ? 0 : 1;
}
