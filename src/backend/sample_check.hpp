// SPDX-License-Identifier: Apache-2.0
// Compares compiled code with a trusted device on random shards. Backends that compile use it
// before they trust the result.
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
  // Keeps the shards if `run` failed, because work it started may still use them.
  std::function<void(std::shared_ptr<const void>)> keep_after_failure = {};
};

// `run` executes the batch with the code under test; `kernel` of `trusted` computes the same
// program. Compares all output bytes and a margin after them. Fails with device_failed, naming the
// first difference, or as `run` does.
Status compare_on_sample(Device& trusted, const Kernel& kernel, const SampleShape& shape,
                         const SampleWork& work, const std::function<Status(const Batch&)>& run);

}  // namespace calpe::backend
