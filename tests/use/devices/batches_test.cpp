// SPDX-License-Identifier: Apache-2.0
// Batches with more stripes than one launch allows: every stripe is right, wherever the shards are.
// The stripes are tiny, because only their number matters.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "devices/device_setup.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {
namespace {

constexpr std::size_t data_shards = 2;
constexpr std::size_t parity_shards = 1;
constexpr std::size_t pitch = 32;  // shard distance, which keeps words aligned

using Bytes = std::vector<std::byte>;

struct Size {
  std::size_t stripes;
  std::size_t shard_bytes;
};

// The stripes of a batch in two pieces of memory, one after the other.
class Stripes {
 public:
  Stripes(const Size& size, std::byte* data, std::byte* parity) {
    inputs_.reserve(size.stripes * data_shards);
    outputs_.reserve(size.stripes * parity_shards);
    for (std::size_t i = 0; i < size.stripes * data_shards; ++i)
      inputs_.emplace_back(data + i * pitch, size.shard_bytes);
    for (std::size_t i = 0; i < size.stripes * parity_shards; ++i)
      outputs_.emplace_back(parity + i * pitch, size.shard_bytes);
    for (std::size_t i = 0; i < size.stripes; ++i) {
      list_.push_back({.inputs = {inputs_.data() + i * data_shards, data_shards},
                       .outputs = {outputs_.data() + i * parity_shards, parity_shards}});
    }
  }
  std::span<const Stripe> list() const { return list_; }

 private:
  std::vector<ConstShard> inputs_;
  std::vector<Shard> outputs_;
  std::vector<Stripe> list_;
};

class Batches : public DeviceTest {
 protected:
  static Codec codec(const std::string& backend) {
    return must(Codec::create({.data_shards = data_shards, .parity_shards = parity_shards},
                              {.backend = backend}));
  }

  // Encodes the stripes with data from `make` and compares each with the CPU.
  void encode(const Size& size, bool is_on_device_memory) {
    const char* text = std::getenv("CALPE_TEST_SEED");
    const std::uint64_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
    SCOPED_TRACE("CALPE_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Bytes data(size.stripes * data_shards * pitch);
    std::ranges::generate(data, [&] { return std::byte(random()); });
    Bytes expected(size.stripes * parity_shards * pitch);
    Bytes parity(expected.size());

    const Codec cpu = codec("cpu");
    const Stripes on_cpu(size, data.data(), expected.data());
    ASSERT_TRUE(cpu.run_batch(cpu.plan_encode(), on_cpu.list()));

    const Codec device = codec(tested_backend());
    const Plan plan = device.plan_encode();
    if (is_on_device_memory) {
      const DeviceMemory reads = must(DeviceMemory::allocate(device, data.size()));
      const DeviceMemory writes = must(DeviceMemory::allocate(device, parity.size()));
      ASSERT_TRUE(reads.write(0, data));
      ASSERT_TRUE(writes.write(0, parity));
      const Stripes stripes(size, reads.shard(0, 1).data(), writes.shard(0, 1).data());
      const Status done = device.run_batch(plan, stripes.list());
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_TRUE(writes.read(0, parity));
    } else {
      const Stripes stripes(size, data.data(), parity.data());
      const Status done = device.run_batch(plan, stripes.list());
      ASSERT_TRUE(done) << done.error().message;
    }
    const auto [wrong, right] = std::ranges::mismatch(parity, expected);
    EXPECT_TRUE(wrong == parity.end())
        << "of " << size.stripes << " stripes, number "
        << static_cast<std::size_t>(wrong - parity.begin()) / pitch << " is the first wrong one";
    EXPECT_TRUE(is_on_device(device));
    stripes_ += size.stripes;
  }

  // If the device cannot allocate enough for the batch, uses host memory only.
  static bool has_own_memory(std::size_t bytes) {
    if (tested_backend().find('+') != std::string::npos) return false;
    const char* most = std::getenv("CALPE_CL_ALLOCATION_MAX");
    return most == nullptr || std::strtoull(most, nullptr, 10) >= bytes;
  }

  void encode_everywhere(const Size& size, Kernels kernels) {
    SCOPED_TRACE(kernels == Kernels::table ? "table kernels" : "compiled kernels");
    const KernelScope scope(kernels);
    const bool has_memory = has_own_memory(size.stripes * data_shards * pitch);
    // An interpreter is slow: fewer stripes from the host, more on the device.
    const bool is_interpreter = tested_backend().starts_with("cuda");
    if (!is_interpreter || size.stripes < 100'000) encode(size, false);
    if (has_memory && (!is_interpreter || size.stripes > 100'000)) encode(size, true);
    std::cout << stripes_ << " stripes compared\n";
  }

 private:
  std::size_t stripes_ = 0;
};

// Whole words and the bytes after them are launches of different kernels.
TEST_F(Batches, of_70000_stripes_with_odd_ends) {
  encode_everywhere({.stripes = 70'000, .shard_bytes = 19}, Kernels::compiled);
  // An interpreter uses the table kernels for the odd ends above.
  if (tested_backend().starts_with("cuda")) return;
  encode_everywhere({.stripes = 70'000, .shard_bytes = 19}, Kernels::table);
}

TEST_F(Batches, of_200000_stripes) {
  encode_everywhere({.stripes = 200'000, .shard_bytes = 16}, Kernels::compiled);
}

// Shards in device memory of the largest allowed size. The table of shard locations is larger than
// that, so the batch runs in pieces.
TEST_F(Batches, with_a_table_larger_than_one_allocation) {
  const Codec device = codec(tested_backend());
  const char* most = std::getenv("CALPE_CL_ALLOCATION_MAX");
  if (most == nullptr) GTEST_SKIP() << "this set-up does not limit allocations";
  const std::size_t limit = std::strtoull(most, nullptr, 10);
  const auto refused = DeviceMemory::allocate(device, limit + 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_NE(refused.error().message.find("at most"), std::string::npos) << refused.error().message;

  // All stripes read the same data and write their own parity, one byte each.
  const std::size_t count = 70'000;
  const DeviceMemory reads = must(DeviceMemory::allocate(device, 2));
  const DeviceMemory writes = must(DeviceMemory::allocate(device, count));
  const Bytes data = {std::byte{0x53}, std::byte{0xCA}};
  ASSERT_TRUE(reads.write(0, data));
  const std::vector<ConstShard> inputs = {reads.shard(0, 1), reads.shard(1, 1)};
  std::vector<Shard> outputs;
  for (std::size_t i = 0; i < count; ++i)
    outputs.push_back(writes.shard(i, 1));
  std::vector<Stripe> stripes;
  for (std::size_t i = 0; i < count; ++i)
    stripes.push_back({.inputs = inputs, .outputs = {&outputs[i], 1}});
  const Status done = device.run_batch(device.plan_encode(), stripes);
  ASSERT_TRUE(done) << done.error().message;

  Bytes expected(1);
  const std::vector<ConstShard> host = {{&data[0], 1}, {&data[1], 1}};
  ASSERT_TRUE(codec("cpu").encode(host, std::vector<Shard>{expected}));
  Bytes parity(count);
  ASSERT_TRUE(writes.read(0, parity));
  EXPECT_EQ(std::ranges::count(parity, expected[0]), static_cast<std::ptrdiff_t>(count));
  EXPECT_TRUE(is_on_device(device));
}

}  // namespace
}  // namespace calpe::tests
