// SPDX-License-Identifier: Apache-2.0
// Exact counts of what the simulated hardware did.
#pragma once
#include <algorithm>
#include <cstdint>

namespace calpe::reram {

struct Counters {
  std::uint64_t activations = 0;         // one crossbar with one vector
  std::uint64_t adc_conversions = 0;     // bit-lines read out
  std::uint64_t matrix_row_writes = 0;   // to map a matrix
  std::uint64_t data_row_writes = 0;     // shards written to rows (XOR mode)
  std::uint64_t partial_row_writes = 0;  // results written to the next crossbar (combination mode)
  std::uint64_t words_written = 0;       // words of write_word_bits in these rows
  std::uint64_t words_read = 0;          // words of write_word_bits in bit-lines read out
  std::uint64_t words_loaded = 0;        // words of write_word_bits loaded into word-line drivers
  std::uint64_t combined_bits = 0;       // XORed outside the crossbars
  std::uint64_t mode_switches = 0;
  std::uint64_t bytes_in = 0;  // over the bus
  std::uint64_t bytes_out = 0;
  std::uint64_t largest_sum = 0;   // of any bit-line, before the converter
  std::uint64_t clipped_sums = 0;  // beyond the converter range; may cause wrong bits

  std::uint64_t row_writes() const noexcept {
    return matrix_row_writes + data_row_writes + partial_row_writes;
  }
  Counters& operator+=(const Counters& other) noexcept {
    activations += other.activations;
    adc_conversions += other.adc_conversions;
    matrix_row_writes += other.matrix_row_writes;
    data_row_writes += other.data_row_writes;
    partial_row_writes += other.partial_row_writes;
    words_written += other.words_written;
    words_read += other.words_read;
    words_loaded += other.words_loaded;
    combined_bits += other.combined_bits;
    mode_switches += other.mode_switches;
    bytes_in += other.bytes_in;
    bytes_out += other.bytes_out;
    largest_sum = std::max(largest_sum, other.largest_sum);
    clipped_sums += other.clipped_sums;
    return *this;
  }
  bool operator==(const Counters&) const = default;
};

}  // namespace calpe::reram
