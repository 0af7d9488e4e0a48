// SPDX-License-Identifier: Apache-2.0
// Planted bugs that the PTX interpreter must detect.
#include <thread>

#include "base/text.hpp"
#include "unit/backend/cuda_bench.hpp"

namespace calpe::backend::cuda {
namespace {

constexpr std::size_t threads = 64;

// Each thread copies four bytes from n to r.
constexpr const char* copy_body =
    ".reg .b32 v;\nshl.b64 i, i, 2;\nadd.u64 n, n, i;\nadd.u64 r, r, i;\n"
    "ld.global.nc.u32 v, [n];\nst.global.u32 [r], v;";

class CudaChecksTest : public CudaBench {
 protected:
  // The message of the failed launch, or empty.
  std::string run(const std::string& body, std::size_t n_bytes = 4 * threads,
                  std::size_t r_bytes = 4 * threads) {
    const auto module = build(kernel_text(body), {"k"}, threads);
    if (!module) return module.error().message;
    const auto n = driver_->allocate(n_bytes);
    const auto r = driver_->allocate(r_bytes);
    const Status launched = queue_->launch(**module, launch_of(*n, *r, threads));
    const Status waited = launched ? wait() : launched;
    driver_->release(*n);
    driver_->release(*r);
    return waited ? "" : waited.error().message;
  }
  void expect_found(const std::string& body, std::string_view what) {
    calpe_ptx_reset();
    const std::string message = run(body);
    EXPECT_NE(message.find(what), std::string::npos) << "got: " << message;
    calpe_ptx_reset();
  }
};

TEST_F(CudaChecksTest, FindsShortBuffers) {
  EXPECT_EQ(run(copy_body), "");
  const std::string input = run(copy_body, 4 * threads - 1);
  EXPECT_NE(input.find("700"), std::string::npos) << input;
  EXPECT_NE(input.find("outside of any allocation"), std::string::npos) << input;
  calpe_ptx_reset();
  EXPECT_NE(run(copy_body, 4 * threads, 4).find("st.global.u32"), std::string::npos);
}

TEST_F(CudaChecksTest, FindsHostAndFreedMemory) {
  const auto module = build(kernel_text(copy_body), {"k"}, threads);
  ASSERT_TRUE(module);
  std::vector<std::byte> host(4 * threads);
  const gpu::Place r = allocate(4 * threads);
  const gpu::Place mine = {.at = reinterpret_cast<std::uintptr_t>(host.data())};
  ASSERT_TRUE(queue_->launch(**module, launch_of(mine, r, threads)));
  EXPECT_FALSE(wait());
  calpe_ptx_reset();
  const auto freed = driver_->allocate(4 * threads);
  ASSERT_TRUE(freed);
  driver_->release(*freed);
  ASSERT_TRUE(queue_->launch(**module, launch_of(*freed, r, threads)));
  EXPECT_FALSE(wait());
  calpe_ptx_reset();
}

TEST_F(CudaChecksTest, FindsMisalignedAccess) {
  expect_found(".reg .b32 v;\nld.global.u32 v, [n+2];", "misaligned access of 4 bytes");
  expect_found(".reg .b32 v<4>;\nld.global.v4.u32 {v0, v1, v2, v3}, [n+8];", "716");
}

// Threads pass their value to their neighbour.
std::string exchange(const std::string& barrier) {
  return ".shared .align 4 .b32 row[64];\n.reg .b32 at, other, v;\nmov.u32 at, row;\n"
         "shl.b32 v, thread, 2;\nadd.u32 other, at, v;\nst.shared.u32 [other], thread;\n" +
         barrier +
         "\nxor.b32 v, v, 4;\nadd.u32 other, at, v;\nld.shared.u32 v, [other];\n"
         "shl.b64 i, i, 2;\nadd.u64 r, r, i;\nst.global.u32 [r], v;";
}

TEST_F(CudaChecksTest, FindsAMissingBarrier) {
  EXPECT_EQ(run(exchange("bar.sync 0;")), "");
  expect_found(exchange(""), "race: another thread writes shared memory");
}

TEST_F(CudaChecksTest, FindsBarriersThatSomeThreadsMiss) {
  const std::string half = ".reg .pred p;\nsetp.lt.u32 p, thread, 32;\n";
  expect_found(half + "@p bar.sync 0;", "barrier that thread 32 does not reach");
  expect_found(half + "@p bra a;\nbar.sync 0;\nbra b;\na:\nbar.sync 0;\nb:", "does not reach");
  expect_found(half + "@p ret;\nbar.sync 0;", "does not reach");
}

TEST_F(CudaChecksTest, FindsWrongSharedAccess) {
  const std::string shared = ".shared .align 4 .b32 row[16];\n.reg .b32 v;\n";
  expect_found(shared + "ld.shared.u32 v, [row+64];", "outside of the 64 bytes of shared memory");
  expect_found(shared + "ld.shared.u32 v, [row];", "shared memory that was not written");
  expect_found(shared + "st.shared.u32 [row], thread;", "race");
  // One thread reads before another one writes.
  expect_found(shared +
                   ".reg .pred p;\nsetp.eq.u32 p, thread, 0;\n@p st.shared.u32 [row], thread;\n"
                   "bar.sync 0;\nld.shared.u32 v, [row];\n@p st.shared.u32 [row], thread;",
               "race: another thread reads shared memory");
}

TEST_F(CudaChecksTest, FindsConflictsInGlobalMemory) {
  expect_found("st.global.u32 [r], thread;", "write the same byte of global memory");
  expect_found(
      ".reg .b32 v;\nshl.b64 i, i, 2;\nadd.u64 r, r, i;\nld.global.nc.u32 v, [r];\n"
      "st.global.u32 [r], v;",
      "reads as read-only what line");
  EXPECT_EQ(run(".reg .b32 v;\nshl.b64 i, i, 2;\nadd.u64 r, r, i;\nld.global.u32 v, [r];\n"
                "st.global.u32 [r], v;"),
            "")
      << "a thread may read what it writes";
}

TEST_F(CudaChecksTest, FindsEndlessLoops) {
  expect_found("again:\nadd.u32 thread, thread, 1;\nbra again;", "endless loop");
}

TEST_F(CudaChecksTest, RefusesUnknownPtx) {
  for (const auto& [body, what] : {
           std::pair{"shfl.sync.idx.b32 thread, thread, 0, 31, -1;", "unknown instruction"},
           {"add.f32 thread, thread, thread;", "unknown or missing type"},
           {"add.sat.s32 thread, thread, thread;", "unknown or missing type"},
           {"add.u32.sat thread, thread, thread;", "unknown modifier .sat"},
           {"mul.u32 thread, thread, thread;", "expected .lo, .hi or .wide"},
           {"xor.b32 i, i, i;", "register i has 64 bits, operand has 32"},
           {"and.b32 thread, thread, 0x123456789;", "does not fit 4 bytes"},
           {"ld.u32 thread, [n];", "unknown or missing state space"},
           {"ld.global.volatile.u32 thread, [n];", "unknown or missing type"},
           {"ld.global.u32 thread, [missing];", "unknown name missing"},
           {"mov.u32 thread, %clock;", "unknown name %clock"},
           {"bra nowhere;", "no label nowhere"},
           {"bar.sync 1;", "only barrier 0"},
           {".local .b32 x;", "unknown directive"},
           {".reg .f32 x;", "unknown type of a register"},
           {"add.u32 thread, thread, 1", "expected ';'"},
           {".reg .b32 v;\nadd.u32 thread, thread, v;", "register v is read before it is written"},
           {".reg .b32 v;\n.reg .pred p;\nsetp.eq.u32 p, thread, 0;\n@p bra a;\nmov.b32 v, 1;\na:\n"
            "add.u32 thread, thread, v;",
            "register v is read before it is written"},
       }) {
    const auto module = build(kernel_text(body));
    ASSERT_FALSE(module) << body;
    EXPECT_EQ(module.error().code, ErrorCode::compile_failed);
    EXPECT_NE(module.error().message.find(what), std::string::npos) << module.error().message;
    EXPECT_NE(module.error().message.find("218"), std::string::npos);
  }
  EXPECT_FALSE(build(".version 6.0\n.target sm_50\n.address_size 32\n"));
  EXPECT_FALSE(build(".version 6.0\n.target sm_50\n.address_size 64\n.global .b32 x;\n"));
}

TEST_F(CudaChecksTest, FindsLaunchesOfTheWrongShape) {
  const std::string text = kernel_text(copy_body);
  const std::size_t brace = text.find(")\n{");
  ASSERT_NE(brace, std::string::npos);
  std::string limited = text;
  limited.insert(brace + 1, "\n.maxntid 32, 1, 1");
  const auto module = build(limited, {"k"}, threads);
  ASSERT_TRUE(module) << module.error().message;
  const gpu::Place memory = allocate(1024);
  EXPECT_FALSE(queue_->launch(**module, launch_of(memory, memory, threads)));
  gpu::Launch tall = launch_of(memory, memory, 32);
  tall.groups = 65536;
  EXPECT_FALSE(queue_->launch(**module, tall));
  EXPECT_EQ(ptx_counts().misuses, 2U);
}

// The host does not wait, so it sees the old content.
TEST_F(CudaChecksTest, FindsAMissingHostWait) {
  const std::vector<std::uint32_t> data(threads, 7);
  const gpu::Place place = put(std::span(data));
  calpe_ptx_delay(20000, 30000);
  std::vector<std::uint32_t> got(threads, 1);
  ASSERT_TRUE(queue_->copy_out(reinterpret_cast<std::byte*>(got.data()), place, 4 * threads));
  auto event = queue_->mark();
  ASSERT_TRUE(event);
  EXPECT_NE(*static_cast<volatile std::uint32_t*>(&got[threads - 1]), 7U)
      << "the copy was done already";
  ASSERT_TRUE((*event)->wait(test_limit));
  EXPECT_EQ(got, data);
}

// The source of a copy changes before the copy is done.
TEST_F(CudaChecksTest, FindsASourceThatChangesTooEarly) {
  std::vector<std::uint32_t> data(threads, 7);
  const gpu::Place place = put(std::span<const std::uint32_t>(data));
  calpe_ptx_delay(20000, 30000);
  ASSERT_TRUE(queue_->copy_in(place, reinterpret_cast<const std::byte*>(data.data()), 4 * threads));
  std::fill(data.begin(), data.end(), 8);
  calpe_ptx_delay(0, 0);
  EXPECT_EQ(get<std::uint32_t>(place, 1)[0], 8U);
}

// A second queue reads what the first writes. Detected even if the first finished in time.
TEST_F(CudaChecksTest, FindsAMissingWaitBetweenQueues) {
  const std::vector<std::uint32_t> before(threads, 1);
  const std::vector<std::uint32_t> after(threads, 2);
  const gpu::Place place = put(std::span(before));
  auto second = open_queue();
  std::vector<std::uint32_t> got(threads);
  const auto write = [&](gpu::Queue& queue) {
    EXPECT_TRUE(
        queue.copy_in(place, reinterpret_cast<const std::byte*>(after.data()), 4 * threads));
  };
  const auto read = [&] {
    EXPECT_TRUE(second->copy_out(reinterpret_cast<std::byte*>(got.data()), place, 4 * threads));
    return wait(*second);
  };
  // Late, so that the second reads old bytes; and on time, which must be detected as well.
  for (const unsigned delay : {30000U, 0U}) {
    calpe_ptx_delay(delay, delay);
    write(*queue_);
    calpe_ptx_delay(0, 0);
    const Status first = read();
    const Status both = first ? wait(*queue_) : first;
    ASSERT_FALSE(both);
    EXPECT_NE(both.error().message.find("none waits for the other"), std::string::npos);
    calpe_ptx_reset();
    finish();
    EXPECT_TRUE(read()) << "after a wait";
    EXPECT_EQ(got, after);
    ASSERT_TRUE(
        queue_->copy_in(place, reinterpret_cast<const std::byte*>(before.data()), 4 * threads));
    finish();
  }
  write(*queue_);
  write(*second);
  const Status second_done = wait(*second);
  const Status first_done = wait(*queue_);
  EXPECT_FALSE(first_done && second_done) << "two writers";
  calpe_ptx_reset();
  EXPECT_TRUE(wait(*second));
}

// The same for kernels, whose addresses are not declared.
TEST_F(CudaChecksTest, FindsAMissingWaitForAKernel) {
  const auto module = build(kernel_text(copy_body), {"k"}, threads);
  ASSERT_TRUE(module);
  const gpu::Place n = allocate(4 * threads);
  const gpu::Place r = allocate(4 * threads);
  const gpu::Place s = allocate(4 * threads);
  auto second = open_queue();
  const auto chain = [&](bool waits) {
    EXPECT_TRUE(queue_->launch(**module, launch_of(n, r, threads)));
    if (waits) finish();
    EXPECT_TRUE(second->launch(**module, launch_of(r, s, threads)));
    const Status waited = wait(*second);
    return waited ? wait(*queue_) : waited;
  };
  EXPECT_TRUE(chain(true));
  EXPECT_FALSE(chain(false));
  calpe_ptx_reset();
  // Two readers of one location are fine.
  EXPECT_TRUE(queue_->launch(**module, launch_of(n, r, threads)));
  EXPECT_TRUE(second->launch(**module, launch_of(n, s, threads)));
  EXPECT_TRUE(wait(*second));
  finish();
}

TEST_F(CudaChecksTest, FindsMemoryThatIsFreedWhileInUse) {
  const auto place = driver_->allocate(1 << 16);
  const auto pinned = driver_->allocate_host(1 << 16);
  ASSERT_TRUE(place && pinned);
  calpe_ptx_delay(20000, 20000);
  ASSERT_TRUE(queue_->copy_out(*pinned, *place, 1 << 16));
  driver_->release(*place);
  EXPECT_EQ(ptx_counts().misuses, 1U);
  EXPECT_NE(std::string(calpe_ptx_message()).find("uses it"), std::string::npos);
  driver_->release_host(*pinned);
  EXPECT_EQ(ptx_counts().misuses, 2U);
  finish();
  driver_->release(*place);
  driver_->release_host(*pinned);
  EXPECT_EQ(ptx_counts().misuses, 2U);
}

}  // namespace
}  // namespace calpe::backend::cuda
