// SPDX-License-Identifier: Apache-2.0
// A fixed amount of work on one CPU path, counted by callgrind: counted_work cpu:avx2
// Each case runs once uncounted, to exclude lazy binding and first-use tables, then `times` times
// between the client requests. Standard output has one line per case, "name <tab> unit <tab> units
// of one dump"; counts.py divides callgrind's total by it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <valgrind/callgrind.h>
#include <vector>

#include <calpe/codec.hpp>

namespace {

constexpr std::size_t shard_bytes = 8192;  // a whole number of blocks and vectors on every path
constexpr std::size_t times = 2;
constexpr int exit_no_such_path = 3;

[[noreturn]] void fail(const std::string& what, int code = 1) {
  std::fprintf(stderr, "counted_work: %s\n", what.c_str());
  std::exit(code);
}

void expect(const calpe::Status& status, const std::string& what) {
  if (!status) fail(what + ": " + status.error().message);
}

void count(const std::string& name, const char* unit, std::size_t units_per_call,
           const std::function<void(std::size_t)>& call) {
  call(times);
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  for (std::size_t i = 0; i < times; ++i)
    call(i);
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  std::printf("%s\t%s\t%zu\n", name.c_str(), unit, units_per_call * times);
}

std::vector<std::vector<std::byte>> make_shards(std::size_t shard_count, std::size_t bytes) {
  std::vector<std::vector<std::byte>> shards(shard_count, std::vector<std::byte>(bytes));
  unsigned value = 1;
  for (auto& shard : shards) {
    for (std::byte& b : shard)
      b = static_cast<std::byte>((value = value * 69069 + 1) >> 24);
  }
  return shards;
}

struct Stripe {
  Stripe(std::size_t inputs_count, std::size_t outputs_count, std::size_t bytes)
      : input_bytes(make_shards(inputs_count, bytes)),
        output_bytes(make_shards(outputs_count, bytes)),
        inputs(input_bytes.begin(), input_bytes.end()),
        outputs(output_bytes.begin(), output_bytes.end()) {}

  std::vector<std::vector<std::byte>> input_bytes;
  std::vector<std::vector<std::byte>> output_bytes;
  std::vector<calpe::ConstShard> inputs;
  std::vector<calpe::Shard> outputs;
};

struct Shape {
  std::uint16_t data_shards;
  std::uint16_t parity_shards;
  calpe::CodeFamily family;
  const char* name;
  calpe::Layout layout = calpe::Layout::bytes;
};

// Loses m data shards, starting at `first`.
struct Loss {
  Loss(const Shape& shape, std::size_t first) {
    const std::size_t all = std::size_t{shape.data_shards} + shape.parity_shards;
    for (std::size_t i = 0; i < all; ++i) {
      const bool is_lost = i >= first && i < first + shape.parity_shards;
      (is_lost ? lost : available).push_back(static_cast<calpe::ShardIndex>(i));
    }
  }

  std::vector<calpe::ShardIndex> available;
  std::vector<calpe::ShardIndex> lost;
};

struct Case {
  Case(const Shape& code, const std::string& backend)
      : shape(code), codec(make_codec(code, backend)) {}

  static calpe::Codec make_codec(const Shape& code, const std::string& backend) {
    calpe::CodecOptions options;
    options.backend = backend;
    options.plan_cache_entries = 0;  // every pattern is unseen
    auto made = calpe::Codec::create({.family = code.family,
                                      .layout = code.layout,
                                      .data_shards = code.data_shards,
                                      .parity_shards = code.parity_shards},
                                     options);
    if (!made) {
      const bool is_absent = made.error().code == calpe::ErrorCode::backend_unavailable;
      fail(made.error().message, is_absent ? exit_no_such_path : 1);
    }
    return std::move(*made);
  }

  calpe::Plan plan_decode(const Loss& loss) const {
    auto plan = codec.plan_decode(loss.available, loss.lost);
    if (!plan) fail(plan.error().message);
    return std::move(*plan);
  }

  // Stores::cached, because automatic depends on the caches of the machine.
  void count_run(const char* operation, const calpe::Plan& plan) const {
    Stripe stripe(shape.data_shards, shape.parity_shards, shard_bytes);
    const std::size_t units = shape.data_shards * shard_bytes / 64;
    count(std::string(operation) + " " + shape.name, "64 B of data", units, [&](std::size_t) {
      expect(codec.run(plan, stripe.inputs, stripe.outputs, {.stores = calpe::Stores::cached}),
             operation);
    });
  }
  void count_encode() const { count_run("encode", codec.plan_encode()); }
  void count_decode() const { count_run("decode", plan_decode(Loss(shape, 1))); }

  void count_small_call() const {
    Stripe stripe(shape.data_shards, shape.parity_shards, 64);
    count(std::string("encode at 64 B ") + shape.name, "call", 1, [&](std::size_t) {
      expect(codec.encode(stripe.inputs, stripe.outputs), "encode at 64 B");
    });
    std::vector<const std::byte*> inputs;
    for (const calpe::ConstShard& shard : stripe.inputs)
      inputs.push_back(shard.data());
    std::vector<std::byte*> outputs;
    for (const calpe::Shard& shard : stripe.outputs)
      outputs.push_back(shard.data());
    const calpe::PreparedPlan prepared = *codec.prepare(codec.plan_encode(), 64);
    count(std::string("prepared encode at 64 B ") + shape.name, "call", 1, [&](std::size_t) {
      expect(prepared.run(inputs.data(), outputs.data()), "prepared encode");
    });
  }

  void count_update() const {
    Stripe stripe(2, shape.parity_shards, shard_bytes);
    const calpe::Codec::Change change{.data_index = 1, .shard_bytes = shard_bytes};
    count(std::string("update ") + shape.name, "64 B of change", shard_bytes / 64,
          [&](std::size_t) {
            expect(codec.update(change, stripe.inputs[0], stripe.inputs[1], stripe.outputs),
                   "update");
          });
  }

  void count_tags() const {
    Stripe stripe(shape.data_shards, shape.parity_shards, shard_bytes);
    std::vector<std::byte> tags((stripe.inputs.size() + stripe.outputs.size()) * calpe::tag_bytes);
    const std::size_t units = shape.data_shards * shard_bytes / 64;
    count(std::string("tags ") + shape.name, "64 B of data", units, [&](std::size_t) {
      const std::size_t bytes = stripe.inputs.size() * calpe::tag_bytes;
      expect(codec.tag(stripe.inputs, std::span(tags).first(bytes)), "tags");
    });
    count(std::string("encode with tags ") + shape.name, "64 B of data", units, [&](std::size_t) {
      expect(codec.encode_tagged(stripe.inputs, stripe.outputs, tags,
                                 {.stores = calpe::Stores::cached}),
             "encode with tags");
    });
  }

  void count_plan() const {
    std::vector<Loss> losses;
    for (std::size_t i = 0; i <= times; ++i)
      losses.emplace_back(shape, i);
    count(std::string("plan ") + shape.name, "plan", 1,
          [&](std::size_t i) { static_cast<void>(plan_decode(losses[i])); });
  }

  Shape shape;
  calpe::Codec codec;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: counted_work BACKEND", 2);
  const std::string backend = argv[1];
  using Family = calpe::CodeFamily;

  const Case hybrid({10, 4, Family::hybrid, "10+4 hybrid"}, backend);
  hybrid.count_encode();
  hybrid.count_decode();
  hybrid.count_update();
  hybrid.count_small_call();
  const Case cauchy({10, 4, Family::cauchy, "10+4 cauchy"}, backend);
  cauchy.count_encode();
  Case({10, 4, Family::hybrid_good, "10+4 hybrid-good packets", calpe::Layout::packets}, backend)
      .count_encode();
  const Case lch({20, 10, Family::lch, "20+10 lch"}, backend);
  lch.count_encode();
  lch.count_decode();
  lch.count_plan();
  const Case large({223, 32, Family::lch, "223+32 lch"}, backend);
  large.count_encode();
  large.count_plan();
  const Case wide({300, 40, Family::lch, "300+40 lch over 16 bits"}, backend);
  wide.count_encode();
  wide.count_decode();
  wide.count_plan();
  hybrid.count_tags();
  return 0;
}
