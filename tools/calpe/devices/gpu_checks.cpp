// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/gpu_checks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include <calpe/device_memory.hpp>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/try.hpp"
#include "calpe/devices/backend_rate.hpp"
#include "calpe/devices/flat_batch.hpp"
#include "calpe/devices/log_listener.hpp"
#include "calpe/devices/scoped_variable.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

struct Context {
  const GpuCheckOptions& options;
  mutable bool plants_error;
  std::vector<std::string>& remarks;
};

struct CheckCode {
  unsigned data = 10;
  unsigned parity = 4;
  Layout layout = Layout::bytes;
};

Result<Codec> make_codec(const CheckCode& shape, const std::string& backend) {
  return Codec::create({.family = CodeFamily::cauchy,
                        .layout = shape.layout,
                        .data_shards = shape.data,
                        .parity_shards = shape.parity},
                       {.backend = backend});
}

// Decoding of as many lost data shards as there are parity shards.
Result<Plan> worst_decode(const Codec& codec) {
  const std::size_t all = std::size_t{codec.spec().data_shards} + codec.spec().parity_shards;
  std::vector<ShardIndex> lost(
      std::min<std::size_t>(codec.spec().parity_shards, codec.spec().data_shards));
  std::iota(lost.begin(), lost.end(), ShardIndex{0});
  std::vector<ShardIndex> available(all - lost.size());
  std::iota(available.begin(), available.end(), static_cast<ShardIndex>(lost.size()));
  return codec.plan_decode(available, lost);
}

// A batch, its memory and what the memory must hold afterwards.
struct Job {
  static Result<Job> make(const Codec& codec, const Plan& plan, const FlatShape& shape) {
    Job job{.batch = FlatBatch(codec, plan, shape), .content = {}, .expected = {}};
    job.content = job.batch.make_content();
    job.expected = job.content;
    CALPE_TRY(const Codec cpu, Codec::create(codec.spec(), {.backend = "cpu"}));
    CALPE_CHECK(job.batch.run(cpu, plan, job.expected));
    return job;
  }

  Status compare(const Context& context, TrialBytes& got) const {
    if (std::exchange(context.plants_error, false)) got.back() ^= std::byte{1};
    if (got == expected) return Done{};
    const auto [wrong, right] = std::ranges::mismatch(got, expected);
    return make_error(
        ErrorCode::device_failed,
        fmt::format("byte {} of {} is {:#04x}; expected {:#04x}", wrong - got.begin(), got.size(),
                    std::to_integer<unsigned>(*wrong), std::to_integer<unsigned>(*right)));
  }

  FlatBatch batch;
  TrialBytes content;
  TrialBytes expected;
};

enum class Memory : std::uint8_t { host, registered, device, mapped };

Status run_there(const Context& context, const Codec& codec, const Plan& plan, const Job& job,
                 Memory memory) {
  TrialBytes bytes = job.content;
  if (memory == Memory::host) {
    CALPE_CHECK(job.batch.run(codec, plan, bytes));
  } else if (memory == Memory::registered) {
    CALPE_TRY(const RegisteredMemory registered, RegisteredMemory::create(codec, bytes));
    CALPE_CHECK(job.batch.run(codec, plan, bytes));
  } else {
    CALPE_TRY(const DeviceMemory device, DeviceMemory::allocate(codec, bytes.size()));
    if (memory == Memory::mapped) {
      CALPE_TRY(MappedMemory map, MappedMemory::map(device, 0, bytes.size()));
      std::memcpy(map.bytes().data(), bytes.data(), bytes.size());
      CALPE_CHECK(map.close());
    } else {
      CALPE_CHECK(device.write(0, bytes));
    }
    CALPE_CHECK(job.batch.run(codec, plan, device.shard(0, bytes.size())));
    std::memset(bytes.data(), 0, bytes.size());
    CALPE_CHECK(device.read(0, bytes));
  }
  return job.compare(context, bytes);
}

// Encodes and decodes the batch in each kind of memory, with compiled kernels.
Status run_everywhere(const Context& context, const CheckCode& shape, const FlatShape& flat,
                      std::initializer_list<Memory> memories) {
  const WaitCompile wait(true);
  CALPE_TRY(const Codec codec, make_codec(shape, context.options.backend));
  CALPE_TRY(const Plan decode, worst_decode(codec));
  for (const Plan* plan : {&codec.plan_encode(), &decode}) {
    CALPE_TRY(const Job job, Job::make(codec, *plan, flat));
    for (const Memory memory : memories)
      CALPE_CHECK(run_there(context, codec, *plan, job, memory));
  }
  return Done{};
}

// More stripes than the 65,535 groups that every device supports in one dimension.
Status check_many_stripes(const Context& context) {
  const CheckCode shape = context.options.is_small ? CheckCode{2, 1} : CheckCode{};
  const FlatShape flat{.stripes = context.options.is_small ? std::size_t{65'600} : 140'000,
                       .shard_bytes = context.options.is_small ? 16U : 64U};
  return run_everywhere(context, shape, flat, {Memory::device, Memory::host});
}

// Many words, several launches, and several chunks in flight. Not a multiple of any word.
Status check_long_shards(const Context& context) {
  const std::size_t bytes = context.options.is_small ? 40'005 : 32 * mebibyte + 5;
  return run_everywhere(context, {4, 2}, {.stripes = 1, .shard_bytes = bytes},
                        {Memory::device, Memory::host, Memory::registered});
}

Status check_packets(const Context& context) {
  const std::size_t bytes = context.options.is_small ? 4096 * 3 : 4 * mebibyte;
  return run_everywhere(context, {10, 4, Layout::packets}, {.stripes = 3, .shard_bytes = bytes},
                        {Memory::device, Memory::host, Memory::registered});
}

// Addresses that are multiples of nothing.
Status check_odd_addresses(const Context& context) {
  return run_everywhere(context, {},
                        {.stripes = 5, .shard_bytes = 4099, .gap_bytes = 6, .first_at = 3},
                        {Memory::device, Memory::host});
}

Status check_memories(const Context& context) {
  return run_everywhere(context, {}, {.stripes = 2, .shard_bytes = 65'536, .gap_bytes = 64},
                        {Memory::host, Memory::registered, Memory::device, Memory::mapped});
}

// The kernel that does the work until others are compiled.
Status check_table_kernels(const Context& context) {
  const ScopedVariable table("CALPE_DEVICE_KERNELS", "table");
  const std::size_t bytes = context.options.is_small ? 1024 : mebibyte;
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    CALPE_CHECK(run_everywhere(context, {10, 4, layout}, {.stripes = 2, .shard_bytes = bytes},
                               {Memory::device, Memory::host}));
  }
  return Done{};
}

// Several threads, each with several jobs under way. Half of the jobs are in device memory.
Status check_threads(const Context& context) {
  const WaitCompile wait(true);
  const std::size_t rounds = context.options.is_small ? 2 : 25;
  CALPE_TRY(const Codec codec, make_codec({}, context.options.backend));
  const Plan& plan = codec.plan_encode();
  const std::size_t bytes = context.options.is_small ? 4096 : mebibyte;
  CALPE_TRY(const Job job, Job::make(codec, plan, {.stripes = 2, .shard_bytes = bytes}));
  const auto work = [&](std::size_t thread) -> Status {
    if (thread % 2 != 0) {
      for (std::size_t i = 0; i < rounds; ++i)
        CALPE_CHECK(run_there(context, codec, plan, job, Memory::device));
      return Done{};
    }
    for (std::size_t i = 0; i < rounds; ++i) {
      std::vector<TrialBytes> all(4, job.content);
      std::vector<Pending> pending;
      for (TrialBytes& memory : all) {
        CALPE_TRY(Pending one, job.batch.submit(codec, plan, memory));
        pending.push_back(std::move(one));
      }
      for (Pending& one : pending) {
        const Status done = one.wait();
        if (!done) keep_trial_bytes();
        CALPE_CHECK(done);
      }
      for (TrialBytes& memory : all)
        CALPE_CHECK(job.compare(context, memory));
    }
    return Done{};
  };
  context.plants_error = false;  // not from several threads
  std::vector<Status> results(4, Done{});
  run_side_by_side(results.size(), [&](std::size_t part) { results[part] = work(part); });
  for (const Status& result : results)
    CALPE_CHECK(result);
  return Done{};
}

// The same work again and again: rare wrong bytes, clocks that change, leaks.
Status check_repeated(const Context& context) {
  const WaitCompile wait(true);
  const std::size_t rounds = context.options.is_small ? 2 : 300;
  const std::size_t bytes = context.options.is_small ? 4096 : 4 * mebibyte;
  CALPE_TRY(const Codec codec, make_codec({}, context.options.backend));
  CALPE_TRY(const Plan plan, worst_decode(codec));
  CALPE_TRY(const Job job, Job::make(codec, plan, {.stripes = 1, .shard_bytes = bytes}));
  CALPE_TRY(const DeviceMemory device, DeviceMemory::allocate(codec, job.content.size()));
  TrialBytes got(job.content.size());
  for (std::size_t i = 0; i < rounds; ++i) {
    CALPE_CHECK(device.write(0, job.content));
    CALPE_CHECK(job.batch.run(codec, plan, device.shard(0, got.size())));
    CALPE_CHECK(device.read(0, got));
    CALPE_CHECK(job.compare(context, got));
  }
  return Done{};
}

// A device must survive a request that it cannot fulfil.
Status check_too_much(const Context& context) {
  CALPE_TRY(const Codec codec, make_codec({}, context.options.backend));
  if (DeviceMemory::allocate(codec, std::size_t{1} << 50U)) {
    return make_error(ErrorCode::device_failed, "1 PiB of device memory was allocated");
  }
  CALPE_TRY(const Job job, Job::make(codec, codec.plan_encode(), {.shard_bytes = 4096}));
  return run_there(context, codec, codec.plan_encode(), job, Memory::device);
}

// Kernels that were compiled are loaded from disk by the next process, here by a device that is
// opened again.
Status check_cache(const Context& context) {
  std::string folder = (fs::temp_directory_path() / "calpe-selftest-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return make_error(ErrorCode::io, "cannot create a directory for temporary files");
  }
  const auto run = [&]() -> Result<std::uint64_t> {
    const WaitCompile wait(true);
    const ScopedVariable cache("CALPE_CACHE_DIR", folder);
    CALPE_TRY(const Codec codec, make_codec({}, context.options.backend));
    CALPE_TRY(const Job job, Job::make(codec, codec.plan_encode(), {.shard_bytes = 65'536}));
    CALPE_CHECK(run_there(context, codec, codec.plan_encode(), job, Memory::device));
    CALPE_CHECK(run_there(context, codec, codec.plan_encode(), job, Memory::host));
    return device_profile(codec).builds;
  };
  const Result<std::uint64_t> first = run();
  const Result<std::uint64_t> second = first ? run() : first;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  CALPE_TRY(const std::uint64_t compiled, first);
  CALPE_TRY(const std::uint64_t again, second);
  context.remarks.push_back(fmt::format(
      "{} programs compiled, {} again after opening the device again", compiled, again));
  return Done{};
}

struct NamedCheck {
  std::string_view name;
  std::string_view shows;
  Status (*run)(const Context&);
};

constexpr NamedCheck all_checks[] = {
    {"memories", "a kind of memory that does not work", check_memories},
    {"odd addresses", "alignment that a compiler assumes", check_odd_addresses},
    {"many stripes", "wrong offsets beyond 65,535 stripes", check_many_stripes},
    {"long shards", "wrong offsets of words, launches and chunks", check_long_shards},
    {"packets", "wrong units, strides and launches", check_packets},
    {"table kernels", "errors of the kernel that serves until others are compiled",
     check_table_kernels},
    {"threads", "missing waits between copies, kernels and threads", check_threads},
    {"repeated", "rare wrong bytes, and leaks", check_repeated},
    {"too much memory", "a device that is unusable after a failed allocation", check_too_much},
    {"kernel cache", "binaries that the driver does not accept again", check_cache},
};

}  // namespace

std::vector<GpuCheck> check_gpu(const GpuCheckOptions& options,
                                const std::function<void(std::string_view)>& on_start) {
  using Clock = std::chrono::steady_clock;
  std::vector<GpuCheck> made;
  bool plants_error = options.plant_error;
  for (const NamedCheck& check : all_checks) {
    on_start(check.name);
    GpuCheck result{.name = check.name, .shows = check.shows};
    LogListener listener;
    const Clock::time_point start = Clock::now();
    const Context context{options, plants_error, result.remarks};
    if (const Status done = check.run(context); !done)
      result.failures.push_back(done.error().message);
    plants_error = false;
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    listener.add_to(result.failures, result.remarks);
    made.push_back(std::move(result));
  }
  return made;
}

}  // namespace calpe::tools
