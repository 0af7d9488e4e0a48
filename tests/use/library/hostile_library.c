/* SPDX-License-Identifier: Apache-2.0 */
/* What an attacker names in a variable that a program loads libraries from: it leaves a trace. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_trace(void) {
  const char* const path = getenv("HOSTILE_TRACE");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file != NULL) (void)fclose(file);
}
