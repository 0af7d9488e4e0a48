// SPDX-License-Identifier: Apache-2.0
// The stack that calls need, as codec.hpp promises: threads of embedders are often small. The stack
// of a thread is filled with a pattern, and what no longer has it was used.
#include <gtest/gtest.h>

#if defined(__linux__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <pthread.h>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t promised_bytes = std::size_t{256} << 10;
constexpr std::size_t thread_bytes = std::size_t{1} << 20;
constexpr std::byte untouched{0xC3};

std::size_t stack_bytes(std::function<void()> call) {
  constexpr std::align_val_t page{4096};
  auto* const stack = static_cast<std::byte*>(::operator new(thread_bytes, page));
  std::memset(stack, std::to_integer<int>(untouched), thread_bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, thread_bytes);
  pthread_t thread{};
  const auto run = [](void* work) -> void* {
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
  };
  const bool has_begun = pthread_create(&thread, &attributes, run, &call) == 0;
  EXPECT_TRUE(has_begun);
  if (has_begun) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const std::byte* const used =
      std::find_if(stack, stack + thread_bytes, [](std::byte b) { return b != untouched; });
  const auto count = static_cast<std::size_t>(stack + thread_bytes - used);
  ::operator delete(stack, page);
  return count;
}

struct Shape {
  std::uint32_t data;
  std::uint32_t parity;
  Layout layout = Layout::bytes;
};

class StackUse : public testing::TestWithParam<Shape> {};

TEST_P(StackUse, OfEveryCallIsAsPromised) {
  const Shape shape = GetParam();
  CodeSpec spec;
  spec.data_shards = shape.data;
  spec.parity_shards = shape.parity;
  spec.layout = shape.layout;
  if (shape.layout == Layout::packets) spec.family = CodeFamily::hybrid_good;
  const auto expect_promised = [&](const char* name, const std::function<Status()>& call) {
    Status done = Done{};
    const std::size_t bytes = stack_bytes([&] { done = call(); });
    EXPECT_TRUE(done) << name << ": " << done.error().message;
    EXPECT_LE(bytes, promised_bytes) << name << " of " << shape.data << "+" << shape.parity;
    EXPECT_GT(bytes, 1000U) << name;
  };
  expect_promised("create", [&]() -> Status {
    const auto made = Codec::create(spec);
    return made ? Status(Done{}) : Status(made.error());
  });
  const Codec codec = *Codec::create(spec);
  const std::size_t k = shape.data;
  for (const std::size_t length : {1000U, 4096U}) {  // with an odd rest, and without
    const std::size_t parity_length = codec.parity_bytes(length);
    Bytes object(k * length, std::byte{7});
    object.back() = std::byte{0};  // encode_object() gets it without
    std::vector<Bytes> parity(shape.parity, Bytes(parity_length));
    std::vector<Shard> all;
    for (std::size_t i = 0; i < k; ++i)
      all.push_back(Shard(object).subspan(i * length, length));
    all.insert(all.end(), parity.begin(), parity.end());
    const std::vector<ConstShard> read(all.begin(), all.end());
    const auto data = std::span(read).first(k);
    const auto stored = std::span(read).subspan(k);
    const auto written = std::span(all).subspan(k);
    std::vector<ShardIndex> lost(std::min(k, std::size_t{shape.parity}));
    std::iota(lost.begin(), lost.end(), ShardIndex{0});
    expect_promised("encode", [&] { return codec.encode(data, written); });
    expect_promised("rebuild", [&] { return codec.rebuild(all, lost); });
    const std::span<const Shard> stripe = all;
    expect_promised("rebuild_batch", [&] { return codec.rebuild_batch({&stripe, 1}, lost); });
    expect_promised("encode_object", [&] {
      return codec.encode_object(ConstShard(object).first(object.size() - 1), length, written);
    });
    expect_promised("update", [&] {
      return codec.update({.data_index = 0, .offset = 1, .shard_bytes = length}, Bytes(length - 1),
                          written);
    });
    const auto status_of = [](const auto& found) {
      return found ? Status(Done{}) : Status(found.error());
    };
    expect_promised("verify", [&] { return status_of(codec.verify(data, stored)); });
    expect_promised("locate", [&] { return status_of(codec.locate(read)); });
    std::vector<ConstShardPieces> from;
    for (const ConstShard& shard : data)
      from.emplace_back(&shard, 1);
    std::vector<ShardPieces> to;
    for (const Shard& shard : written)
      to.emplace_back(&shard, 1);
    expect_promised("run_pieces", [&] { return codec.run_pieces(codec.plan_encode(), from, to); });
    expect_promised("submit", [&]() -> Status {
      const Stripe one{.inputs = data, .outputs = written};
      auto pending = codec.submit(codec.plan_encode(), {&one, 1});
      return pending ? pending->wait() : Status(pending.error());
    });
    if (shape.layout != Layout::bytes || codec.spec().word_bits != 8) continue;
    Bytes tags((k + shape.parity) * tag_bytes);
    expect_promised("encode_tagged", [&] { return codec.encode_tagged(data, written, tags); });
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StackUse,
                         testing::Values(Shape{4, 2}, Shape{20, 10}, Shape{128, 128},
                                         Shape{192, 64}, Shape{200, 56}, Shape{1000, 1},
                                         Shape{1, 1000}, Shape{1000, 200}, Shape{6000, 2000},
                                         Shape{10, 4, Layout::packets}));

}  // namespace
}  // namespace calpe
#endif
