// SPDX-License-Identifier: Apache-2.0
#include "backend/sample_check.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend {

namespace {

constexpr std::size_t margin_bytes = 64;

// Shards side by side, each followed by a margin that must stay untouched.
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
  std::size_t stride() const noexcept { return stride_; }

 private:
  std::size_t stride_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Status compare_on_sample(Device& trusted, const Kernel& kernel, const SampleShape& shape,
                         const SampleWork& work, const std::function<Status(const Batch&)>& run) {
  const Geometry& geometry = work.geometry;
  const std::size_t shard_bytes = geometry.offset + geometry.group_count * geometry.group_stride +
                                  shape.unit_count * geometry.unit_stride + geometry.unit_bytes;
  struct Memory {
    Shards inputs;
    Shards got;
  };
  const auto memory = std::make_shared<Memory>(
      Memory{.inputs = Shards(work.stripe_count * shape.input_shards, shard_bytes, 1),
             .got = Shards(work.stripe_count * shape.output_shards, shard_bytes, 2)});
  auto& [inputs, got] = *memory;
  Shards expected = got;
  const auto sources = inputs.pointers<const std::byte*>();
  const auto targets = got.pointers<std::byte*>();
  const auto expected_targets = expected.pointers<std::byte*>();
  Batch batch = {.stripe_count = work.stripe_count,
                 .inputs = sources.data(),
                 .outputs = expected_targets.data(),
                 .geometry = geometry,
                 .accumulate = work.accumulate};
  CALPE_CHECK(trusted.run(kernel, batch));
  batch.outputs = targets.data();
  if (Status done = run(batch); !done) {
    if (work.keep_after_failure) work.keep_after_failure(memory);
    return done;
  }
  const auto differs = std::ranges::mismatch(got.bytes(), expected.bytes());
  if (differs.in1 == got.bytes().end()) return Done{};
  const auto at = static_cast<std::size_t>(differs.in1 - got.bytes().begin());
  return make_error(
      ErrorCode::device_failed, "compiled code differs from the cpu: byte ", at % got.stride(),
      " of output ", at / got.stride(), work.accumulate ? ", accumulated" : "", " is ",
      std::to_integer<int>(*differs.in1), "; expected ", std::to_integer<int>(*differs.in2));
}

}  // namespace calpe::backend
