/* SPDX-License-Identifier: Apache-2.0 */
/* calpe.h from C: the caller's own matrix, packed and with strides, compared with single
 * products. */
#include <stddef.h>

#include <calpe/calpe.h>

#include "check.h"

#define ROWS 3
#define COLUMNS 4
#define BYTES 1003

static calpe_error error;
static unsigned char data[COLUMNS][BYTES];
static unsigned char coding[ROWS][BYTES];
static const uint8_t cells[ROWS * COLUMNS] = {1, 1, 1, 1, 1, 2, 4, 8, 0x53, 0, 0xFF, 0x8E};

static unsigned char expected(unsigned row, unsigned column) {
  unsigned sum = 0;
  for (unsigned i = 0; i < COLUMNS; ++i) {
    uint16_t product = 0;
    CHECK_OK(calpe_gf_multiply(8, 0, cells[row * COLUMNS + i], data[i][column], &product, &error));
    sum ^= product;
  }
  return (unsigned char)sum;
}

static void test_products(void) {
  static uint8_t wide[ROWS * COLUMNS * 32];
  calpe_matrix matrix = {sizeof matrix, cells, ROWS, COLUMNS, 0, 0};
  const calpe_matrix at_strides = {sizeof matrix, wide + 1, ROWS, COLUMNS, 32, 0};
  const void* inputs[COLUMNS];
  void* outputs[ROWS] = {coding[0], coding[1], coding[2]};
  for (unsigned i = 0; i < COLUMNS; ++i) {
    for (unsigned b = 0; b < BYTES; ++b)
      data[i][b] = (unsigned char)(b * 7 + i * 31 + (b >> 5));
    inputs[i] = data[i];
  }
  for (unsigned i = 0; i < ROWS * COLUMNS; ++i)
    wide[i * 32 + 1] = cells[i];

  CHECK_OK(calpe_apply_matrix(&matrix, inputs, outputs, BYTES, 0, &error));
  for (unsigned r = 0; r < ROWS; ++r)
    for (unsigned b = 0; b < BYTES; ++b)
      CHECK(coding[r][b] == expected(r, b));
  /* Adding the same again gives zero. */
  CHECK_OK(calpe_apply_matrix(&at_strides, inputs, outputs, BYTES, CALPE_RUN_ACCUMULATE, &error));
  for (unsigned r = 0; r < ROWS; ++r)
    for (unsigned b = 0; b < BYTES; ++b)
      CHECK(coding[r][b] == 0);
  CHECK_OK(calpe_apply_matrix(&at_strides, inputs, outputs, 5, CALPE_RUN_STREAMING, NULL));
  CHECK(coding[2][4] == expected(2, 4) && coding[2][5] == 0);

  CHECK(calpe_apply_matrix(NULL, inputs, outputs, 5, 0, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(calpe_apply_matrix(&matrix, inputs, outputs, 5, 8, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  outputs[1] = coding[0] + 4;
  CHECK(calpe_apply_matrix(&matrix, inputs, outputs, 5, 0, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strcmp(error.message, "outputs[1] overlaps outputs[0]; expected separate memory") == 0);
  matrix.struct_size = 0;
  CHECK(calpe_apply_matrix(&matrix, NULL, NULL, BYTES, 0, &error) == CALPE_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "matrix->struct_size is 0; expected sizeof(calpe_matrix)") != NULL);
  matrix.struct_size = offsetof(calpe_matrix, rows); /* so there are no rows */
  CHECK_OK(calpe_apply_matrix(&matrix, NULL, NULL, BYTES, 0, &error));
}

int main(void) {
  test_products();
  return failures == 0 ? 0 : 1;
}
