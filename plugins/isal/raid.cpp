// SPDX-License-Identifier: Apache-2.0
// RAID functions: XOR, and P and Q, as products with matrices of one and two rows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "isal/field_tables.hpp"
#include "isal/isal_abi.hpp"
#include "isal/product.hpp"

using namespace calpe_isal;

namespace {

// 2^255 = 1, so the coefficients repeat after this many inputs.
constexpr std::size_t period = 255;

constexpr std::array<Byte, 2 * period> make_rows() {
  std::array<Byte, 2 * period> rows{};
  Byte power = 1;
  for (std::size_t i = 0; i < period; ++i) {
    rows[i] = 1;
    rows[period + i] = power;
    power = product(2, power);
  }
  return rows;
}
constexpr std::array<Byte, 2 * period> ones_and_powers = make_rows();

// outputs[0] = sum of the inputs; outputs[1], if wanted, = sum of 2^i * input i. At most `period`
// inputs. With `accumulate`, adds to the sums of earlier inputs.
Product parity_job(Byte* const* inputs, std::size_t count, Byte* const* outputs,
                   std::size_t output_count, std::size_t bytes, bool accumulate) {
  return {.cells = ones_and_powers.data(),
          .rows = output_count,
          .columns = count,
          .column_stride = 1,
          .row_stride = period,
          .inputs = inputs,
          .outputs = outputs,
          .bytes = bytes,
          .accumulate = accumulate};
}

Byte** shards_of(void** array) {
  return reinterpret_cast<Byte**>(array);  // same representation
}

// Computes the last `parity_count` shards from the others. Requires at least one other shard.
int generate(int count, int len, void** array, std::size_t parity_count,
             void (*runs)(const Product&)) {
  Byte** const shards = shards_of(array);
  const std::size_t data_count = static_cast<std::size_t>(count) - parity_count;
  for (std::size_t first = 0; first < data_count; first += period) {
    runs(parity_job(shards + first, std::min(period, data_count - first), shards + data_count,
                    parity_count, static_cast<std::size_t>(len), first != 0));
  }
  return 0;
}

constexpr std::size_t block_bytes = 2048;
using Block = std::array<Byte, block_bytes>;

// Computes the parity of the columns [begin, begin + bytes) into `parity`.
void compute_block(Byte* const* shards, std::size_t data_count, std::size_t begin,
                   std::size_t bytes, std::array<Block, 2>& parity, std::size_t parity_count) {
  const std::array<Byte*, 2> outputs = {parity[0].data(), parity[1].data()};
  std::array<Byte*, period> inputs;
  for (std::size_t first = 0; first < data_count; first += period) {
    const std::size_t count = std::min(period, data_count - first);
    for (std::size_t i = 0; i < count; ++i)
      inputs[i] = shards[first + i] + begin;
    run(parity_job(inputs.data(), count, outputs.data(), parity_count, bytes, first != 0));
  }
}

// Checks that the last `parity_count` shards match the first `data_count`.
bool is_right(Byte* const* shards, std::size_t data_count, std::size_t parity_count,
              std::size_t bytes) {
  std::array<Block, 2> blocks;
  for (std::size_t begin = 0; begin < bytes; begin += block_bytes) {
    const std::size_t width = std::min(block_bytes, bytes - begin);
    compute_block(shards, data_count, begin, width, blocks, parity_count);
    for (std::size_t p = 0; p < parity_count; ++p) {
      if (std::memcmp(blocks[p].data(), shards[data_count + p] + begin, width) != 0) return false;
    }
  }
  return true;
}

bool is_multiple(int len, int of) {
  return len >= 0 && len % of == 0;
}

}  // namespace

int xor_gen(int count, int len, void** array) {
  if (count < 3 || len < 0) return 1;
  return generate(count, len, array, 1, run);
}

int xor_gen_base(int count, int len, void** array) {
  if (count < 2 || len < 0) return count == 1 ? 0 : 1;
  return generate(count, len, array, 1, run_plainly);
}

int pq_gen(int count, int len, void** array) {
  if (count < 4 || !is_multiple(len, 32)) return 1;
  return generate(count, len, array, 2, run);
}

int pq_gen_base(int count, int len, void** array) {
  if (count < 3 || len < 0) return 1;
  return generate(count, len, array, 2, run_plainly);
}

int xor_check(int count, int len, void** array) {
  if (count < 2 || len < 0) return 1;
  return is_right(shards_of(array), static_cast<std::size_t>(count) - 1, 1,
                  static_cast<std::size_t>(len))
             ? 0
             : 1;
}

// Returns the length if the parity is wrong, like ISA-L.
int xor_check_base(int count, int len, void** array) {
  for (int i = 0; i < len; ++i) {
    Byte sum = 0;
    for (int s = 0; s < count; ++s)
      sum ^= shards_of(array)[s][i];
    if (sum != 0) return len;
  }
  return 0;
}

int pq_check(int count, int len, void** array) {
  if (count < 4 || !is_multiple(len, 16)) return 1;
  return is_right(shards_of(array), static_cast<std::size_t>(count) - 2, 2,
                  static_cast<std::size_t>(len))
             ? 0
             : 1;
}

// Returns the position of the first error, with bit 0 set for P or bit 1 for Q, like ISA-L.
int pq_check_base(int count, int len, void** array) {
  if (count < 3) return 1;
  Byte** const shards = shards_of(array);
  for (int i = 0; i < len; ++i) {
    Byte p = 0;
    Byte q = 0;
    for (int s = count - 3; s >= 0; --s) {
      p ^= shards[s][i];
      q = static_cast<Byte>(product(2, q) ^ shards[s][i]);
    }
    if (p != shards[count - 2][i]) return i | 1;
    if (q != shards[count - 1][i]) return i | 2;
  }
  return 0;
}
