// SPDX-License-Identifier: Apache-2.0
// A program whose own streams fill the shards and use the parity. Calpe's work starts after what
// the program queued before the call, and is done when the call returns. The interpreter delays the
// program's stream until a call waits for it, so a missing wait shows in every run.
#include <array>
#include <iostream>
#include <random>
#include <vector>

#include "devices/own_stream.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {
namespace {

constexpr std::size_t data_shards = 4;
constexpr std::size_t parity_shards = 2;
constexpr std::size_t shard_bytes = 4096;

class Streams : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    codec_.emplace(codec_on(tested_backend()));
    memory_.emplace(
        must(DeviceMemory::allocate(*codec_, (data_shards + parity_shards) * shard_bytes)));
    for (std::size_t i = 0; i < data_shards; ++i)
      data_.emplace_back(memory_->shard(i * shard_bytes, shard_bytes));
    for (std::size_t i = 0; i < parity_shards; ++i)
      parity_.push_back(memory_->shard((data_shards + i) * shard_bytes, shard_bytes));
    // The first use of a kernel is checked, which adds waits that later uses do not have.
    EXPECT_TRUE(codec_->encode(data_, parity_));
  }

  static Codec codec_on(const std::string& backend) {
    return must(Codec::create({.data_shards = data_shards, .parity_shards = parity_shards},
                              {.backend = backend}));
  }

  static Bytes random_data(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Bytes bytes(data_shards * shard_bytes);
    for (std::byte& b : bytes)
      b = std::byte(random());
    return bytes;
  }

  static Bytes expected_parity(const Bytes& data) { return encoded(codec_on("cpu"), data); }

  static Bytes encoded(const Codec& codec, const Bytes& data) {
    Bytes parity(parity_shards * shard_bytes);
    std::vector<ConstShard> reads;
    std::vector<Shard> writes;
    for (std::size_t i = 0; i < data_shards; ++i)
      reads.emplace_back(data.data() + i * shard_bytes, shard_bytes);
    for (std::size_t i = 0; i < parity_shards; ++i)
      writes.emplace_back(parity.data() + i * shard_bytes, shard_bytes);
    EXPECT_TRUE(codec.encode(reads, writes));
    return parity;
  }

  std::byte* data_start() const { return memory_->shard(0, 1).data(); }
  std::byte* parity_start() const { return memory_->shard(data_shards * shard_bytes, 1).data(); }

  const KernelScope scope_{Kernels::table};
  std::optional<Codec> codec_;
  std::optional<DeviceMemory> memory_;
  std::vector<ConstShard> data_;
  std::vector<Shard> parity_;
};

// The example of device_memory.hpp.
TEST_F(Streams, coding_comes_after_work_that_was_queued_before) {
  unsigned rounds = 0;
  for (const unsigned flags : {0U, non_blocking}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed, ++rounds) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", flags " + std::to_string(flags));
      const OwnStream stream(*codec_, flags);
      const Bytes data = random_data(seed);
      stream.hold();
      stream.copy_in(data_start(), data);
      const Status done = codec_->encode(data_, parity_);
      ASSERT_TRUE(done) << done.error().message;
      // Work queued after the call finds the parity.
      Bytes parity(parity_shards * shard_bytes);
      stream.copy_out(parity, parity_start());
      stream.wait();
      EXPECT_EQ(parity, expected_parity(data));
      EXPECT_TRUE(is_on_device(*codec_));
    }
  }
  std::cout << rounds << " rounds\n";
}

TEST_F(Streams, submitted_work_comes_after_work_that_was_queued_before) {
  const OwnStream stream(*codec_, non_blocking);
  const Bytes data = random_data(7);
  stream.hold();
  stream.copy_in(data_start(), data);
  const std::array stripes = {Stripe{.inputs = data_, .outputs = parity_}};
  Pending pending = must(codec_->submit(codec_->plan_encode(), stripes));
  const Status done = pending.wait();
  ASSERT_TRUE(done) << done.error().message;
  Bytes parity(parity_shards * shard_bytes);
  ASSERT_TRUE(memory_->read(data_shards * shard_bytes, parity));
  EXPECT_EQ(parity, expected_parity(data));
}

// Coding host memory allocates and loads, also on Calpe's threads, while the program captures a
// stream for a CUDA graph. The codec compiles in the background, and its end waits for that.
TEST_F(Streams, a_capture_of_the_program_stays_valid) {
  const EnvironmentScope kernels("CALPE_DEVICE_KERNELS", std::nullopt);
  const EnvironmentScope no_cache("CALPE_CACHE_DIR", "");
  auto* const capture = cuda_function<decltype(calpe_ptx_capture)>("calpe_ptx_capture");
  auto* const count = cuda_function<decltype(calpe_ptx_count)>("calpe_ptx_count");
  calpe_ptx_counts before = {};
  count(&before);
  capture(1);
  {
    const Codec codec = codec_on(tested_backend());
    const Bytes data = random_data(10);
    EXPECT_EQ(encoded(codec, data), expected_parity(data));
    EXPECT_TRUE(is_on_device(codec));
  }
  capture(0);
  calpe_ptx_counts after = {};
  count(&after);
  EXPECT_GT(after.calls, before.calls);
  EXPECT_EQ(after.misuses, before.misuses)
      << cuda_function<decltype(calpe_ptx_message)>("calpe_ptx_message")();
}

TEST_F(Streams, read_and_write_come_after_work_that_was_queued_before) {
  const OwnStream stream(*codec_, non_blocking);
  const Bytes data = random_data(8);
  stream.hold();
  stream.copy_in(data_start(), data);
  Bytes read(data.size());
  ASSERT_TRUE(memory_->read(0, read));
  EXPECT_EQ(read, data);

  const OwnStream second(*codec_, non_blocking);
  const Bytes newer = random_data(9);
  second.hold();
  second.copy_in(data_start(), data);
  ASSERT_TRUE(memory_->write(0, newer));
  second.wait();
  ASSERT_TRUE(memory_->read(0, read));
  EXPECT_EQ(read, newer) << "an older copy was written over the newer bytes";
}

}  // namespace
}  // namespace calpe::tests
