// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/first_use.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::openmp {

namespace {

// More than a block of added outputs, whole vectors of every width, and columns behind them.
constexpr std::size_t unit_bytes = 512 + 64 + 13;
constexpr std::size_t group_count = 2;
constexpr std::size_t margin_bytes = 64;

// Shards side by side, with a margin behind each that nobody may touch.
class Shards {
 public:
  Shards(std::size_t count, std::size_t shard_bytes, std::uint64_t seed)
      : stride_(shard_bytes + margin_bytes), bytes_(count * stride_) {
    std::mt19937_64 random(seed);
    std::generate(bytes_.begin(), bytes_.end(), [&] { return static_cast<std::byte>(random()); });
  }
  template <class Pointer>
  std::vector<Pointer> pointers() {
    std::vector<Pointer> all;
    for (std::size_t at = 0; at < bytes_.size(); at += stride_)
      all.push_back(bytes_.data() + at);
    return all;
  }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::size_t stride_;
  std::vector<std::byte> bytes_;
};

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
                             .group_count = group_count};
  const std::size_t shard_bytes = geometry.offset + group_count * geometry.group_stride;
  for (const bool accumulate : {false, true}) {
    Shards inputs(shape.input_shards, shard_bytes, 1);
    Shards got(shape.output_shards, shard_bytes, 2);
    Shards expected = got;
    const auto sources = inputs.pointers<const std::byte*>();
    const auto targets = got.pointers<std::byte*>();
    const auto expected_targets = expected.pointers<std::byte*>();
    Batch batch = {.inputs = sources.data(),
                   .outputs = expected_targets.data(),
                   .geometry = geometry,
                   .accumulate = accumulate};
    CALPE_CHECK(device.run(generic, batch));
    batch.outputs = targets.data();
    const emit::ShardsWork work = to_work(batch, threads);
    function(&work);
    const auto differs = std::ranges::mismatch(got.bytes(), expected.bytes());
    if (differs.in1 == got.bytes().end()) continue;
    const auto at = static_cast<std::size_t>(differs.in1 - got.bytes().begin());
    return make_error(
        ErrorCode::device_failed, "compiled code gives other bytes than the cpu: byte ",
        at % (shard_bytes + margin_bytes), " of output ", at / (shard_bytes + margin_bytes),
        accumulate ? ", accumulated" : "", " is ", std::to_integer<int>(*differs.in1),
        ", expected ", std::to_integer<int>(*differs.in2));
  }
  return Done{};
}

}  // namespace calpe::backend::openmp
