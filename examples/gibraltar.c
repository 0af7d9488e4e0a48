/* SPDX-License-Identifier: Apache-2.0 */
/* The example of Gibraltar's paper (Appendix B), with calpe/gib.h: encodes 3+2, loses two buffers
 * and restores the data in place. */
#include <stdio.h>
#include <string.h>

#include <calpe/gib.h>

enum { k = 3, m = 2, size = 1024 * sizeof(int) };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gib_error_text());
  return 1;
}

int main(void) {
  const int fail_config[k + m] = {0, 1, 1, 0, 0}; /* 1 = lost */
  int buf_ids[k + m];
  int ld, i, j, lost = 0, parity = k, wrong = 0;
  void* memory;
  char* buffers;
  gib_context gc;

  if (gib_init(k, m, &gc)) return failed("gib_init");
  if (gib_alloc(&memory, size, &ld, gc)) return failed("gib_alloc");
  buffers = memory;
  for (i = 0; i < k; ++i)
    for (j = 0; j < size / (int)sizeof(int); ++j)
      ((int*)(void*)(buffers + i * ld))[j] = i * 1000 + j;
  if (gib_generate(memory, ld, gc)) return failed("gib_generate");

  for (i = 0; i < k + m; ++i)
    if (fail_config[i]) memset(buffers + i * ld, 0, (size_t)ld);

  /* Remaining data stays in place; parity fills the gaps. */
  for (i = 0; i < k; ++i) {
    buf_ids[i] = i;
    if (!fail_config[i]) continue;
    while (fail_config[parity])
      ++parity;
    memcpy(buffers + i * ld, buffers + parity * ld, (size_t)ld);
    buf_ids[i] = parity++;
    buf_ids[k + lost++] = i;
  }
  if (gib_recover(memory, ld, buf_ids, lost, gc)) return failed("gib_recover");
  for (i = 0; i < lost; ++i)
    memcpy(buffers + buf_ids[k + i] * ld, buffers + (k + i) * ld, (size_t)ld);

  for (i = 0; i < k; ++i)
    for (j = 0; j < size / (int)sizeof(int); ++j)
      wrong += ((int*)(void*)(buffers + i * ld))[j] != i * 1000 + j;
  if (gib_free(memory, gc)) return failed("gib_free");
  if (gib_destroy(gc)) return failed("gib_destroy");
  printf("recovered %d data buffers, %d wrong integers\n", lost, wrong);
  return wrong != 0;
}
