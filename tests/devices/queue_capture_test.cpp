// SPDX-License-Identifier: Apache-2.0
// Plans in CUDA streams next to the program's own copies: the order in one stream, between streams
// and in captured graphs, and no allocation. The interpreter notices a wait that is missing on
// either side.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <random>

#include <calpe/device_queue.hpp>

#include "devices/own_stream.hpp"
#include "support/random_cases.hpp"

namespace {

thread_local bool counts_allocations = false;
thread_local long allocations = 0;
int (*is_inside_driver)() = nullptr;

void* counted(std::size_t bytes) {
  if (counts_allocations && (is_inside_driver == nullptr || is_inside_driver() == 0)) ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = counted(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace calpe::tests {
namespace {

constexpr std::size_t data_shards = 4;
constexpr std::size_t parity_shards = 2;
constexpr std::size_t shard_bytes = 4096;
constexpr int launch_failed = 719;

class QueueCapture : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    codec_.emplace(must(Codec::create(spec(), {.backend = tested_backend()})));
    plan_ = must(QueuePlan::create(*codec_, codec_->plan_encode(), shard_bytes));
    memory_.emplace(
        must(DeviceMemory::allocate(*codec_, (data_shards + parity_shards) * shard_bytes)));
    workspace_.emplace(must(DeviceMemory::allocate(*codec_, plan_.workspace_bytes(1))));
    is_inside_driver = cuda_function<int()>("calpe_ptx_is_inside");
    misuses_before_ = counts().misuses;
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(counts().misuses, misuses_before_)
        << cuda_function<decltype(calpe_ptx_message)>("calpe_ptx_message")();
  }

  static CodeSpec spec() { return {.data_shards = data_shards, .parity_shards = parity_shards}; }
  static calpe_ptx_counts counts() {
    calpe_ptx_counts now = {};
    cuda_function<decltype(calpe_ptx_count)>("calpe_ptx_count")(&now);
    return now;
  }
  static void reset() { cuda_function<decltype(calpe_ptx_reset)>("calpe_ptx_reset")(); }

  static Bytes random_data(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Bytes bytes(data_shards * shard_bytes);
    for (std::byte& b : bytes)
      b = std::byte(random());
    return bytes;
  }
  static Bytes expected_parity(const Bytes& data) {
    const Codec cpu = must(Codec::create(spec(), {.backend = "cpu"}));
    Bytes parity(parity_shards * shard_bytes);
    std::vector<ConstShard> from;
    std::vector<Shard> to;
    for (std::size_t i = 0; i < data_shards; ++i)
      from.emplace_back(data.data() + i * shard_bytes, shard_bytes);
    for (std::size_t i = 0; i < parity_shards; ++i)
      to.emplace_back(parity.data() + i * shard_bytes, shard_bytes);
    EXPECT_TRUE(cpu.encode(from, to));
    return parity;
  }

  std::byte* data_start() const { return memory_->shard(0, 1).data(); }
  std::byte* parity_start() const { return memory_->shard(data_shards * shard_bytes, 1).data(); }
  const QueuePlan& plan() const { return plan_; }

  // The lists are gone afterwards.
  void enqueue(const OwnStream& stream) const {
    std::array<const std::byte*, data_shards> inputs = {};
    std::array<std::byte*, parity_shards> outputs = {};
    for (std::size_t i = 0; i < data_shards; ++i)
      inputs[i] = data_start() + i * shard_bytes;
    for (std::size_t i = 0; i < parity_shards; ++i)
      outputs[i] = parity_start() + i * shard_bytes;
    const Status done = plan_.enqueue_cuda(stream.handle(), 1, inputs.data(), outputs.data(),
                                           workspace_->shard(0, workspace_->bytes()));
    EXPECT_TRUE(done) << done.error().message;
    inputs = {};
    outputs = {};
  }

  // A graph for the time of a test.
  class Graph {
   public:
    explicit Graph(void* graph) {
      EXPECT_EQ((cuda_function<int(void**, void*, unsigned long long)>(
                    "cuGraphInstantiateWithFlags")(&executable_, graph, 0)),
                0);
      EXPECT_EQ(cuda_function<int(void*)>("cuGraphDestroy")(graph), 0);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() { EXPECT_EQ(cuda_function<int(void*)>("cuGraphExecDestroy")(executable_), 0); }
    void launch(const OwnStream& stream, int expected = 0) const {
      stream.in_context([&] {
        EXPECT_EQ((cuda_function<int(void*, void*)>("cuGraphLaunch")(executable_, stream.handle())),
                  expected);
      });
    }

   private:
    void* executable_ = nullptr;
  };

  const KernelScope scope_{Kernels::table};
  std::optional<Codec> codec_;
  QueuePlan plan_;
  std::optional<DeviceMemory> memory_;
  std::optional<DeviceMemory> workspace_;
  std::uint64_t misuses_before_ = 0;
};

TEST_F(QueueCapture, work_is_ordered_in_the_stream_of_the_program) {
  for (const unsigned flags : {0U, non_blocking}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", flags " + std::to_string(flags));
      const OwnStream stream(*codec_, flags);
      const Bytes data = random_data(seed);
      Bytes parity(parity_shards * shard_bytes);
      Bytes witness(data.size());
      stream.hold();
      stream.copy_in(data_start(), data);
      stream.copy_out(witness, data_start());
      enqueue(stream);
      stream.copy_out(parity, parity_start());
      EXPECT_EQ(witness, Bytes(data.size())) << "a call waited";
      stream.wait();
      EXPECT_EQ(parity, expected_parity(data));
    }
  }
  EXPECT_TRUE(is_on_device(*codec_));
}

TEST_F(QueueCapture, work_is_ordered_by_events_of_the_program) {
  const OwnStream copies(*codec_, non_blocking);
  const OwnStream coding(*codec_, non_blocking);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Bytes data = random_data(seed);
    Bytes parity(parity_shards * shard_bytes);
    copies.copy_in(data_start(), data);
    coding.wait_for(copies);
    enqueue(coding);
    copies.wait_for(coding);
    copies.copy_out(parity, parity_start());
    copies.wait();
    EXPECT_EQ(parity, expected_parity(data));
  }
}

// A test of the interpreter: it notices what the program forgets.
TEST_F(QueueCapture, a_missing_wait_of_the_program_is_noticed) {
  const Bytes data = random_data(1);
  Bytes parity(parity_shards * shard_bytes);
  for (const bool reads : {false, true}) {
    {
      const OwnStream copies(*codec_, non_blocking);
      const OwnStream coding(*codec_, non_blocking);
      if (reads) {
        enqueue(coding);
        copies.copy_out(parity, parity_start());
      } else {
        copies.copy_in(data_start(), data);
        enqueue(coding);
      }
      static_cast<void>(copies.synchronize());
      EXPECT_EQ(coding.synchronize(), launch_failed);
      reset();
    }
    misuses_before_ = 0;
  }
}

TEST_F(QueueCapture, two_streams_with_one_workspace_are_noticed) {
  const DeviceMemory other =
      must(DeviceMemory::allocate(*codec_, (data_shards + parity_shards) * shard_bytes));
  {
    const OwnStream first(*codec_, non_blocking);
    const OwnStream second(*codec_, non_blocking);
    enqueue(first);
    std::swap(*memory_, const_cast<DeviceMemory&>(other));
    enqueue(second);
    static_cast<void>(first.synchronize());
    EXPECT_EQ(second.synchronize(), launch_failed);
    reset();
  }
  misuses_before_ = 0;
}

TEST_F(QueueCapture, a_captured_graph_codes_with_each_launch) {
  const OwnStream stream(*codec_, non_blocking);
  Bytes data = random_data(1);
  Bytes parity(parity_shards * shard_bytes);
  stream.begin_capture();
  stream.copy_in(data_start(), data);
  enqueue(stream);
  stream.copy_out(parity, parity_start());
  const Graph graph(stream.end_capture());
  for (std::uint64_t seed = 2; seed <= 5; ++seed) {
    std::ranges::copy(random_data(seed), data.begin());  // stays where it was captured
    graph.launch(stream);
    stream.wait();
    EXPECT_EQ(parity, expected_parity(data)) << "launch " << seed - 1;
  }
  EXPECT_TRUE(is_on_device(*codec_));
}

// A kernel that was compiled is part of the graph, and a codec that compiles meanwhile is no harm.
TEST_F(QueueCapture, compiled_kernels_are_captured) {
  const EnvironmentScope kernels("CALPE_DEVICE_KERNELS", std::nullopt);
  const EnvironmentScope no_cache("CALPE_CACHE_DIR", "");
  const Codec compiled = must(Codec::create(spec(), {.backend = tested_backend()}));
  plan_ = must(QueuePlan::create(compiled, compiled.plan_encode(), shard_bytes));
  const OwnStream stream(*codec_, non_blocking);
  Bytes data = random_data(1);
  Bytes parity(parity_shards * shard_bytes);
  stream.begin_capture();
  stream.copy_in(data_start(), data);
  const Codec meanwhile =
      must(Codec::create({.data_shards = 3, .parity_shards = 2}, {.backend = tested_backend()}));
  enqueue(stream);
  stream.copy_out(parity, parity_start());
  const Graph graph(stream.end_capture());
  for (std::uint64_t seed = 2; seed <= 3; ++seed) {
    std::ranges::copy(random_data(seed), data.begin());  // stays where it was captured
    graph.launch(stream);
    stream.wait();
    EXPECT_EQ(parity, expected_parity(data));
  }
}

// As the documentation says: the plan must live as long as the graph.
TEST_F(QueueCapture, a_graph_whose_plan_is_gone_is_noticed) {
  constexpr int invalid_handle = 400;
  const KernelScope compiled(Kernels::compiled);
  const OwnStream stream(*codec_, non_blocking);
  std::optional<Codec> codec = must(Codec::create(spec(), {.backend = tested_backend()}));
  plan_ = must(QueuePlan::create(*codec, codec->plan_encode(), shard_bytes));
  codec.reset();
  stream.begin_capture();
  enqueue(stream);
  const Graph graph(stream.end_capture());
  graph.launch(stream);
  stream.wait();
  plan_ = {};
  graph.launch(stream, invalid_handle);
  misuses_before_ = counts().misuses;
}

// Data arrive in one stream and are coded in another, all in one graph.
TEST_F(QueueCapture, a_graph_of_two_streams_keeps_their_order) {
  const OwnStream first(*codec_, non_blocking);
  const OwnStream coding(*codec_, non_blocking);
  Bytes data = random_data(1);
  Bytes parity(parity_shards * shard_bytes);
  first.begin_capture();
  first.copy_in(data_start(), data);
  coding.wait_for(first);
  enqueue(coding);
  first.wait_for(coding);
  first.copy_out(parity, parity_start());
  const Graph graph(first.end_capture());
  for (std::uint64_t seed = 2; seed <= 4; ++seed) {
    std::ranges::copy(random_data(seed), data.begin());  // stays where it was captured
    graph.launch(first);
    first.wait();
    EXPECT_EQ(parity, expected_parity(data));
  }
}

TEST_F(QueueCapture, a_missing_wait_in_a_graph_is_noticed) {
  const Bytes data = random_data(1);
  {
    const OwnStream first(*codec_, non_blocking);
    const OwnStream coding(*codec_, non_blocking);
    first.begin_capture();
    coding.wait_for(first);
    first.copy_in(data_start(), data);  // not before the coding
    enqueue(coding);
    first.wait_for(coding);
    const Graph graph(first.end_capture());
    graph.launch(first);
    EXPECT_EQ(first.synchronize(), launch_failed);
    reset();
  }
  misuses_before_ = 0;
}

TEST_F(QueueCapture, work_that_nobody_waits_for_ends_the_capture) {
  constexpr int unjoined = 904;
  const OwnStream first(*codec_, non_blocking);
  const OwnStream coding(*codec_, non_blocking);
  first.begin_capture();
  coding.wait_for(first);
  enqueue(coding);
  EXPECT_EQ(first.end_capture(unjoined), nullptr);
}

// Coding with a wait invalidates a capture, as docs/devices.md says.
TEST_F(QueueCapture, coding_with_a_wait_breaks_a_capture) {
  constexpr int invalidated = 901;
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  for (std::size_t i = 0; i < data_shards; ++i)
    data.emplace_back(memory_->shard(i * shard_bytes, shard_bytes));
  for (std::size_t i = 0; i < parity_shards; ++i)
    parity.push_back(memory_->shard((data_shards + i) * shard_bytes, shard_bytes));
  const OwnStream stream(*codec_, non_blocking);
  stream.begin_capture();
  enqueue(stream);
  EXPECT_FALSE(codec_->encode(data, parity));
  EXPECT_EQ(stream.end_capture(invalidated), nullptr);
  misuses_before_ = counts().misuses;
}

TEST_F(QueueCapture, streams_and_memory_of_another_gpu_are_refused) {
  const Codec other = must(Codec::create(spec(), {.backend = "cuda:1"}));
  const OwnStream elsewhere(other, non_blocking);
  const OwnStream stream(*codec_, non_blocking);
  const DeviceMemory foreign =
      must(DeviceMemory::allocate(other, (data_shards + parity_shards) * shard_bytes));
  const auto reason = [&](const OwnStream& target, const DeviceMemory& memory,
                          const DeviceMemory& space) -> std::string {
    std::array<const std::byte*, data_shards> inputs = {};
    std::array<std::byte*, parity_shards> outputs = {};
    for (std::size_t i = 0; i < data_shards; ++i)
      inputs[i] = data_start() + i * shard_bytes;
    for (std::size_t i = 0; i < parity_shards; ++i)
      outputs[i] = memory.shard((data_shards + i) * shard_bytes, shard_bytes).data();
    const Status done = plan_.enqueue_cuda(target.handle(), 1, inputs.data(), outputs.data(),
                                           space.shard(0, space.bytes()));
    if (done) return "";
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
    return done.error().message;
  };
  EXPECT_NE(reason(elsewhere, *memory_, *workspace_).find("stream is not of"), std::string::npos);
  EXPECT_NE(reason(stream, foreign, *workspace_).find("memory of another"), std::string::npos);
  EXPECT_NE(reason(stream, *memory_, foreign).find("memory of another"), std::string::npos);
  EXPECT_EQ(reason(stream, *memory_, *workspace_), "");
  stream.wait();
  EXPECT_TRUE(is_on_device(*codec_));
}

TEST_F(QueueCapture, errors_of_the_driver_are_returned) {
  auto* const fail = cuda_function<decltype(calpe_ptx_fail_function)>("calpe_ptx_fail_function");
  const OwnStream stream(*codec_, non_blocking);
  const auto code = [&]() -> std::optional<ErrorCode> {
    std::array<const std::byte*, data_shards> inputs = {};
    std::array<std::byte*, parity_shards> outputs = {};
    inputs.fill(data_start());
    for (std::size_t i = 0; i < parity_shards; ++i)
      outputs[i] = parity_start() + i * shard_bytes;
    const Status done = plan_.enqueue_cuda(stream.handle(), 1, inputs.data(), outputs.data(),
                                           workspace_->shard(0, workspace_->bytes()));
    return done ? std::nullopt : std::optional(done.error().code);
  };
  // The table, the kernel, the stream, the context.
  fail("cuLaunchKernel", 0, launch_failed);
  EXPECT_EQ(code(), ErrorCode::device_failed);
  fail("cuLaunchKernel", 1, launch_failed);
  EXPECT_EQ(code(), ErrorCode::device_failed);
  fail("cuStreamGetCtx", 0, launch_failed);
  EXPECT_EQ(code(), ErrorCode::device_failed);
  fail("cuCtxPushCurrent_v2", 0, launch_failed);
  EXPECT_EQ(code(), ErrorCode::device_failed);
  EXPECT_EQ(code(), std::nullopt);
  stream.wait();
  EXPECT_TRUE(is_on_device(*codec_));

  // A device that Calpe has disabled: the CPU cannot work in the stream.
  Bytes parity(parity_shards * shard_bytes);
  const Bytes data = random_data(1);
  std::vector<ConstShard> from;
  std::vector<Shard> to;
  for (std::size_t i = 0; i < data_shards; ++i)
    from.emplace_back(data.data() + i * shard_bytes, shard_bytes);
  for (std::size_t i = 0; i < parity_shards; ++i)
    to.emplace_back(parity.data() + i * shard_bytes, shard_bytes);
  fail("cuLaunchKernel", 0, launch_failed);
  EXPECT_TRUE(codec_->encode(from, to));
  EXPECT_EQ(parity, expected_parity(data));
  EXPECT_FALSE(is_on_device(*codec_));
  EXPECT_EQ(code(), ErrorCode::device_failed);
  reset();
  misuses_before_ = 0;
}

TEST_F(QueueCapture, enqueue_does_not_allocate) {
  ASSERT_NE(is_inside_driver, nullptr);
  const OwnStream stream(*codec_, non_blocking);
  enqueue(stream);
  counts_allocations = true;
  allocations = 0;
  auto* const probe = new int(1);  // the count works
  EXPECT_EQ(allocations, 1);
  delete probe;
  enqueue(stream);
  counts_allocations = false;
  EXPECT_EQ(allocations, 1);
  const std::uint64_t on_device = counts().allocations;
  enqueue(stream);
  EXPECT_EQ(counts().allocations, on_device);
  stream.wait();
}

}  // namespace
}  // namespace calpe::tests
