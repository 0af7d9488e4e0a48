// SPDX-License-Identifier: Apache-2.0
// Compiled code against a device that is trusted, over random shards: how backends that compile
// check what they got before they use it.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

#include <calpe/result.hpp>

#include "backend/backend.hpp"

namespace calpe::backend {

struct SampleShape {
  std::size_t input_shards = 0;
  std::size_t output_shards = 0;
  std::size_t unit_count = 1;
};

struct SampleWork {
  std::size_t stripe_count = 1;
  Geometry geometry = {};
  bool accumulate = false;
  // Given the shards when `run` failed: what it began may still use them.
  std::function<void(std::shared_ptr<const void>)> keep_after_failure = {};
};

// `run` does the batch with what is under test; `kernel` of `trusted` computes the same program.
// All bytes of the outputs' shards are compared, and some behind them. Fails with device_failed and
// names the first that differs, or as `run` does.
Status compare_on_sample(Device& trusted, const Kernel& kernel, const SampleShape& shape,
                         const SampleWork& work, const std::function<Status(const Batch&)>& run);

}  // namespace calpe::backend
