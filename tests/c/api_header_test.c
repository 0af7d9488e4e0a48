/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: version numbers and initialisers. */
#include <calpe/calpe.h>

#include "check.h"

static calpe_error error;

static void test_versions(void) {
  char text[32];
  (void)snprintf(text, sizeof text, "%d.%d.%d", CALPE_VERSION_MAJOR, CALPE_VERSION_MINOR,
                 CALPE_VERSION_PATCH);
  CHECK(strcmp(text, calpe_version_string()) == 0);
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

int main(void) {
  test_versions();
  test_initialisers();
  return failures == 0 ? 0 : 1;
}
