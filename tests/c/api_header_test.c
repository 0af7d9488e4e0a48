/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C89: version numbers, initialisers and pieces, without a warning of -Wextra. */
#include <calpe/calpe.h>

#include "check.h"

static calpe_error error;

static void test_versions(void) {
  int major = -1, minor = -1, patch = -1;
  CHECK(sscanf(calpe_version_string(), "%d.%d.%d", &major, &minor, &patch) == 3);
  CHECK(major == CALPE_VERSION_MAJOR && minor == CALPE_VERSION_MINOR);
  CHECK(patch == CALPE_VERSION_PATCH);
}

/* Nothing but struct_size is set. The padding of a structure may hold anything. */
static void test_initialisers(void) {
  const calpe_spec spec = CALPE_SPEC_INIT;
  const calpe_options options = CALPE_OPTIONS_INIT;
  const calpe_matrix matrix = CALPE_MATRIX_INIT;
  calpe_proof proof = CALPE_PROOF_INIT;
  calpe_backend_info info = CALPE_BACKEND_INFO_INIT;
  calpe_device_profile profile = CALPE_DEVICE_PROFILE_INIT;
  calpe_spec changed = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  CHECK(spec.struct_size == sizeof spec && spec.family == 0 && spec.matrix_hash == 0);
  CHECK(options.struct_size == sizeof options && options.backend == NULL && options.effort == 0);
  CHECK(matrix.struct_size == sizeof matrix && matrix.cells == NULL && matrix.row_stride == 0);
  CHECK(proof.struct_size == sizeof proof && proof.text[0] == '\0' && proof.dead[0] == 0);
  CHECK(info.struct_size == sizeof info && info.available == 0);
  CHECK(profile.struct_size == sizeof profile && profile.copy_out_seconds == 0);
  CHECK(calpe_backend_at(0, &info) == 1);
  changed.data_shards = 4;
  changed.parity_shards = 2;
  CHECK_OK(calpe_codec_create(&changed, &options, &codec, &error));
  calpe_codec_proof(codec, &proof);
  calpe_codec_device_profile(codec, &profile);
  CHECK(proof.losses == 2 && profile.builds == 0);
  calpe_codec_destroy(codec);
}

/* Input pieces may be const, so that callers with read-only data need no cast. */
static void test_const_pieces(void) {
  static const unsigned char data[2][3] = {{'a', 'b', 'c'}, {'A', 'B', 'C'}};
  unsigned char parity[3] = {0, 0, 0};
  calpe_const_piece read[2][2];
  calpe_const_pieces inputs[2];
  calpe_piece written[1];
  calpe_pieces outputs[1];
  calpe_spec spec = CALPE_SPEC_INIT;
  calpe_codec* codec = NULL;
  calpe_plan* plan = NULL;
  size_t i;
  for (i = 0; i < 2; ++i) {
    read[i][0].data = data[i];
    read[i][0].bytes = 1 + i;
    read[i][1].data = data[i] + 1 + i;
    read[i][1].bytes = 2 - i;
    inputs[i].pieces = read[i];
    inputs[i].count = 2;
  }
  written[0].data = parity;
  written[0].bytes = sizeof parity;
  outputs[0].pieces = written;
  outputs[0].count = 1;
  spec.data_shards = 2;
  spec.parity_shards = 1;
  CHECK_OK(calpe_codec_create(&spec, NULL, &codec, &error));
  CHECK_OK(calpe_plan_encode(codec, &plan, &error));
  CHECK_OK(calpe_run_pieces(codec, plan, inputs, outputs, 0, &error));
  CHECK(parity[0] == ' ' && parity[1] == ' ' && parity[2] == ' ');
  calpe_plan_destroy(plan);
  calpe_codec_destroy(codec);
}

int main(void) {
  test_versions();
  test_const_pieces();
  test_initialisers();
  return failures == 0 ? 0 : 1;
}
