/* SPDX-License-Identifier: Apache-2.0 */
/* The nine functions that Hadoop's native library takes from libisal.so.2, found as it finds them:
 * dlopen by name, dlsym by name. Calls each of them for RS-6-3, Hadoop's default policy.
 *
 *   calpe_hadoop_calls LIBRARY
 * LIBRARY is the file that the name must lead to (LD_LIBRARY_PATH).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "c/check.h"

typedef unsigned char Byte;

enum { k = 6, m = 3, rows = k + m, cell_bytes = 1024, table_bytes = 32 };

static struct {
  Byte (*gf_mul)(Byte a, Byte b);
  Byte (*gf_inv)(Byte a);
  void (*gf_gen_rs_matrix)(Byte* matrix, int rows, int k);
  void (*gf_gen_cauchy1_matrix)(Byte* matrix, int rows, int k);
  int (*gf_invert_matrix)(Byte* in, Byte* out, int size);
  int (*gf_vect_mul)(int len, Byte* table, void* src, void* dest);
  void (*ec_init_tables)(int k, int rows, Byte* matrix, Byte* tables);
  void (*ec_encode_data)(int len, int k, int rows, Byte* tables, Byte** data, Byte** coding);
  void (*ec_encode_data_update)(int len, int k, int rows, int index, Byte* tables, Byte* data,
                                Byte** coding);
} isal;

static int found;

/* Stores the address of a function of our library, at a pointer of any function type. */
static void find(void* library, const char* name, void* pointer, const char* expected_file) {
  void* const address = dlsym(library, name);
  Dl_info info;
  char file[PATH_MAX];
  if (address == NULL || dladdr(address, &info) == 0 || realpath(info.dli_fname, file) == NULL ||
      strcmp(file, expected_file) != 0) {
    fprintf(stderr, "%s is not in this libisal.so.2; expected it in %s\n", name, expected_file);
    return;
  }
  memcpy(pointer, &address, sizeof address);
  ++found;
}

static bool find_all(const char* expected_file) {
  void* const library = dlopen("libisal.so.2", RTLD_LAZY | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return false;
  }
#define FIND(function) find(library, #function, &isal.function, expected_file)
  FIND(gf_mul);
  FIND(gf_inv);
  FIND(gf_gen_rs_matrix);
  FIND(gf_gen_cauchy1_matrix);
  FIND(gf_invert_matrix);
  FIND(gf_vect_mul);
  FIND(ec_init_tables);
  FIND(ec_encode_data);
  FIND(ec_encode_data_update);
#undef FIND
  return found == 9 && sizeof isal == 9 * sizeof(void*);
}

/* Multiplies in GF(2^8), 0x11d, bit by bit. */
static Byte product(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) sum ^= a;
    a = (a << 1) ^ ((a & 0x80) != 0 ? 0x11d : 0);
  }
  return (Byte)sum;
}

static Byte cells[rows][cell_bytes];
static Byte matrix[rows * k];

static void fill_data(void) {
  uint32_t state = 1;
  for (int i = 0; i < k; ++i) {
    for (int b = 0; b < cell_bytes; ++b) {
      state = state * 1664525U + 1013904223U;
      cells[i][b] = (Byte)(state >> 24);
    }
  }
}

/* Row k + r of the Cauchy matrix is 1 / ((k + r) ^ i), that of the other one (2^r)^i. */
static void check_elements_and_matrices(void) {
  CHECK(isal.gf_mul(0x80, 2) == 0x1d && isal.gf_mul(0x53, 0xa7) == product(0x53, 0xa7));
  CHECK(product(isal.gf_inv(0x53), 0x53) == 1 && isal.gf_inv(0) == 0);
  isal.gf_gen_rs_matrix(matrix, rows, k);
  for (int i = 0; i < k; ++i)
    CHECK(matrix[k * k + i] == 1 && matrix[(k + 1) * k + i] == 1 << i);
  isal.gf_gen_cauchy1_matrix(matrix, rows, k);
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned i = 0; i < k; ++i) {
      const Byte cell = matrix[r * k + i];
      CHECK(r < k ? cell == (r == i) : product(cell, r ^ i) == 1);
    }
  }
}

static void check_vector(void) {
  Byte tables[table_bytes], coefficient = 0x8e;
  static Byte result[cell_bytes];
  isal.ec_init_tables(1, 1, &coefficient, tables);
  CHECK(isal.gf_vect_mul(cell_bytes, tables, cells[0], result) == 0);
  for (int b = 0; b < cell_bytes; ++b)
    CHECK(result[b] == product(coefficient, cells[0][b]));
}

/* Encodes at once and cell by cell, and compares both with sums of products. */
static void check_encode(void) {
  static Byte tables[m * k * table_bytes], updated[m][cell_bytes];
  Byte* data[k];
  Byte* parity[m];
  Byte* updates[m];
  for (int i = 0; i < k; ++i)
    data[i] = cells[i];
  for (int r = 0; r < m; ++r) {
    parity[r] = cells[k + r];
    updates[r] = updated[r];
  }
  isal.ec_init_tables(k, m, matrix + k * k, tables);
  isal.ec_encode_data(cell_bytes, k, m, tables, data, parity);
  for (int i = 0; i < k; ++i)
    isal.ec_encode_data_update(cell_bytes, k, m, i, tables, data[i], updates);
  for (int r = 0; r < m; ++r) {
    CHECK(memcmp(parity[r], updates[r], cell_bytes) == 0);
    for (int b = 0; b < cell_bytes; ++b) {
      Byte sum = 0;
      for (int i = 0; i < k; ++i)
        sum ^= product(matrix[(k + r) * k + i], data[i][b]);
      CHECK(parity[r][b] == sum);
    }
  }
}

/* Rebuilds the first three cells from the last six. */
static void check_decode(void) {
  Byte survivors[k * k], inverse[k * k], tables[m * k * table_bytes];
  static Byte rebuilt[m][cell_bytes];
  Byte* inputs[k];
  Byte* outputs[m];
  for (int i = 0; i < k; ++i)
    inputs[i] = cells[m + i];
  for (int r = 0; r < m; ++r)
    outputs[r] = rebuilt[r];
  memcpy(survivors, matrix + m * k, sizeof survivors);
  CHECK(isal.gf_invert_matrix(survivors, inverse, k) == 0);
  isal.ec_init_tables(k, m, inverse, tables);
  isal.ec_encode_data(cell_bytes, k, m, tables, inputs, outputs);
  for (int r = 0; r < m; ++r)
    CHECK(memcmp(rebuilt[r], cells[r], cell_bytes) == 0);
}

int main(int argc, char** argv) {
  char file[PATH_MAX];
  if (argc != 2 || realpath(argv[1], file) == NULL) {
    fprintf(stderr, "usage: calpe_hadoop_calls LIBRARY\n");
    return 2;
  }
  if (!find_all(file)) return 1;
  fill_data();
  check_elements_and_matrices();
  check_vector();
  check_encode();
  check_decode();
  printf("hadoop_calls: %d functions of %s\n", found, file);
  return failures == 0 ? 0 : 1;
}
