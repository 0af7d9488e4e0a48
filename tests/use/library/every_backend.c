/* SPDX-License-Identifier: Apache-2.0 */
/* Uses every backend of the library and prints the results. privileged.py runs it with a hostile
 * environment. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <calpe/gib.h>

#define DATA 4
#define PARITY 2
#define BYTES 4096

static void use(const char* backend, uint32_t layout) {
  static unsigned char stripe[DATA + PARITY][BYTES];
  calpe_spec spec = {sizeof spec, CALPE_FAMILY_CAUCHY, layout, DATA, PARITY, 0, 0, 0, 0, 0};
  calpe_options options = {sizeof options, backend, 0, 0, 0, 0};
  calpe_codec* codec = NULL;
  calpe_error error;
  if (calpe_codec_create(&spec, &options, &codec, &error) != CALPE_OK) {
    (void)printf("%s: refused %d\n", backend, (int)error.status);
    return;
  }
  const void* data[DATA];
  void* parity[PARITY];
  for (int i = 0; i < DATA; ++i) {
    (void)memset(stripe[i], i + 1, BYTES);
    data[i] = stripe[i];
  }
  for (int i = 0; i < PARITY; ++i)
    parity[i] = stripe[DATA + i];
  int status = 0;
  for (int i = 0; i < 3 && status == CALPE_OK; ++i)
    status = calpe_encode(codec, data, parity, BYTES, &error);
  (void)printf("%s: %s, status %d, byte %d\n", backend, calpe_codec_backend(codec), status,
               stripe[DATA + 1][0]);
  calpe_codec_destroy(codec);
}

int main(void) {
  (void)printf("privileged %d, rights of root %d\n", getauxval(AT_SECURE) != 0, geteuid() == 0);
  calpe_backend_info info = {sizeof info, "", "", "", 0};
  for (size_t i = 0; calpe_backend_at(i, &info) != 0; ++i)
    (void)printf("%s is %s\n", info.name, info.available != 0 ? "available" : "not available");
  static const char* const backends[] = {"auto",   "cpu",  "jit",   "openmp",
                                         "opencl", "cuda", "vulkan"};
  for (size_t i = 0; i < sizeof backends / sizeof *backends; ++i) {
    use(backends[i], CALPE_LAYOUT_BYTES);
    use(backends[i], CALPE_LAYOUT_PACKETS);
  }
  gib_context gibraltar = NULL;
  (void)printf("gib_init: %d\n", gib_init(DATA, PARITY, &gibraltar));
  if (gibraltar != NULL) (void)gib_destroy(gibraltar);
  return 0;
}
