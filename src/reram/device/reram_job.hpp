// SPDX-License-Identifier: Apache-2.0
// Splits batches of shards into packets for the simulated memory.
#pragma once
#include "backend/backend.hpp"
#include "reram/device/reram_device.hpp"

namespace calpe::backend::reram {

struct ReramKernel : Kernel {
  ReramKernel(const ir::Program::Shape& program_shape, ReramPlan how)
      : shape(program_shape), plan(std::move(how)) {}
  ir::Program::Shape shape;
  ReramPlan plan;
};

// Uses the matrix, which `memory` maps if needed.
void multiply_batch(calpe::reram::ReramMemory& memory, const ReramKernel& kernel,
                    const Batch& batch);
// Uses XOR mode: the kernel's output is the sum of all inputs.
void sum_batch(calpe::reram::ReramMemory& memory, const ReramKernel& kernel, const Batch& batch);

}  // namespace calpe::backend::reram
