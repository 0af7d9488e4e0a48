// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/first_use.hpp"

#include "base/try.hpp"

namespace calpe::backend::openmp {

namespace {

// More than a block of added outputs, whole vectors of every width, and remaining columns.
constexpr std::size_t unit_bytes = 512 + 64 + 13;

}  // namespace

emit::ShardsWork to_work(const Batch& batch, int threads) noexcept {
  const Geometry& geometry = batch.geometry;
  return {.stripe_count = batch.stripe_count,
          .n = reinterpret_cast<const unsigned char* const*>(batch.inputs),
          .r = reinterpret_cast<unsigned char* const*>(batch.outputs),
          .offset = geometry.offset,
          .unit_bytes = geometry.unit_bytes,
          .unit_stride = geometry.unit_stride,
          .group_stride = geometry.group_stride,
          .group_count = geometry.group_count,
          .accumulate = batch.accumulate ? 1 : 0,
          .threads = threads};
}

Status check_first_use(Function* function, int threads, Device& device, const Kernel& generic,
                       const SampleShape& shape) {
  const Geometry geometry = {.offset = 3,
                             .unit_bytes = unit_bytes,
                             .unit_stride = unit_bytes + 1,
                             .group_stride = shape.unit_count * (unit_bytes + 1),
                             .group_count = 2};
  for (const bool accumulate : {false, true}) {
    const auto run = [&](const Batch& batch) -> Status {
      const emit::ShardsWork work = to_work(batch, threads);
      function(&work);
      return Done{};
    };
    CALPE_CHECK(compare_on_sample(device, generic, shape,
                                  {.geometry = geometry, .accumulate = accumulate}, run));
  }
  return Done{};
}

}  // namespace calpe::backend::openmp
