// SPDX-License-Identifier: Apache-2.0
// Gives the parts of the public API that deal with devices access to a codec's device.
#pragma once
#include <memory>

#include <calpe/codec.hpp>

#include "backend/backend.hpp"

namespace calpe {

struct CodecAccess {
  // nullptr when the codec was moved from.
  static std::shared_ptr<backend::Device> device(const Codec& codec);

  // What a plan runs on.
  struct PlanParts {
    std::shared_ptr<const void> owner;  // keeps the others alive
    backend::Device* device = nullptr;
    const backend::Kernel* kernel = nullptr;
    std::size_t reads = 0;
    std::size_t writes = 0;
  };
  // Fails with invalid_argument if the codec is empty or the plan is another codec's.
  static Result<PlanParts> plan_parts(const Codec& codec, const Plan& plan);
};

}  // namespace calpe
