// SPDX-License-Identifier: Apache-2.0
// A job for a device: stripes, a batch over them, and the expected result.
#pragma once
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "backend/backend.hpp"
#include "engine/devices/batch_bytes.hpp"
#include "gf/field.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/program.hpp"

namespace calpe::tests {

// An arbitrary 3 x 5 matrix with distinct coefficients.
inline ir::Program gf_program() {
  const gf::FieldRef field = *gf::Field::create(8, 0x11D);
  gf::Matrix rows(3, 5);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 5; ++c)
      rows(r, c) = static_cast<gf::Element>(16 * r + c + 2);
  }
  return ir::build(field, rows);
}

inline ir::Program xor_program() {
  return ir::lower_to_xor(gf_program());
}

struct DeviceJob {
  DeviceJob(ir::Program made, std::size_t stripe_count, const backend::Geometry& geometry,
            bool accumulate = false)
      : program(std::move(made)), shape(engine::KernelShape::of(program)) {
    const std::size_t bytes =
        geometry.offset + engine::extent_bytes(geometry, shape.units) + 17;  // must not change
    std::mt19937 rng(7);
    const auto fill = [&](std::size_t count) {
      std::vector<std::vector<std::byte>> shards(count, std::vector<std::byte>(bytes));
      for (auto& shard : shards) {
        for (std::byte& b : shard)
          b = std::byte(rng());
      }
      return shards;
    };
    inputs = fill(stripe_count * shape.shards.inputs);
    outputs = fill(stripe_count * shape.shards.outputs);
    before = outputs;
    for (auto& shard : inputs)
      in.push_back(shard.data());
    for (auto& shard : outputs)
      out.push_back(shard.data());
    batch = {.stripe_count = stripe_count,
             .inputs = in.data(),
             .outputs = out.data(),
             .geometry = geometry,
             .accumulate = accumulate};
    const auto reference = *backend::open_device("reference");
    const auto kernel = *reference->compile(program);
    EXPECT_TRUE(reference->run(*kernel, batch));
    expected = outputs;
    reset();
  }
  DeviceJob(const DeviceJob&) = delete;
  DeviceJob& operator=(const DeviceJob&) = delete;

  void reset() {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      std::copy(before[i].begin(), before[i].end(), outputs[i].begin());
  }
  bool is_right() const { return outputs == expected; }

  ir::Program program;
  engine::KernelShape shape;
  std::vector<std::vector<std::byte>> inputs, outputs, before, expected;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  backend::Batch batch;
};

// Contiguous shards of `bytes` bytes.
inline backend::Geometry plain(std::size_t bytes) {
  return {.unit_bytes = bytes};
}

// Groups of 8 packets with gaps between them and around.
inline backend::Geometry gapped(std::size_t unit_bytes, std::size_t groups) {
  return {.offset = 5,
          .unit_bytes = unit_bytes,
          .unit_stride = unit_bytes + 3,
          .group_stride = 8 * (unit_bytes + 3) + 11,
          .group_count = groups};
}

}  // namespace calpe::tests
