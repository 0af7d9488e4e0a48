// SPDX-License-Identifier: Apache-2.0
// Rates of streams compared with a loop that reads, codes and writes one stripe after the other: in
// memory, with files in TMPDIR, with such files without the page cache, and with devices that wait
// 1 ns per byte read or written. Bytes are those of the object.
//
// Arguments: block bytes, depth. Depth 0 is the loop.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <calpe/streams.hpp>

namespace {

using namespace calpe;

// Whole stripes for every block size below, as direct I/O needs them.
constexpr std::size_t object_bytes = std::size_t{250} << 20U;
constexpr std::size_t data_shards = 10;
constexpr std::size_t parity_shards = 4;
constexpr std::size_t shards = data_shards + parity_shards;

const Codec& codec() {
  static const Codec made =
      *Codec::create({.data_shards = data_shards, .parity_shards = parity_shards});
  return made;
}

// An object and its shards in memory.
struct Memory {
  Memory() : object(object_bytes) {
    for (std::size_t i = 0; i < object.size(); i += sizeof i)
      std::memcpy(&object[i], &i, sizeof i);
    for (auto& shard : stored)
      shard.resize(object_bytes / data_shards + (1U << 21U));
  }
  std::size_t read(Shard to) {
    const std::size_t count = std::min(to.size(), object.size() - at);
    std::memcpy(to.data(), object.data() + at, count);
    at += count;
    return count;
  }
  bool write(std::size_t shard, std::uint64_t offset, ConstShard block) {
    if (!block.empty()) std::memcpy(stored[shard].data() + offset, block.data(), block.size());
    return true;
  }
  bool read_block(std::size_t shard, std::uint64_t offset, Shard to) {
    std::memcpy(to.data(), stored[shard].data() + offset, to.size());
    return true;
  }
  bool write_object(ConstShard bytes) {
    std::memcpy(object.data() + at, bytes.data(), bytes.size());
    at += bytes.size();
    return true;
  }
  void begin() { at = 0; }

  std::vector<std::byte> object;
  std::vector<std::byte> stored[shards];
  std::size_t at = 0;
};

// The same in files.
struct Files {
  explicit Files(int flags_ = 0) : flags(flags_) {
    const char* const folder = std::getenv("TMPDIR");
    path = std::filesystem::path(folder != nullptr ? folder : "/tmp") /
           ("calpe_bench_streams" + std::to_string(flags));
    std::filesystem::create_directories(path);
    const Memory memory;
    object = open_file("object");
    if (::ftruncate(object, object_bytes) != 0) std::abort();
    const int plain = ::open((path / "object").c_str(), O_WRONLY | O_CLOEXEC);
    if (::pwrite(plain, memory.object.data(), object_bytes, 0) < 0) std::abort();
    ::close(plain);
    for (std::size_t i = 0; i < shards; ++i)
      stored[i] = open_file("shard" + std::to_string(i));
  }
  ~Files() { std::filesystem::remove_all(path); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  int open_file(const std::string& name) const {
    return ::open((path / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
  }
  std::size_t read(Shard to) {
    const auto count =
        static_cast<std::size_t>(::pread(object, to.data(), to.size(), static_cast<off_t>(at)));
    at += count;
    return count;
  }
  bool write(std::size_t shard, std::uint64_t offset, ConstShard block) {
    return ::pwrite(stored[shard], block.data(), block.size(), static_cast<off_t>(offset)) >= 0;
  }
  bool read_block(std::size_t shard, std::uint64_t offset, Shard to) {
    return ::pread(stored[shard], to.data(), to.size(), static_cast<off_t>(offset)) >= 0;
  }
  bool write_object(ConstShard bytes) {
    const auto count = ::pwrite(object, bytes.data(), bytes.size(), static_cast<off_t>(at));
    at += bytes.size();
    return count >= 0;
  }
  void begin() { at = 0; }

  std::filesystem::path path;
  int flags;
  int object = -1;
  int stored[shards] = {};
  std::size_t at = 0;
};

// Every read and write goes to the disk.
struct DirectFiles : Files {
  DirectFiles() : Files(O_DIRECT) {}
};

// Memory behind a slow line in each direction.
struct Devices : Memory {
  static void wait(std::size_t bytes) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(bytes));
  }
  std::size_t read(Shard to) {
    const std::size_t count = Memory::read(to);
    wait(count);
    return count;
  }
  bool write(std::size_t shard, std::uint64_t offset, ConstShard block) {
    wait(block.size());
    return Memory::write(shard, offset, block);
  }
  bool read_block(std::size_t shard, std::uint64_t offset, Shard to) {
    wait(to.size());
    return Memory::read_block(shard, offset, to);
  }
  bool write_object(ConstShard bytes) {
    wait(bytes.size());
    return Memory::write_object(bytes);
  }
};

template <class Store>
Store& store() {
  static Store made;
  return made;
}

Error io_error() {
  return {ErrorCode::io, "io"};
}

template <class Store>
Status write_blocks(Store& store, const StreamStripe& stripe, std::size_t block_bytes) {
  for (std::size_t i = 0; i < stripe.blocks.size(); ++i)
    if (!store.write(i, stripe.number * block_bytes, stripe.blocks[i])) return io_error();
  return Done{};
}

// The loop that a program without streams has.
template <class Store>
void encode_loop(Store& store, std::size_t block_bytes) {
  std::vector<std::byte> memory(shards * block_bytes + 4096);
  void* begin = memory.data();
  std::size_t space = memory.size();
  const Shard aligned = {
      static_cast<std::byte*>(std::align(4096, shards * block_bytes, begin, space)),
      shards * block_bytes};
  const Shard data = aligned.first(data_shards * block_bytes);
  const Shard parity = aligned.subspan(data_shards * block_bytes);
  std::vector<ConstShard> blocks(shards);
  std::vector<Shard> outputs(parity_shards);
  for (std::uint64_t stripe = 0;; ++stripe) {
    const std::size_t count = store.read(data);
    if (count == 0) return;
    const ConstShard object = data.first(count);
    const std::size_t shard_bytes = codec().shard_bytes_for(count);
    benchmark::DoNotOptimize(codec().split(object, shard_bytes, std::span(blocks).first(10)));
    for (std::size_t i = 0; i < parity_shards; ++i) {
      outputs[i] = parity.subspan(i * block_bytes, shard_bytes);
      blocks[data_shards + i] = outputs[i];
    }
    benchmark::DoNotOptimize(codec().encode_object(object, shard_bytes, outputs));
    benchmark::DoNotOptimize(
        write_blocks(store, {.number = stripe, .blocks = blocks}, block_bytes));
  }
}

template <class Store>
void encode(benchmark::State& state) {
  Store& from = store<Store>();
  const auto block_bytes = static_cast<std::size_t>(state.range(0));
  const auto depth = static_cast<unsigned>(state.range(1));
  for ([[maybe_unused]] auto _ : state) {
    from.begin();
    if (depth == 0) {
      encode_loop(from, block_bytes);
      continue;
    }
    const auto done = encode_stream(
        codec(), {.block_bytes = block_bytes, .depth = depth},
        [&](Shard to) -> Result<std::size_t> { return from.read(to); },
        [&](const StreamStripe& stripe) { return write_blocks(from, stripe, block_bytes); });
    if (!done) state.SkipWithError(done.error().message.c_str());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(object_bytes) * state.iterations());
}

// Two data shards and two parity shards are lost. Encode first.
template <class Store>
void decode(benchmark::State& state) {
  Store& from = store<Store>();
  const auto block_bytes = static_cast<std::size_t>(state.range(0));
  const auto depth = static_cast<unsigned>(state.range(1));
  for ([[maybe_unused]] auto _ : state) {
    from.begin();
    const Status done = decode_stream(
        codec(), {.block_bytes = block_bytes, .depth = depth}, object_bytes,
        [&](const StreamBlock& block, Shard to) -> Result<bool> {
          if (block.shard == 0 || block.shard == 7 || block.shard == 10) return false;
          return from.read_block(block.shard, block.offset, to);
        },
        [&](ConstShard bytes) -> Status {
          return from.write_object(bytes) ? Status(Done{}) : Status(io_error());
        });
    if (!done) state.SkipWithError(done.error().message.c_str());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(object_bytes) * state.iterations());
}

void grid(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t block_bytes : {16384, 65536, 262144, 1048576})
    for (const std::int64_t depth : {0, 1, 2, 3, 4})
      benchmark->Args({block_bytes, depth});
  benchmark->UseRealTime()->Unit(benchmark::kMillisecond);
}
void grid_of_decode(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t block_bytes : {65536, 262144})
    for (const std::int64_t depth : {1, 2, 3, 4})
      benchmark->Args({block_bytes, depth});
  benchmark->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(encode<Memory>)->Apply(grid);
BENCHMARK(decode<Memory>)->Apply(grid_of_decode);
BENCHMARK(encode<Files>)->Apply(grid);
BENCHMARK(decode<Files>)->Apply(grid_of_decode);
BENCHMARK(encode<DirectFiles>)->Apply(grid);
BENCHMARK(decode<DirectFiles>)->Apply(grid_of_decode);
BENCHMARK(encode<Devices>)->Apply(grid);
BENCHMARK(decode<Devices>)->Apply(grid_of_decode);

}  // namespace

BENCHMARK_MAIN();
