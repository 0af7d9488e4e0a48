/* SPDX-License-Identifier: Apache-2.0 */
/* A test framework for C: a failed check is printed, and the program fails at the end. */
#ifndef CALPE_TESTS_C_CHECK_H
#define CALPE_TESTS_C_CHECK_H
#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(claim)                                                            \
  do {                                                                          \
    if (!(claim)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #claim); \
      ++failures;                                                               \
    }                                                                           \
  } while (0)

/* Checks that a call succeeds, and otherwise prints the library's message from `error`. */
#define CHECK_OK(call)                                                                     \
  do {                                                                                     \
    if ((call) != CALPE_OK) {                                                              \
      fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call, error.message); \
      ++failures;                                                                          \
    }                                                                                      \
  } while (0)

#endif
