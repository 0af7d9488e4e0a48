// SPDX-License-Identifier: Apache-2.0
// Plans in a stream or queue of the program: they write what the CPU writes, begin after what the
// queue holds, do not wait, and refuse what the device does not reach.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <calpe/device_queue.hpp>

#include "devices/own_queue.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {
namespace {

using Addresses = std::vector<std::byte*>;

// Shards of stripes in two device memories, one of which is written, and the same in the host's.
class Stripes {
 public:
  Stripes(const Codec& codec, std::size_t count, std::size_t shard_bytes, std::size_t distance,
          std::size_t start)
      : codec_(codec),
        count_(count),
        shard_bytes_(shard_bytes),
        distance_(distance),
        start_(start),
        reads_(must(DeviceMemory::allocate(codec, start + count * data() * distance))),
        writes_(must(DeviceMemory::allocate(codec, start + count * parity() * distance))) {
    std::mt19937_64 random(shard_bytes + count);
    for (std::size_t i = 0; i < count * (data() + parity()); ++i) {
      host_.emplace_back(shard_bytes);
      for (std::byte& b : host_.back())
        b = std::byte(random());
    }
  }

  std::size_t data() const { return codec_.spec().data_shards; }
  std::size_t parity() const { return codec_.spec().parity_shards; }
  const DeviceMemory& reads() const { return reads_; }
  std::size_t count() const { return count_; }
  Bytes& data_shard(std::size_t i) { return host_[i]; }
  Bytes& parity_shard(std::size_t i) { return host_[count_ * data() + i]; }

  void put_data() {
    for (std::size_t i = 0; i < count_ * data(); ++i)
      EXPECT_TRUE(reads_.write(start_ + i * distance_, data_shard(i)));
  }
  void put_parity() {
    for (std::size_t i = 0; i < count_ * parity(); ++i)
      EXPECT_TRUE(writes_.write(start_ + i * distance_, parity_shard(i)));
  }
  Addresses inputs() const { return addresses(reads_, count_ * data()); }
  Addresses outputs() const { return addresses(writes_, count_ * parity()); }

  void encode_on_cpu(bool accumulate) {
    const Codec cpu = must(Codec::create(codec_.spec(), {.backend = "cpu"}));
    for (std::size_t s = 0; s < count_; ++s) {
      std::vector<ConstShard> from;
      std::vector<Shard> to;
      for (std::size_t i = 0; i < data(); ++i)
        from.emplace_back(data_shard(s * data() + i));
      for (std::size_t i = 0; i < parity(); ++i)
        to.emplace_back(parity_shard(s * parity() + i));
      EXPECT_TRUE(cpu.encode(from, to, {.accumulate = accumulate}));
    }
  }
  void expect_parity() {
    for (std::size_t i = 0; i < count_ * parity(); ++i) {
      Bytes got(shard_bytes_);
      const Status done = writes_.read(start_ + i * distance_, got);
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_EQ(got, parity_shard(i)) << "parity shard " << i;
    }
  }

 private:
  Addresses addresses(const DeviceMemory& memory, std::size_t count) const {
    Addresses all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(memory.shard(start_ + i * distance_, shard_bytes_).data());
    return all;
  }

  const Codec& codec_;
  std::size_t count_;
  std::size_t shard_bytes_;
  std::size_t distance_;
  std::size_t start_;
  DeviceMemory reads_;
  DeviceMemory writes_;
  std::vector<Bytes> host_;
};

CodeSpec bytes_spec(std::uint16_t data, std::uint16_t parity) {
  return {.data_shards = data, .parity_shards = parity};
}
CodeSpec packets_spec(std::uint16_t data, std::uint16_t parity) {
  CodeSpec spec = bytes_spec(data, parity);
  spec.family = CodeFamily::cauchy;
  spec.layout = Layout::packets;
  spec.packet_bytes = 64;
  return spec;
}

class QueuePlanTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !imports_memory()) GTEST_SKIP() << "no queues of the caller";
  }
  static Codec codec_of(const CodeSpec& spec) {
    return must(Codec::create(spec, {.backend = tested_backend()}));
  }
};

struct Shape {
  CodeSpec spec;
  std::size_t stripes = 1;
  std::size_t shard_bytes = 4096;
  std::size_t distance = 8192;
  std::size_t start = 0;
};

// The work is enqueued behind a closed gate, so that it comes after what the queue holds.
void check_shape(const Shape& shape, bool accumulate, OwnQueue::Order order) {
  SCOPED_TRACE(std::to_string(shape.spec.data_shards) + "+" +
               std::to_string(shape.spec.parity_shards) + ", " + std::to_string(shape.stripes) +
               " x " + std::to_string(shape.shard_bytes));
  const Codec codec = must(Codec::create(shape.spec, {.backend = tested_backend()}));
  const QueuePlan plan = must(
      QueuePlan::create(codec, codec.plan_encode(), shape.shard_bytes, {.accumulate = accumulate}));
  EXPECT_EQ(plan.shard_bytes(), shape.shard_bytes);
  Stripes stripes(codec, shape.stripes, shape.shard_bytes, shape.distance, shape.start);
  const std::size_t workspace_bytes = plan.workspace_bytes(shape.stripes);
  // At an odd address, as any is allowed.
  const DeviceMemory workspace = must(DeviceMemory::allocate(codec, workspace_bytes + 3));
  const auto queue = OwnQueue::open(codec, order);
  stripes.put_data();
  stripes.put_parity();
  {
    const Addresses inputs = stripes.inputs();
    Addresses outputs = stripes.outputs();
    const Status done = queue->enqueue(plan, shape.stripes, inputs.data(), outputs.data(),
                                       workspace.shard(3, workspace_bytes));
    ASSERT_TRUE(done) << done.error().message;
  }
  queue->wait();
  stripes.encode_on_cpu(accumulate);
  stripes.expect_parity();
  EXPECT_TRUE(is_on_device(codec));
}

TEST_F(QueuePlanTest, writes_what_the_cpu_writes) {
  const Shape odd = {.spec = bytes_spec(4, 2), .shard_bytes = 1003, .distance = 1021, .start = 5};
  // 336 numbers in the table: every size of writing them.
  const Shape many = {.spec = bytes_spec(4, 2), .stripes = 56, .shard_bytes = 64, .distance = 64};
  // Groups of 8 packets of 64 bytes, and a shorter one.
  const Shape packets = {.spec = packets_spec(3, 2), .shard_bytes = 512 + 8 * 5};
  for (const Kernels kernels : {Kernels::table, Kernels::compiled}) {
    const KernelScope scope(kernels);
    check_shape(odd, kernels == Kernels::table, OwnQueue::Order::in_order);
    check_shape(many, false, OwnQueue::Order::in_order);
    check_shape(packets, kernels == Kernels::compiled, OwnQueue::Order::in_order);
  }
}

TEST_F(QueuePlanTest, waits_for_nothing_and_comes_after_what_the_queue_holds) {
  const KernelScope scope(Kernels::table);
  for (const OwnQueue::Order order : {OwnQueue::Order::in_order, OwnQueue::Order::out_of_order}) {
    const Codec codec = codec_of(bytes_spec(4, 2));
    const QueuePlan plan = must(QueuePlan::create(codec, codec.plan_encode(), 4096));
    const std::vector<ShardIndex> left = {1, 2, 3, 4};
    const std::vector<ShardIndex> lost = {0};
    const Plan decode = must(codec.plan_decode(left, lost));
    const QueuePlan rebuild = must(QueuePlan::create(codec, decode, 4096));
    Stripes stripes(codec, 1, 4096, 4096, 0);
    const DeviceMemory rebuilt = must(DeviceMemory::allocate(codec, 4096));
    const DeviceMemory workspace = must(DeviceMemory::allocate(codec, plan.workspace_bytes(1)));
    const Shard room = workspace.shard(0, workspace.bytes());
    const auto queue = OwnQueue::open(codec, order);
    stripes.put_parity();
    if (is_cuda()) stripes.put_data();  // no copy of the host can pass a held stream

    queue->hold();
    const Addresses inputs = stripes.inputs();
    Addresses outputs = stripes.outputs();
    Status done = queue->enqueue(plan, 1, inputs.data(), outputs.data(), room);
    ASSERT_TRUE(done) << done.error().message;
    // A second plan reads parity that the first one writes, and shares its workspace.
    std::vector<const std::byte*> survivors(inputs.begin() + 1, inputs.end());
    survivors.push_back(outputs[0]);
    std::byte* target = rebuilt.shard(0, 4096).data();
    if (is_cuda() || codec_shares_memory(codec)) {
      done = queue->enqueue(rebuild, 1, survivors.data(), &target, room);
      ASSERT_TRUE(done) << done.error().message;
    }
    if (!is_cuda()) {
      // Work that did not wait would have time to read the data before they are written.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      stripes.put_data();
    }
    EXPECT_FALSE(queue->is_idle());
    queue->release();
    queue->wait();
    stripes.encode_on_cpu(false);
    stripes.expect_parity();
    if (is_cuda() || codec_shares_memory(codec)) {
      Bytes got(4096);
      ASSERT_TRUE(rebuilt.read(0, got));
      EXPECT_EQ(got, stripes.data_shard(0));
    }
    EXPECT_TRUE(is_on_device(codec));
  }
}

TEST_F(QueuePlanTest, outlives_codec_and_plan) {
  const KernelScope scope(Kernels::compiled);
  auto codec = std::make_unique<Codec>(codec_of(bytes_spec(4, 2)));
  const Codec twin = *codec;
  Stripes stripes(twin, 1, 1000, 1024, 0);
  stripes.put_data();
  const auto queue = OwnQueue::open(twin);
  QueuePlan plan;
  {
    const std::vector<ShardIndex> left = {0, 1, 2, 3};
    const std::vector<ShardIndex> wanted = {4, 5};
    plan = must(QueuePlan::create(*codec, must(codec->plan_decode(left, wanted)), 1000));
  }
  codec.reset();
  const DeviceMemory workspace = must(DeviceMemory::allocate(twin, plan.workspace_bytes(1)));
  const Addresses inputs = stripes.inputs();
  Addresses outputs = stripes.outputs();
  const Status done =
      queue->enqueue(plan, 1, inputs.data(), outputs.data(), workspace.shard(0, workspace.bytes()));
  ASSERT_TRUE(done) << done.error().message;
  queue->wait();
  stripes.encode_on_cpu(false);
  stripes.expect_parity();
}

// What is refused, and the operand that the message names.
testing::AssertionResult is_refused(const Status& done, const std::string& name) {
  if (done) return testing::AssertionFailure() << "accepted";
  if (done.error().code != ErrorCode::invalid_argument ||
      done.error().message.find(name) == std::string::npos) {
    return testing::AssertionFailure() << done.error().message << "; expected " << name;
  }
  return testing::AssertionSuccess();
}

TEST_F(QueuePlanTest, refuses_what_the_device_does_not_reach) {
  const KernelScope scope(Kernels::table);
  const Codec codec = codec_of(bytes_spec(4, 2));
  const QueuePlan plan = must(QueuePlan::create(codec, codec.plan_encode(), 4096));
  Stripes stripes(codec, 1, 4096, 4096, 0);
  const auto queue = OwnQueue::open(codec);
  const DeviceMemory workspace = must(DeviceMemory::allocate(codec, plan.workspace_bytes(1)));
  const Shard room = workspace.shard(0, workspace.bytes());
  const Addresses inputs = stripes.inputs();
  const Addresses outputs = stripes.outputs();
  const auto enqueue = [&](Addresses from, Addresses to, Shard space) {
    return queue->enqueue(plan, 1, from.data(), to.data(), space);
  };
  const auto with = [](Addresses list, std::size_t i, std::byte* address) {
    list[i] = address;
    return list;
  };

  EXPECT_TRUE(is_refused(enqueue(with(inputs, 2, nullptr), outputs, room), "inputs[2]"));
  EXPECT_TRUE(is_refused(enqueue(inputs, with(outputs, 1, outputs[0]), room), "outputs[1]"));
  EXPECT_TRUE(is_refused(enqueue(inputs, outputs, room.first(room.size() - 1)), "workspace has"));
  EXPECT_TRUE(is_refused(enqueue(inputs, outputs, {}), "workspace has"));
  EXPECT_TRUE(is_refused(queue->enqueue(plan, 1, nullptr, Addresses(outputs).data(), room),
                         "inputs is NULL"));
  EXPECT_TRUE(is_refused(enqueue(inputs, with(outputs, 1, room.data()), room), "outputs[1]"));
  EXPECT_EQ(plan.workspace_bytes(SIZE_MAX), SIZE_MAX);
  EXPECT_EQ(plan.workspace_bytes(0), 0U);
  if (!codec_shares_memory(codec)) {
    Bytes host(8192);
    for (std::byte* const wrong :
         {host.data(), reinterpret_cast<std::byte*>(8), reinterpret_cast<std::byte*>(~7ULL),
          stripes.reads().shard(stripes.reads().bytes() - 4095, 1).data()}) {
      EXPECT_TRUE(is_refused(enqueue(with(inputs, 3, wrong), outputs, room), "inputs[3]"));
      EXPECT_TRUE(is_refused(enqueue(inputs, with(outputs, 0, wrong), room), "outputs[0]"));
    }
    EXPECT_TRUE(is_refused(enqueue(inputs, outputs, host), "workspace"));
  }
  // No stripe, and nothing to write.
  EXPECT_TRUE(queue->enqueue(plan, 0, nullptr, nullptr, {}));
  const QueuePlan empty = must(QueuePlan::create(codec, codec.plan_encode(), 0));
  EXPECT_TRUE(queue->enqueue(empty, 1, inputs.data(), Addresses(outputs).data(), {}));

  // The plan still works.
  stripes.put_data();
  EXPECT_TRUE(enqueue(inputs, outputs, room));
  queue->wait();
  stripes.encode_on_cpu(false);
  stripes.expect_parity();
  EXPECT_TRUE(is_on_device(codec));
}

TEST_F(QueuePlanTest, refuses_other_queues) {
  const KernelScope scope(Kernels::table);
  const Codec codec = codec_of(bytes_spec(4, 2));
  const QueuePlan plan = must(QueuePlan::create(codec, codec.plan_encode(), 4096));
  Stripes stripes(codec, 1, 4096, 4096, 0);
  const DeviceMemory workspace = must(DeviceMemory::allocate(codec, plan.workspace_bytes(1)));
  const Shard room = workspace.shard(0, workspace.bytes());
  const Addresses inputs = stripes.inputs();
  Addresses outputs = stripes.outputs();
  const auto opencl = [&](void* queue) {
    return plan.enqueue_opencl(queue, 1, inputs.data(), outputs.data(), room);
  };
  if (is_cuda()) {
    EXPECT_TRUE(is_refused(opencl(nullptr), "CUDA streams only"));
    // The default stream is one of the context.
    stripes.put_data();
    EXPECT_TRUE(plan.enqueue_cuda(nullptr, 1, inputs.data(), outputs.data(), room));
    stripes.encode_on_cpu(false);
    stripes.expect_parity();
    return;
  }
  EXPECT_TRUE(is_refused(plan.enqueue_cuda(nullptr, 1, inputs.data(), outputs.data(), room),
                         "OpenCL command queues only"));
  EXPECT_TRUE(is_refused(opencl(nullptr), "not a cl_command_queue"));
  std::array<std::uint64_t, 64> anything = {};
  EXPECT_TRUE(is_refused(opencl(anything.data()), "not a cl_command_queue"));
  // A queue of another context on the same device.
  cl_device_id device = nullptr;
  auto* const context = static_cast<cl_context>(DeviceMemory::native_context(codec));
  opencl_function<decltype(clGetContextInfo)>("clGetContextInfo")(context, CL_CONTEXT_DEVICES,
                                                                  sizeof device, &device, nullptr);
  cl_int status = CL_SUCCESS;
  cl_context const other = opencl_function<decltype(clCreateContext)>("clCreateContext")(
      nullptr, 1, &device, nullptr, nullptr, &status);
  cl_command_queue const elsewhere = opencl_function<decltype(clCreateCommandQueue)>(
      "clCreateCommandQueue")(other, device, 0, &status);
  ASSERT_EQ(status, CL_SUCCESS);
  EXPECT_TRUE(is_refused(opencl(elsewhere), "another context"));
  opencl_function<decltype(clReleaseCommandQueue)>("clReleaseCommandQueue")(elsewhere);
  opencl_function<decltype(clReleaseContext)>("clReleaseContext")(other);
}

using QueuePlanWithoutQueues = DeviceTest;
TEST_F(QueuePlanWithoutQueues, is_refused) {
  if (imports_memory()) GTEST_SKIP() << tested_backend() << " takes queues";
  const KernelScope scope(Kernels::table);
  const Codec codec = must(Codec::create(bytes_spec(4, 2), {.backend = tested_backend()}));
  const auto made = QueuePlan::create(codec, codec.plan_encode(), 4096);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(made.error().message.find(tested_backend()), std::string::npos);
}

TEST_F(QueuePlanTest, refuses_codecs_and_lengths_that_need_the_host) {
  const KernelScope scope(Kernels::table);
  const auto reason = [](const Codec& codec, std::size_t shard_bytes) -> std::string {
    const auto made = QueuePlan::create(codec, codec.plan_encode(), shard_bytes);
    if (made) return "";
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
    return made.error().message;
  };
  const Codec cpu = must(Codec::create(bytes_spec(4, 2), {.backend = "cpu"}));
  EXPECT_NE(reason(cpu, 4096).find("no stream or queue"), std::string::npos);
  const Codec both = must(Codec::create(bytes_spec(4, 2), {.backend = tested_backend() + "+cpu"}));
  EXPECT_NE(reason(both, 4096).find("no stream or queue"), std::string::npos);
  const Codec packets = codec_of(packets_spec(3, 2));
  EXPECT_NE(reason(packets, 1001).find("shard_bytes is 1001"), std::string::npos);
  EXPECT_EQ(reason(packets, 1000), "");
  const Codec codec = codec_of(bytes_spec(4, 2));
  EXPECT_NE(reason(codec, SIZE_MAX), "");
  const auto foreign = QueuePlan::create(codec, cpu.plan_encode(), 64);
  EXPECT_FALSE(foreign);

  const QueuePlan none;
  EXPECT_EQ(none.workspace_bytes(1), 0U);
  EXPECT_TRUE(is_refused(none.enqueue_cuda(nullptr, 0, nullptr, nullptr, {}), "empty"));
  EXPECT_TRUE(is_refused(none.enqueue_opencl(nullptr, 0, nullptr, nullptr, {}), "empty"));
}

}  // namespace
}  // namespace calpe::tests
