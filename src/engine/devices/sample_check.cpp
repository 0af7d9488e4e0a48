// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/sample_check.hpp"

#include <memory>

#include "base/text.hpp"
#include "base/uninitialised.hpp"

namespace calpe::engine {

namespace {

using backend::Geometry;

// For fewer bytes of outputs, the CPU repeats the work in less time than tags take, which have a
// fixed cost each (docs/adr/0024).
constexpr std::size_t tagged_bytes_min = std::size_t{128} << 10;

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

// Tags are short shards of the same code.
Result<bool> SampleCheck::has_right_tags(backend::Device& trusted, const backend::Kernel& kernel,
                                         const backend::cpu::Tagger& tagger,
                                         std::span<const std::byte* const> in,
                                         std::byte* found) const {
  constexpr std::size_t tag_bytes = backend::cpu::tag_bytes;
  const auto [input_count, output_count] = shape_.shards;
  const std::size_t bytes = stripe_.geometry.unit_bytes;
  std::vector<std::byte> tags((input_count + 2 * output_count) * tag_bytes);
  std::byte* const expected = tags.data() + input_count * tag_bytes;
  std::byte* const written = expected + output_count * tag_bytes;
  std::vector<ConstShard> shards;
  for (const std::byte* const input : in)
    shards.emplace_back(input, bytes);
  tagger.tag(shards, tags.data());
  shards.clear();
  for (std::size_t i = 0; i < output_count; ++i) {
    shards.emplace_back(stripe_.outputs[i] + stripe_.geometry.offset, bytes);
    if (memory_ == nullptr) continue;  // all at once is faster
    if (is_on_device(stripe_.outputs[i])) {
      CALPE_CHECK(fetch(found, stripe_.outputs[i]));
      shards.back() = {found, bytes};
    }
    tagger.tag({&shards.back(), 1}, written + i * tag_bytes);
  }
  if (memory_ == nullptr) tagger.tag(shards, written);
  shards.clear();
  for (std::size_t i = 0; stripe_.accumulate && i < output_count; ++i)
    shards.emplace_back(before_.data() + i * bytes, bytes);
  tagger.tag(shards, expected);

  std::vector<const std::byte*> from(input_count);
  std::vector<std::byte*> to(output_count);
  for (std::size_t i = 0; i < input_count; ++i)
    from[i] = tags.data() + i * tag_bytes;
  for (std::size_t i = 0; i < output_count; ++i)
    to[i] = expected + i * tag_bytes;
  CALPE_CHECK(trusted.run(kernel, {.inputs = from.data(),
                                   .outputs = to.data(),
                                   .geometry = {.unit_bytes = tag_bytes},
                                   .accumulate = stripe_.accumulate}));
  return std::memcmp(expected, written, output_count * tag_bytes) == 0;
}

Status SampleCheck::compare(backend::Device& trusted, const backend::Kernel& kernel,
                            const backend::cpu::Tagger* tagger) const {
  const auto [input_count, output_count] = shape_.shards;
  const std::size_t start = stripe_.geometry.offset;
  const std::size_t extent = extent_bytes(stripe_.geometry, shape_.units);
  // Not zeroed: the gaps of a slice may be far larger than its bytes, and are never touched.
  const auto copies = uninitialised_bytes(memory_ == nullptr ? 0 : extent * input_count);
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
  const bool is_flat = shape_.units == 1 && stripe_.geometry.group_count == 1;
  if (tagger != nullptr && is_flat && extent * output_count >= tagged_bytes_min) {
    CALPE_TRY(const bool is_right, has_right_tags(trusted, kernel, *tagger, in, found.get()));
    if (is_right) return Done{};
  }
  const auto expected = uninitialised_bytes(extent * output_count);
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
