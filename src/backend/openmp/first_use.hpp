// SPDX-License-Identifier: Apache-2.0
// Tests compiled code before its first use: on a sample it must compute what the generic kernel
// computes.
#pragma once
#include "backend/backend.hpp"
#include "backend/openmp/loaded_object.hpp"
#include "backend/sample_check.hpp"

namespace calpe::backend::openmp {

// Arguments of an emitted function for a batch, which must outlive them.
emit::ShardsWork to_work(const Batch& batch, int threads) noexcept;

// `generic` is a kernel of `device` for a program with these shards and units. Fails with
// device_failed, naming the first byte that differs.
Status check_first_use(Function* function, int threads, Device& device, const Kernel& generic,
                       const SampleShape& shape);

}  // namespace calpe::backend::openmp
