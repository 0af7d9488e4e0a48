// SPDX-License-Identifier: Apache-2.0
// Stripes as a device kernel sees them: shards at random positions in two memory blocks, a table of
// their addresses, and the expected outputs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <new>
#include <numeric>
#include <vector>

#include "emit/device_kernel.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"
#include "ir/interpret.hpp"
#include "ir/program.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

struct DeviceSizes {
  emit::DeviceShape shape = {};
  std::size_t column_bytes = 0;  // per unit
  std::size_t unit_stride = 0;
  std::size_t group_count = 1;
  std::size_t stripe_count = 1;
  std::size_t alignment = 1;  // of every address
  bool accumulate = false;

  std::size_t group_stride() const { return shape.unit_count * unit_stride; }
  std::size_t shards() const { return shape.input_shards + shape.output_shards; }
};

// Aligned like device memory.
template <class T>
struct DeviceAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{128};
  DeviceAllocator() = default;
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, alignment); }
  bool operator==(const DeviceAllocator&) const = default;
};
using DeviceBytes = std::vector<unsigned char, DeviceAllocator<unsigned char>>;

class DeviceStripes {
 public:
  DeviceStripes(conformance::Random& random, const DeviceSizes& sizes) : sizes_(sizes) {
    first_ = sizes.alignment * random.between<std::size_t>(0, 3);
    n_ = place(random, sizes.shape.input_shards, 0);
    r_ = place(random, sizes.shape.output_shards, sizes.shape.input_shards);
    random.fill(std::as_writable_bytes(std::span(n_)));
    random.fill(std::as_writable_bytes(std::span(r_)));
    expected_ = r_;
  }

  const DeviceSizes& sizes() const { return sizes_; }
  std::vector<std::uint64_t>& table() { return table_; }
  DeviceBytes& n() { return n_; }
  DeviceBytes& r() { return r_; }
  std::uint64_t first() const { return first_; }

  // Expected outputs of a program over units, as units [first_output, ...).
  void expect_units(const ir::Program& program, std::size_t first_output = 0) {
    each_group([&](std::size_t stripe, std::size_t group) {
      std::vector<const std::byte*> inputs;
      for (std::size_t v = 0; v < program.inputs(); ++v)
        inputs.push_back(reinterpret_cast<const std::byte*>(&n_[at(stripe, group, false, v)]));
      std::vector<std::byte*> outputs;
      for (std::size_t v = 0; v < program.outputs(); ++v) {
        outputs.push_back(
            reinterpret_cast<std::byte*>(&expected_[at(stripe, group, true, first_output + v)]));
      }
      ir::interpret(program, inputs, outputs, sizes_.column_bytes, sizes_.accumulate);
    });
  }

  // Layout bytes: output r = sum of rows(r, c) * input c.
  void expect_product(const gf::Field& field, const gf::Matrix& rows) {
    each_group([&](std::size_t stripe, std::size_t group) {
      for (std::size_t r = 0; r < rows.rows(); ++r) {
        unsigned char* out = &expected_[at(stripe, group, true, r)];
        if (!sizes_.accumulate) std::fill_n(out, sizes_.column_bytes, 0);
        for (std::size_t c = 0; c < rows.columns(); ++c) {
          const unsigned char* in = &n_[at(stripe, group, false, c)];
          for (std::size_t i = 0; i < sizes_.column_bytes; ++i)
            out[i] = static_cast<unsigned char>(out[i] ^ field.multiply(rows(r, c), in[i]));
        }
      }
    });
  }

  // Also checks that nothing else was written.
  testing::AssertionResult check() const {
    const auto [got, expected] = std::ranges::mismatch(r_, expected_);
    if (got == r_.end()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "byte " << got - r_.begin() << " of " << r_.size()
                                       << " is " << int{*got} << "; expected " << int{*expected};
  }

 private:
  void each_group(auto&& work) {
    for (std::size_t stripe = 0; stripe < sizes_.stripe_count; ++stripe) {
      for (std::size_t group = 0; group < sizes_.group_count; ++group)
        work(stripe, group);
    }
  }

  // Memory for some shards of each stripe in random order, with gaps.
  DeviceBytes place(conformance::Random& random, std::size_t shards, std::size_t column) {
    table_.resize(sizes_.shards() * sizes_.stripe_count);
    std::vector<std::size_t> order(shards * sizes_.stripe_count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(std::span(order));
    std::size_t end = 0;
    for (const std::size_t shard : order) {
      end += sizes_.alignment * random.between<std::size_t>(0, 2);
      table_[shard / shards * sizes_.shards() + column + shard % shards] = end;
      const std::size_t bytes = first_ + sizes_.group_count * sizes_.group_stride();
      end += (bytes + sizes_.alignment - 1) / sizes_.alignment * sizes_.alignment;
    }
    return DeviceBytes(end + 1);
  }

  std::size_t at(std::size_t stripe, std::size_t group, bool is_output, std::size_t unit) const {
    const std::size_t units = sizes_.shape.unit_count;
    const std::size_t shard = unit / units + (is_output ? sizes_.shape.input_shards : 0);
    return table_[stripe * sizes_.shards() + shard] + first_ + group * sizes_.group_stride() +
           unit % units * sizes_.unit_stride;
  }

  DeviceSizes sizes_;
  std::size_t first_ = 0;
  std::vector<std::uint64_t> table_;
  DeviceBytes n_;
  DeviceBytes r_;
  DeviceBytes expected_;
};

}  // namespace calpe::tests
