// SPDX-License-Identifier: Apache-2.0
// Nothing that a compiler made is believed unseen: before its first use it must do on a sample what
// the generic kernel does.
#pragma once
#include "backend/backend.hpp"
#include "backend/openmp/loaded_object.hpp"
#include "backend/sample_check.hpp"

namespace calpe::backend::openmp {

// What a batch is to an emitted function. The batch must outlive it.
emit::ShardsWork to_work(const Batch& batch, int threads) noexcept;

// `generic` is a kernel of `device`, of a program with these shards and units. Fails with
// device_failed and names the first byte that differs.
Status check_first_use(Function* function, int threads, Device& device, const Kernel& generic,
                       const SampleShape& shape);

}  // namespace calpe::backend::openmp
