// SPDX-License-Identifier: Apache-2.0
// Shards in device memory: coded there without a copy, mixed with host memory, at any address,
// allocated or imported from a cl_mem or CUdeviceptr. Wrong use is an error.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_setup.hpp"
#include "devices/native_memory.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {
namespace {

constexpr std::size_t data_shards = 4;
constexpr std::size_t parity_shards = 2;
constexpr std::size_t shards = data_shards + parity_shards;
constexpr std::size_t shard_bytes = 4096 + 13;

using Bytes = std::vector<std::byte>;

// Shards in host memory, with parity from the CPU.
struct Expected {
  std::vector<Bytes> shards;

  explicit Expected(std::uint64_t state = 1) : shards(tests::shards, Bytes(shard_bytes)) {
    for (std::size_t i = 0; i < data_shards; ++i) {
      for (std::byte& b : shards[i]) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        b = std::byte(state >> 56U);
      }
    }
    encode();
  }
  void encode() {
    const Codec cpu = must(Codec::create(spec(), {.backend = "cpu"}));
    const std::vector<ConstShard> data(shards.begin(), shards.begin() + data_shards);
    const std::vector<Shard> parity(shards.begin() + data_shards, shards.end());
    EXPECT_TRUE(cpu.encode(data, parity));
  }
  static CodeSpec spec() { return {.data_shards = data_shards, .parity_shards = parity_shards}; }
};

// Two pieces of device memory with shards `distance` bytes apart: one for inputs, one for outputs.
// A device without addresses can access one buffer each per launch.
struct OnDevice {
  DeviceMemory reads;
  DeviceMemory writes;
  std::size_t distance;
  std::size_t start;  // of the first shard

  Shard read(std::size_t i) const { return reads.shard(start + i * distance, shard_bytes); }
  Shard write(std::size_t i) const { return writes.shard(start + i * distance, shard_bytes); }
  void put(std::size_t i, const Bytes& bytes) const {
    const Status done = reads.write(start + i * distance, bytes);
    EXPECT_TRUE(done) << done.error().message;
  }
  Bytes written(std::size_t i) const {
    Bytes bytes(shard_bytes);
    const Status done = writes.read(start + i * distance, bytes);
    EXPECT_TRUE(done) << done.error().message;
    return bytes;
  }
};

class DeviceMemoryTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    codec_.emplace(must(Codec::create(Expected::spec(), {.backend = tested_backend()})));
  }
  const Codec& codec() const { return *codec_; }

  OnDevice allocate(std::size_t distance = 8192, std::size_t start = 0) const {
    const std::size_t bytes = start + shards * distance;
    return {.reads = must(DeviceMemory::allocate(codec(), bytes)),
            .writes = must(DeviceMemory::allocate(codec(), bytes)),
            .distance = distance,
            .start = start};
  }

  // Encodes, decodes and updates shards in the memory; all bytes must be right.
  void code_in(const OnDevice& memory, const Expected& expected) const {
    std::vector<ConstShard> data;
    std::vector<Shard> parity;
    for (std::size_t i = 0; i < data_shards; ++i)
      data.emplace_back(memory.read(i));
    for (std::size_t i = 0; i < parity_shards; ++i)
      parity.push_back(memory.write(i));
    Status done = codec().encode(data, parity);
    ASSERT_TRUE(done) << done.error().message;

    const std::vector<ShardIndex> available = {0, 2, 4, 5};
    const std::vector<ShardIndex> wanted = {1, 3};
    const Plan plan = must(codec().plan_decode(available, wanted));
    const std::vector<ConstShard> survivors = {memory.read(0), memory.read(2), memory.read(4),
                                               memory.read(5)};
    const std::vector<Shard> rebuilt = {memory.write(2), memory.write(3)};
    done = codec().decode(plan, survivors, rebuilt);
    ASSERT_TRUE(done) << done.error().message;

    // Applies the same change twice, from the delta and from old and new bytes; they cancel.
    const Codec::Change change = {
        .data_index = 1, .offset = 0, .shard_bytes = shard_bytes, .parity_indices = {}};
    const Bytes zeros(shard_bytes);
    memory.put(1, zeros);
    done = codec().update(change, memory.read(3), parity);
    ASSERT_TRUE(done) << done.error().message;
    done = codec().update(change, memory.read(3), memory.read(1), parity);
    ASSERT_TRUE(done) << done.error().message;
    memory.put(1, expected.shards[1]);

    EXPECT_EQ(memory.written(0), expected.shards[4]);
    EXPECT_EQ(memory.written(1), expected.shards[5]);
    EXPECT_EQ(memory.written(2), expected.shards[1]);
    EXPECT_EQ(memory.written(3), expected.shards[3]);
    EXPECT_TRUE(is_on_device(codec()));
  }

  static void fill(const OnDevice& memory, const Expected& expected) {
    for (std::size_t i = 0; i < shards; ++i)
      memory.put(i, expected.shards[i]);
  }

 private:
  const KernelScope scope_{Kernels::table};
  std::optional<Codec> codec_;
};

TEST_F(DeviceMemoryTest, is_coded_without_a_copy) {
  const Expected expected;
  const OnDevice memory = allocate();
  fill(memory, expected);
  // The first use of each kernel is checked by the CPU, which copies.
  code_in(memory, expected);
  if (HasFatalFailure()) return;

  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  for (std::size_t i = 0; i < data_shards; ++i)
    data.emplace_back(memory.read(i));
  for (std::size_t i = 0; i < parity_shards; ++i)
    parity.push_back(memory.write(i));
  const Plan plan =
      must(codec().plan_decode(std::vector<ShardIndex>{0, 2, 4, 5}, std::vector<ShardIndex>{1, 3}));
  const std::vector<ConstShard> survivors = {memory.read(0), memory.read(2), memory.read(4),
                                             memory.read(5)};
  const std::vector<Shard> rebuilt = {memory.write(2), memory.write(3)};
  const Codec::Change change = {
      .data_index = 1, .offset = 0, .shard_bytes = shard_bytes, .parity_indices = {}};

  const DeviceProfile before = device_profile(codec());
  const CopyCount copies = CopyCount::now();
  constexpr unsigned rounds = 10;
  for (unsigned round = 0; round < rounds; ++round) {
    ASSERT_TRUE(codec().encode(data, parity));
    ASSERT_TRUE(codec().decode(plan, survivors, rebuilt));
    ASSERT_TRUE(codec().update(change, memory.read(1), parity));
    ASSERT_TRUE(codec().update(change, memory.read(1), memory.read(3), parity));
  }
  const CopyCount copied = CopyCount::now() - copies;
  const DeviceProfile after = device_profile(codec());
  EXPECT_GE(after.launches - before.launches, 4 * rounds);
  EXPECT_EQ(after.copy_in_bytes, before.copy_in_bytes);
  EXPECT_EQ(after.copy_out_bytes, before.copy_out_bytes);
  // The driver's own counts: only shard addresses go in, and nothing comes out.
  EXPECT_LE(copied.in, 4 * rounds * shards * sizeof(std::uint64_t));
  EXPECT_EQ(copied.out, 0U);
  std::printf("%u launches, %u bytes of shards copied; driver: %u bytes in, %u out\n",
              unsigned(after.launches - before.launches),
              unsigned(after.copy_in_bytes - before.copy_in_bytes), unsigned(copied.in),
              unsigned(copied.out));
  // The last update left a change; encode again and compare.
  ASSERT_TRUE(codec().encode(data, parity));
  EXPECT_EQ(memory.written(0), expected.shards[4]);
  EXPECT_EQ(memory.written(2), expected.shards[1]);
  EXPECT_TRUE(is_on_device(codec()));
}

// The counters work: the same from host memory that is not shared.
TEST_F(DeviceMemoryTest, counts_copies_of_host_memory) {
  Expected expected;
  const auto memory = must(DeviceMemory::allocate(codec(), 1));
  const auto mapped = must(MappedMemory::map(memory, 0, 1));
  const bool is_shared = mapped.bytes().data() == memory.shard(0, 1).data();
  const std::vector<ConstShard> data(expected.shards.begin(),
                                     expected.shards.begin() + data_shards);
  const std::vector<Shard> parity(expected.shards.begin() + data_shards, expected.shards.end());
  const DeviceProfile before = device_profile(codec());
  ASSERT_TRUE(codec().encode(data, parity));
  const DeviceProfile after = device_profile(codec());
  const std::uint64_t in = is_shared ? 0 : data_shards * shard_bytes;
  const std::uint64_t out = is_shared ? 0 : parity_shards * shard_bytes;
  EXPECT_GE(after.copy_in_bytes - before.copy_in_bytes, in);
  EXPECT_LE(after.copy_in_bytes - before.copy_in_bytes, in + in / 4);  // rounded up
  EXPECT_GE(after.copy_out_bytes - before.copy_out_bytes, out);
  EXPECT_LE(after.copy_out_bytes - before.copy_out_bytes, out + out / 4);
}

TEST_F(DeviceMemoryTest, may_be_at_odd_addresses) {
  const Expected expected(2);
  for (const std::size_t start : {std::size_t{1}, std::size_t{4}, std::size_t{7}}) {
    const OnDevice memory = allocate(shard_bytes + 2 * start, start);
    fill(memory, expected);
    code_in(memory, expected);
  }
}

TEST_F(DeviceMemoryTest, may_be_mixed_with_host_memory) {
  Expected expected(3);
  const OnDevice memory = allocate();
  fill(memory, expected);
  for (unsigned mask = 0; mask < 1U << shards; mask += 5) {
    std::vector<Bytes> host(shards, Bytes(shard_bytes));
    std::vector<ConstShard> data;
    std::vector<Shard> parity;
    const auto is_far = [&](std::size_t i) { return (mask >> i & 1U) != 0; };
    for (std::size_t i = 0; i < data_shards; ++i) {
      data.emplace_back(is_far(i) ? ConstShard(memory.read(i)) : ConstShard(expected.shards[i]));
    }
    for (std::size_t i = data_shards; i < shards; ++i) {
      parity.push_back(is_far(i) ? memory.write(i) : Shard(host[i]));
      ASSERT_TRUE(memory.writes.write(memory.start + i * memory.distance, host[i]));
    }
    for (const bool accumulate : {false, true, true}) {
      const Status done = codec().encode(data, parity, {.accumulate = accumulate});
      ASSERT_TRUE(done) << done.error().message;
    }
    for (std::size_t i = data_shards; i < shards; ++i) {
      ASSERT_TRUE((is_far(i) ? memory.written(i) : host[i]) == expected.shards[i])
          << "shard " << i << " of mask " << mask;
    }
  }
  EXPECT_TRUE(is_on_device(codec()));
}

TEST_F(DeviceMemoryTest, outlives_its_codec) {
  const Expected expected(4);
  std::optional<OnDevice> memory;
  {
    const Codec other = must(Codec::create(Expected::spec(), {.backend = tested_backend()}));
    memory.emplace(OnDevice{.reads = must(DeviceMemory::allocate(other, shards * 8192)),
                            .writes = must(DeviceMemory::allocate(other, shards * 8192)),
                            .distance = 8192,
                            .start = 0});
  }
  fill(*memory, expected);
  code_in(*memory, expected);
}

TEST_F(DeviceMemoryTest, is_mapped_and_written_back) {
  const auto memory = must(DeviceMemory::allocate(codec(), 1000));
  ASSERT_TRUE(memory.write(0, Bytes(1000, std::byte{1})));
  {
    auto mapped = must(MappedMemory::map(memory, 13, 500));
    ASSERT_EQ(mapped.bytes().size(), 500U);
    EXPECT_EQ(mapped.bytes()[0], std::byte{1});
    std::ranges::fill(mapped.bytes(), std::byte{2});
    ASSERT_TRUE(mapped.close());
  }
  Bytes back(1000);
  ASSERT_TRUE(memory.read(0, back));
  for (std::size_t i = 0; i < back.size(); ++i)
    ASSERT_EQ(back[i], i >= 13 && i < 513 ? std::byte{2} : std::byte{1}) << i;
}

TEST_F(DeviceMemoryTest, registers_host_memory) {
  Expected expected(5);
  Bytes often(shards * shard_bytes);
  const auto registered = must(RegisteredMemory::create(codec(), often));
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  for (std::size_t i = 0; i < shards; ++i) {
    const Shard shard = Shard(often).subspan(i * shard_bytes, shard_bytes);
    if (i < data_shards) {
      std::ranges::copy(expected.shards[i], shard.begin());
      data.emplace_back(shard);
    } else {
      parity.push_back(shard);
    }
  }
  const DeviceProfile before = device_profile(codec());
  ASSERT_TRUE(codec().encode(data, parity));
  const DeviceProfile after = device_profile(codec());
  for (std::size_t i = 0; i < parity_shards; ++i)
    EXPECT_TRUE(std::ranges::equal(parity[i], expected.shards[data_shards + i]));
  EXPECT_TRUE(is_on_device(codec()));
  // Directly, without the padding of copies that the host packs and unpacks.
  if (after.copy_in_bytes == before.copy_in_bytes) return;  // in place
  EXPECT_EQ(after.copy_in_bytes - before.copy_in_bytes, data_shards * shard_bytes);
  EXPECT_EQ(after.copy_out_bytes - before.copy_out_bytes, parity_shards * shard_bytes);
}

TEST_F(DeviceMemoryTest, imports_memory_of_the_caller) {
  if (!imports_memory()) GTEST_SKIP() << tested_backend() << " imports no memory";
  const Expected expected(6);
  constexpr std::size_t bytes = shards * 8192;
  unsigned imported = 0;
  for (const NativeMemory::Owner owner :
       {NativeMemory::Owner::codec_context, NativeMemory::Owner::own_context}) {
    NativeMemory in(codec(), bytes, owner);
    NativeMemory out(codec(), bytes, owner);
    if (!in.missing().empty()) {
      std::printf("%s\n", in.missing().c_str());
      continue;
    }
    auto reads = in.import(codec(), bytes);
    auto writes = out.import(codec(), bytes);
    if (owner == NativeMemory::Owner::own_context && in.is_elsewhere(codec())) {
      ASSERT_FALSE(reads);
      EXPECT_EQ(reads.error().code, ErrorCode::invalid_argument);
      continue;
    }
    ASSERT_TRUE(reads) << reads.error().message;
    ASSERT_TRUE(writes) << writes.error().message;
    const OnDevice memory = {
        .reads = *std::move(reads), .writes = *std::move(writes), .distance = 8192, .start = 0};
    fill(memory, expected);
    code_in(memory, expected);
    // It is the caller's memory, not a copy of it.
    EXPECT_EQ(out.read(2 * 8192, shard_bytes), expected.shards[1]);
    ++imported;
  }
  EXPECT_GE(imported, 1U);
}

// A driver that knows its memory by the address needs no import; the CPU never reads it.
TEST_F(DeviceMemoryTest, recognises_device_pointers_that_were_not_imported) {
  if (!is_cuda()) GTEST_SKIP() << "a cl_mem has no address";
  const Expected expected(8);
  const NativeMemory native(codec(), shards * 8192, NativeMemory::Owner::codec_context);
  {
    const DeviceMemory window = must(native.import(codec(), shards * 8192));
    for (std::size_t i = 0; i < data_shards; ++i)
      ASSERT_TRUE(window.write(i * 8192, expected.shards[i]));
  }
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  for (std::size_t i = 0; i < data_shards; ++i)
    data.emplace_back(native.address() + i * 8192, shard_bytes);
  for (std::size_t i = data_shards; i < shards; ++i)
    parity.emplace_back(native.address() + i * 8192, shard_bytes);
  Status done = codec().encode(data, parity);
  ASSERT_TRUE(done) << done.error().message;
  // Mixed with host memory.
  Bytes rebuilt(shard_bytes);
  const Plan plan =
      must(codec().plan_decode(std::vector<ShardIndex>{1, 2, 3, 4}, std::vector<ShardIndex>{0}));
  const std::vector<ConstShard> survivors = {data[1], expected.shards[2], data[3], parity[0]};
  done = codec().decode(plan, survivors, std::vector<Shard>{rebuilt});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(rebuilt, expected.shards[0]);
  for (std::size_t i = data_shards; i < shards; ++i)
    EXPECT_EQ(native.read(i * 8192, shard_bytes), expected.shards[i]);
  EXPECT_TRUE(is_on_device(codec()));
}

TEST_F(DeviceMemoryTest, refuses_foreign_handles) {
  const auto is_refused = [](const Result<DeviceMemory>& made) -> testing::AssertionResult {
    if (made) return testing::AssertionFailure() << "accepted";
    if (made.error().code == ErrorCode::invalid_argument) return testing::AssertionSuccess();
    return testing::AssertionFailure() << made.error().message;
  };
  alignas(64) static std::byte host[256] = {};
  const auto address = reinterpret_cast<std::uint64_t>(&host[0]);
  EXPECT_TRUE(is_refused(DeviceMemory::allocate(codec(), 0)));
  EXPECT_TRUE(is_refused(DeviceMemory::import_opencl(codec(), nullptr, 16)));
  EXPECT_TRUE(is_refused(DeviceMemory::import_cuda(codec(), 0, 16)));
  EXPECT_TRUE(is_refused(DeviceMemory::import_opencl(codec(), &host[0], 16)));
  EXPECT_TRUE(is_refused(DeviceMemory::import_opencl(codec(), &host[3], 16)));
  EXPECT_TRUE(is_refused(DeviceMemory::import_cuda(codec(), address, 16)));
  if (!imports_memory()) return;
  NativeMemory memory(codec(), 4096, NativeMemory::Owner::codec_context);
  ASSERT_TRUE(memory.missing().empty()) << memory.missing();
  EXPECT_TRUE(is_refused(memory.import(codec(), 4097)));
  EXPECT_TRUE(is_refused(memory.import(codec(), 0)));
  EXPECT_TRUE(is_refused(memory.import_as_other_kind(codec(), 16)));
  // The codec still works.
  const Expected expected;
  const OnDevice own = allocate();
  fill(own, expected);
  code_in(own, expected);
}

TEST_F(DeviceMemoryTest, refuses_ranges_beyond_it) {
  const auto memory = must(DeviceMemory::allocate(codec(), 100));
  Bytes bytes(101);
  const auto is_refused = [](const Status& done) {
    return !done && done.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(is_refused(memory.read(0, bytes)));
  EXPECT_TRUE(is_refused(memory.write(100, Shard(bytes).first(1))));
  EXPECT_TRUE(is_refused(memory.read(~std::size_t{0}, Shard(bytes).first(2))));
  EXPECT_TRUE(memory.read(100, {}));
  EXPECT_FALSE(MappedMemory::map(memory, 99, 2));
  EXPECT_FALSE(MappedMemory::map(memory, 1, ~std::size_t{0}));
  EXPECT_TRUE(MappedMemory::map(memory, 99, 1));
}

TEST_F(DeviceMemoryTest, fails_when_memory_is_exhausted) {
  const auto memory = DeviceMemory::allocate(codec(), std::size_t{1} << 50);
  ASSERT_FALSE(memory);
  EXPECT_TRUE(is_on_device(codec()));
}

}  // namespace
}  // namespace calpe::tests
