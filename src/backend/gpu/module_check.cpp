// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/module_check.hpp"

#include "backend/gpu/job.hpp"
#include "backend/sample_check.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

Status check_module(Core& core, const GpuKernel& kernel, const Variant* variant, bool accumulate) {
  const Task& task = kernel.task();
  if (task.shape.output_shards == 0) return Done{};
  CALPE_TRY(const KernelRef trusted, task.program
                                         ? core.cpu->compile(*task.program)
                                         : core.cpu->compile_matrix(task.field, task.rows));
  const std::size_t baked = variant != nullptr ? variant->key.unit_stride : 0;
  // Whole groups of work-items plus some words; odd bytes if lengths are arguments.
  const std::size_t group = core.tuning.group_items * kernel.word_bytes();
  const bool has_odd_ends = baked == 0 && kernel.tables().bytes != nullptr;
  const std::size_t words = group + 4 * kernel.word_bytes();
  const std::size_t unit_bytes = baked != 0 ? baked : has_odd_ends ? words + 13 : words;
  const std::size_t unit_stride = has_odd_ends ? unit_bytes + 3 : unit_bytes;
  const SampleWork work = {.stripe_count = 2,
                           .geometry = {.offset = has_odd_ends ? 5U : 0U,
                                        .unit_bytes = unit_bytes,
                                        .unit_stride = unit_stride,
                                        .group_stride = task.shape.unit_count * unit_stride,
                                        .group_count = 2},
                           .accumulate = accumulate,
                           .keep_after_failure = [&](std::shared_ptr<const void> shards) {
                             if (core.is_lost) keep_for_good(std::move(shards));
                           }};
  const SampleShape shape = {.input_shards = task.shape.input_shards,
                             .output_shards = task.shape.output_shards,
                             .unit_count = task.shape.unit_count};
  return compare_on_sample(*core.cpu, *trusted, shape, work, [&](const Batch& batch) {
    return submit(core, kernel, batch, variant).wait();
  });
}

}  // namespace calpe::backend::gpu
