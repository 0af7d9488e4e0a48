// SPDX-License-Identifier: Apache-2.0
// Compares small shards with ISA-L: the ordinary call, the prepared call and batches of stripes.
//   bench_small LIBISAL [ROUNDS]
// Prints one JSON object per cell, with the best and the median nanoseconds per stripe of each side
// over interleaved rounds. Both sides write to the same outputs, and must write the same bytes.
// bench/small.py runs it and prints a table.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "bench/harness/clock.hpp"
#include "bench/harness/shared_library.hpp"

namespace {

using calpe::bench::Clock;
using calpe::bench::seconds_now;
using calpe::bench::SharedLibrary;
using Byte = unsigned char;

constexpr std::size_t batch_stripes = 64;
constexpr double slice_seconds = 200e-6;

struct Isal {
  void (*ec_init_tables)(int k, int rows, Byte* matrix, Byte* tables) = nullptr;
  void (*ec_encode_data)(int len, int k, int rows, Byte* tables, Byte** data,
                         Byte** coding) = nullptr;
  bool find(const SharedLibrary& library) {
    return library.find("ec_init_tables", ec_init_tables) &&
           library.find("ec_encode_data", ec_encode_data);
  }
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "bench_small: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(calpe::Result<T> result) {
  if (!result) stop(result.error().message);
  return *std::move(result);
}

void must(const calpe::Status& status) {
  if (!status) stop(status.error().message);
}

// The stripes of a batch, with a plan's inputs and outputs of `bytes` each.
struct Stripes {
  std::size_t reads, writes, bytes;
  std::vector<Byte> memory;
  std::vector<const std::byte*> inputs;  // stripe after stripe
  std::vector<std::byte*> outputs;
  std::vector<calpe::ConstShard> input_spans;
  std::vector<calpe::Shard> output_spans;
  std::vector<calpe::Stripe> list;

  Stripes(std::size_t read, std::size_t written, std::size_t length)
      : reads(read), writes(written), bytes(length) {
    // One line more than a shard, so that no two shards of a stripe fall into one set of the cache.
    const std::size_t stride = (bytes + 63) / 64 * 64 + 64;
    memory.resize(batch_stripes * (reads + writes) * stride + 64);
    std::uint32_t random = 1;
    for (Byte& byte : memory) {
      random = random * 1664525 + 1013904223;
      byte = static_cast<Byte>(random >> 24);
    }
    auto* next = reinterpret_cast<std::byte*>(memory.data());
    next += 64 - reinterpret_cast<std::uintptr_t>(next) % 64;
    for (std::size_t s = 0; s < batch_stripes; ++s) {
      for (std::size_t i = 0; i < reads; ++i, next += stride)
        inputs.push_back(next);
      for (std::size_t i = 0; i < writes; ++i, next += stride)
        outputs.push_back(next);
    }
    for (const std::byte* input : inputs)
      input_spans.emplace_back(input, bytes);
    for (std::byte* output : outputs)
      output_spans.emplace_back(output, bytes);
    for (std::size_t s = 0; s < batch_stripes; ++s) {
      list.push_back({.inputs = std::span(input_spans).subspan(s * reads, reads),
                      .outputs = std::span(output_spans).subspan(s * writes, writes)});
    }
  }
  std::vector<std::byte> written() const {
    std::vector<std::byte> all;
    for (const std::byte* output : outputs)
      all.insert(all.end(), output, output + bytes);
    return all;
  }
};

struct Side {
  const char* name;
  std::size_t stripes;                    // of one call of `work`
  std::function<void(std::size_t)> work;  // runs so many calls
  std::vector<double> nanoseconds = {};   // per stripe and round
};

void measure(std::span<Side> sides, int rounds) {
  std::vector<std::size_t> calls;
  for (Side& side : sides) {
    std::size_t count = 1;
    for (;; count *= 2) {
      const double start = seconds_now(Clock::thread_cpu);
      side.work(count);
      if (seconds_now(Clock::thread_cpu) - start > slice_seconds) break;
    }
    calls.push_back(count);
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      const std::size_t which = (static_cast<std::size_t>(round) + turn) % sides.size();
      Side& side = sides[which];
      const double start = seconds_now(Clock::thread_cpu);
      side.work(calls[which]);
      const double seconds = seconds_now(Clock::thread_cpu) - start;
      side.nanoseconds.push_back(seconds * 1e9 / static_cast<double>(calls[which] * side.stripes));
    }
  }
}

struct Shape {
  std::size_t data, parity;
};

void run_cell(const Isal& isal, const calpe::Codec& codec, const calpe::Plan& plan,
              const Shape& shape, const char* operation, std::size_t bytes, int rounds) {
  const std::size_t reads = plan.reads().size();
  const std::size_t writes = plan.writes().size();
  Stripes stripes(reads, writes, bytes);
  const calpe::PreparedPlan prepared = must(codec.prepare(plan, bytes));
  std::vector<Byte> rows(plan.coefficients().begin(), plan.coefficients().end());
  std::vector<Byte> tables(32 * reads * writes);
  const auto k = static_cast<int>(reads);
  const auto m = static_cast<int>(writes);
  isal.ec_init_tables(k, m, rows.data(), tables.data());
  // ISA-L's functions take pointers to what they only read.
  auto** const theirs_in = reinterpret_cast<Byte**>(
      const_cast<std::byte**>(const_cast<const std::byte**>(stripes.inputs.data())));
  auto** const theirs_out = reinterpret_cast<Byte**>(stripes.outputs.data());
  const auto theirs = [&](std::size_t stripe) {
    isal.ec_encode_data(static_cast<int>(bytes), k, m, tables.data(), theirs_in + stripe * reads,
                        theirs_out + stripe * writes);
  };

  std::vector<Side> sides;
  sides.push_back({"isal", 1, [&](std::size_t calls) {
                     for (std::size_t i = 0; i < calls; ++i)
                       theirs(0);
                   }});
  sides.push_back({"run", 1, [&](std::size_t calls) {
                     for (std::size_t i = 0; i < calls; ++i)
                       must(codec.run(plan, stripes.list[0].inputs, stripes.list[0].outputs));
                   }});
  sides.push_back({"prepared", 1, [&](std::size_t calls) {
                     for (std::size_t i = 0; i < calls; ++i)
                       must(prepared.run(stripes.inputs.data(), stripes.outputs.data()));
                   }});
  sides.push_back({"isal_batch", batch_stripes, [&](std::size_t calls) {
                     for (std::size_t i = 0; i < calls; ++i) {
                       for (std::size_t s = 0; s < batch_stripes; ++s)
                         theirs(s);
                     }
                   }});
  sides.push_back({"run_batch", batch_stripes, [&](std::size_t calls) {
                     for (std::size_t i = 0; i < calls; ++i)
                       must(codec.run_batch(plan, stripes.list));
                   }});
  sides.push_back(
      {"prepared_batch", batch_stripes, [&](std::size_t calls) {
         for (std::size_t i = 0; i < calls; ++i) {
           must(prepared.run_batch(batch_stripes, stripes.inputs.data(), stripes.outputs.data()));
         }
       }});

  std::vector<std::vector<std::byte>> results;
  for (const Side& side : sides) {
    if (side.stripes != batch_stripes) continue;
    for (std::byte* output : stripes.outputs)
      std::fill_n(output, bytes, std::byte{0xA5});
    side.work(1);
    results.push_back(stripes.written());
  }
  if (std::ranges::any_of(results, [&](const auto& each) { return each != results[0]; })) {
    stop("the libraries write different bytes");
  }

  measure(sides, rounds);
  std::printf("{\"code\": \"%zu+%zu\", \"operation\": \"%s\", \"bytes\": %zu", shape.data,
              shape.parity, operation, bytes);
  for (Side& side : sides) {
    std::ranges::sort(side.nanoseconds);
    std::printf(", \"%s\": {\"best\": %.2f, \"median\": %.2f, \"worst\": %.2f}", side.name,
                side.nanoseconds.front(), side.nanoseconds[side.nanoseconds.size() / 2],
                side.nanoseconds.back());
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) stop("usage: bench_small LIBISAL [ROUNDS]");
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 100;
  if (rounds < 1) stop("ROUNDS must be at least 1");
  const SharedLibrary library = must(SharedLibrary::open(argv[1]));
  Isal isal;
  if (!isal.find(library)) stop(std::string(argv[1]) + " is not a library of ISA-L");
  for (const Shape& shape :
       {Shape{4, 2}, Shape{6, 3}, Shape{10, 4}, Shape{16, 4}, Shape{6, 5}, Shape{20, 10}}) {
    const calpe::Codec codec =
        must(calpe::Codec::create({.data_shards = static_cast<std::uint32_t>(shape.data),
                                   .parity_shards = static_cast<std::uint32_t>(shape.parity)}));
    std::vector<calpe::ShardIndex> lost(shape.parity);
    std::iota(lost.begin(), lost.end(), calpe::ShardIndex{0});
    lost.resize(std::min(shape.parity, shape.data));
    std::vector<calpe::ShardIndex> left;
    for (std::size_t i = lost.size(); i < shape.data + shape.parity; ++i)
      left.push_back(static_cast<calpe::ShardIndex>(i));
    const calpe::Plan decode = must(codec.plan_decode(left, lost));
    for (const std::size_t bytes : {64U, 128U, 256U, 512U, 1024U}) {
      run_cell(isal, codec, codec.plan_encode(), shape, "encode", bytes, rounds);
      run_cell(isal, codec, decode, shape, "decode", bytes, rounds);
    }
  }
}
