// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/sample_check.hpp"

#include <memory>

#include "base/text.hpp"
#include "base/uninitialised.hpp"

namespace calpe::engine {

namespace {

using backend::Geometry;

// Position of a slice in a stripe: a value in 0 .. of.
std::size_t place_of(std::uint64_t number, std::size_t of) {
  // Fibonacci hashing: consecutive numbers land far apart.
  return static_cast<std::size_t>((number * 0x9E3779B97F4A7C15U >> 11) % (of + 1));
}

// `place(of)` picks a value in 0 .. of.
template <class Place>
Geometry slice_at(const Geometry& whole, std::size_t units, std::size_t bytes, const Place& place) {
  Geometry slice = whole;
  const std::size_t group = units * whole.unit_bytes;
  slice.group_count = std::clamp<std::size_t>(bytes / group, 1, whole.group_count);
  slice.offset += place(whole.group_count - slice.group_count) * whole.group_stride;
  if (group > bytes) {
    slice.unit_bytes = std::clamp<std::size_t>(bytes / units, 1, whole.unit_bytes);
    slice.offset += place(whole.unit_bytes - slice.unit_bytes);
  }
  return slice;
}

}  // namespace

Geometry first_slice(const Geometry& whole, std::size_t units, std::size_t bytes) {
  return slice_at(whole, units, bytes, [](std::size_t) { return std::size_t{0}; });
}

Geometry last_slice(const Geometry& whole, std::size_t units, std::size_t bytes) {
  return slice_at(whole, units, bytes, [](std::size_t of) { return of; });
}

Geometry some_slice(const Geometry& whole, std::size_t units, std::size_t bytes,
                    std::uint64_t number) {
  return slice_at(whole, units, bytes, [&](std::size_t of) { return place_of(number, of); });
}

Result<SampleCheck> SampleCheck::prepare(const KernelShape& shape, const backend::Batch& batch,
                                         std::size_t stripe, const Geometry& slice,
                                         backend::DeviceMemory* memory) {
  backend::Batch one = range_of(batch, Split::By::stripes, stripe, 1, shape.shards);
  one.geometry = slice;
  SampleCheck check(shape, one, stripe, memory);
  if (batch.accumulate) {
    const std::size_t extent = extent_bytes(slice, shape.units);
    check.before_.resize(extent * shape.shards.outputs);
    for (std::size_t i = 0; i < shape.shards.outputs; ++i) {
      CALPE_CHECK(check.fetch(check.before_.data() + i * extent, one.outputs[i]));
    }
  }
  return check;
}

Status SampleCheck::fetch(std::byte* to, const std::byte* shard) const {
  const bool is_remote = is_on_device(shard);
  Status result = Done{};
  for_each_run(stripe_.geometry, shape_.units, [&](std::size_t offset, std::size_t bytes) {
    std::byte* const at = to + (offset - stripe_.geometry.offset);
    if (!is_remote) {
      std::memcpy(at, shard + offset, bytes);
    } else if (result) {
      result = memory_->copy(at, shard + offset, bytes);
    }
  });
  return result;
}

Status SampleCheck::compare(backend::Device& trusted, const backend::Kernel& kernel) const {
  const auto [input_count, output_count] = shape_.shards;
  const std::size_t start = stripe_.geometry.offset;
  const std::size_t extent = extent_bytes(stripe_.geometry, shape_.units);
  // Not zeroed: the gaps of a slice may be far larger than its bytes, and are never touched.
  const auto copies = uninitialised_bytes(memory_ == nullptr ? 0 : extent * input_count);
  const auto expected = uninitialised_bytes(extent * output_count);
  const auto found = uninitialised_bytes(extent);
  std::vector<const std::byte*> in(input_count);
  std::vector<std::byte*> out(output_count);
  for (std::size_t i = 0; i < input_count; ++i) {
    in[i] = stripe_.inputs[i] + start;
    if (!is_on_device(stripe_.inputs[i])) continue;
    std::byte* const copy = copies.get() + i * extent;
    CALPE_CHECK(fetch(copy, stripe_.inputs[i]));
    in[i] = copy;
  }
  for (std::size_t i = 0; i < output_count; ++i)
    out[i] = expected.get() + i * extent;
  if (stripe_.accumulate) std::memcpy(expected.get(), before_.data(), before_.size());

  backend::Batch again = stripe_;
  again.inputs = in.data();
  again.outputs = out.data();
  again.geometry.offset = 0;
  CALPE_CHECK(trusted.run(kernel, again));

  Status result = Done{};
  for (std::size_t i = 0; i < output_count && result; ++i) {
    CALPE_CHECK(fetch(found.get(), stripe_.outputs[i]));
    for_each_run(again.geometry, shape_.units, [&](std::size_t offset, std::size_t bytes) {
      if (!result || std::memcmp(found.get() + offset, out[i] + offset, bytes) == 0) return;
      const std::byte* const first = found.get() + offset;
      const auto differing = std::mismatch(first, first + bytes, out[i] + offset).first;
      result = make_error(ErrorCode::device_failed, "wrong bytes: output ", i, " of stripe ",
                          number_, " differs from the CPU's at byte ",
                          start + offset + static_cast<std::size_t>(differing - first));
    });
  }
  return result;
}

}  // namespace calpe::engine
