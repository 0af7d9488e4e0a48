/* SPDX-License-Identifier: Apache-2.0 */
/* A library that an attacker names in an environment variable. Loading it leaves a trace. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_trace(void) {
  const char* const path = getenv("HOSTILE_TRACE");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file != NULL) (void)fclose(file);
}
