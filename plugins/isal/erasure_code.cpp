// SPDX-License-Identifier: Apache-2.0
// Erasure-code functions. The tables of 32 bytes per coefficient have the content that ISA-L
// documents, so programs can also build, slice or read them.
#include <cstddef>
#include <cstring>

#include "isal/field_tables.hpp"
#include "isal/isal_abi.hpp"
#include "isal/product.hpp"

using namespace calpe_isal;

namespace {

bool is_nothing(int len, int rows) {
  return len <= 0 || rows <= 0;
}

// Selects the columns [index, index + columns) of tables with `width` columns.
Product of_tables(int len, const Byte* tables, int width, int index, int columns, int rows) {
  return {.cells = tables + table_bytes * static_cast<std::size_t>(index) + coefficient_at,
          .rows = static_cast<std::size_t>(rows),
          .columns = static_cast<std::size_t>(columns > 0 ? columns : 0),
          .column_stride = table_bytes,
          .row_stride = table_bytes * static_cast<std::size_t>(width > 0 ? width : 1),
          .bytes = static_cast<std::size_t>(len)};
}

Product encode_job(int len, int k, int rows, const Byte* tables, Byte** data, Byte** coding) {
  Product job = of_tables(len, tables, k, 0, k, rows);
  job.inputs = data;
  job.outputs = coding;
  return job;
}

// `data` is a list of one shard. NOLINTNEXTLINE(readability-function-size): ISA-L's arguments
Product update_job(int len, int k, int rows, int index, const Byte* tables, Byte* const* data,
                   Byte* const* coding) {
  Product job = of_tables(len, tables, k, index, 1, rows);
  job.inputs = data;
  job.outputs = coding;
  job.accumulate = true;
  return job;
}

}  // namespace

void gf_vect_mul_init(unsigned char c, unsigned char* table) {
  std::memcpy(table, product_tables[c].data(), table_bytes);
}

void ec_init_tables(int k, int rows, unsigned char* matrix, unsigned char* tables) {
  if (k <= 0 || rows <= 0) return;
  const std::size_t count = static_cast<std::size_t>(k) * static_cast<std::size_t>(rows);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(tables + i * table_bytes, product_tables[matrix[i]].data(), table_bytes);
}

void ec_encode_data(int len, int k, int rows, unsigned char* tables, unsigned char** data,
                    unsigned char** coding) {
  if (!is_nothing(len, rows)) run(encode_job(len, k, rows, tables, data, coding));
}

void ec_encode_data_base(int len, int k, int rows, unsigned char* tables, unsigned char** data,
                         unsigned char** coding) {
  if (!is_nothing(len, rows)) run_plainly(encode_job(len, k, rows, tables, data, coding));
}

// NOLINTBEGIN(readability-function-size): ISA-L's signatures
void ec_encode_data_update(int len, int k, int rows, int index, unsigned char* tables,
                           unsigned char* data, unsigned char** coding) {
  if (!is_nothing(len, rows)) run(update_job(len, k, rows, index, tables, &data, coding));
}

void ec_encode_data_update_base(int len, int k, int rows, int index, unsigned char* tables,
                                unsigned char* data, unsigned char** coding) {
  if (!is_nothing(len, rows)) run_plainly(update_job(len, k, rows, index, tables, &data, coding));
}
// NOLINTEND(readability-function-size)

void gf_vect_dot_prod(int len, int count, unsigned char* tables, unsigned char** src,
                      unsigned char* dest) {
  ec_encode_data(len, count, 1, tables, src, &dest);
}

void gf_vect_dot_prod_base(int len, int count, unsigned char* tables, unsigned char** src,
                           unsigned char* dest) {
  ec_encode_data_base(len, count, 1, tables, src, &dest);
}

void gf_vect_mad(int len, int count, int index, unsigned char* tables, unsigned char* src,
                 unsigned char* dest) {
  ec_encode_data_update(len, count, 1, index, tables, src, &dest);
}

void gf_vect_mad_base(int len, int count, int index, unsigned char* tables, unsigned char* src,
                      unsigned char* dest) {
  ec_encode_data_update_base(len, count, 1, index, tables, src, &dest);
}

int gf_vect_mul(int len, unsigned char* table, void* src, void* dest) {
  if (len < 0 || len % 32 != 0) return 1;
  Byte* from = static_cast<Byte*>(src);
  Byte* to = static_cast<Byte*>(dest);
  ec_encode_data(len, 1, 1, table, &from, &to);
  return 0;
}

void gf_vect_mul_base(int len, unsigned char* table, unsigned char* src, unsigned char* dest) {
  ec_encode_data_base(len, 1, 1, table, &src, &dest);
}
