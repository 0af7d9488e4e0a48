// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/scratch_job.hpp"

namespace calpe::engine {

backend::Batch shrunk(const backend::Batch& batch, const KernelShape& shape,
                      std::size_t bytes_max) {
  backend::Batch less = batch;
  const auto shrink = [&](std::size_t& count) {
    const std::size_t each = moved_bytes(less, shape) / count;
    count = std::clamp<std::size_t>(bytes_max / std::max<std::size_t>(1, each), 1, count);
  };
  shrink(less.stripe_count);
  shrink(less.geometry.group_count);
  shrink(less.geometry.unit_bytes);
  return less;
}

ScratchJob::ScratchJob(const backend::Batch& like, const KernelShape& shape, std::size_t bytes_max)
    : shape_(shape), batch_(shrunk(like, shape, bytes_max)) {
  batch_.geometry.offset = 0;
  const std::size_t extent = extent_bytes(batch_.geometry, shape.units);
  // Start shards at different offsets within their pages, as most callers do.
  const std::size_t step = (extent + 63) / 64 * 64 + 64;
  const std::size_t input_count = batch_.stripe_count * shape.shards.inputs;
  const std::size_t output_count = batch_.stripe_count * shape.shards.outputs;
  memory_.resize((input_count + output_count) * step, std::byte{0x5A});
  std::byte* next = memory_.data();
  for (std::size_t i = 0; i < input_count; ++i, next += step)
    inputs_.push_back(next);
  for (std::size_t i = 0; i < output_count; ++i, next += step)
    outputs_.push_back(next);
  batch_.inputs = inputs_.data();
  batch_.outputs = outputs_.data();
}

Result<DeviceSpeed> ScratchJob::measure(backend::Device& device,
                                        const backend::Kernel& kernel) const {
  const backend::Batch fewer = shrunk(batch_, shape_, moved_bytes(batch_, shape_) / 8);
  CALPE_TRY(const double seconds, least_seconds([&] { return device.run(kernel, batch_); }));
  CALPE_TRY(const double fewer_seconds, least_seconds([&] { return device.run(kernel, fewer); }));
  return DeviceSpeed::from_runs(bytes(), seconds, static_cast<double>(moved_bytes(fewer, shape_)),
                                fewer_seconds);
}

}  // namespace calpe::engine
