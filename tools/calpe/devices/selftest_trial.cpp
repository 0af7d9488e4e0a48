// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/selftest_trial.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include <calpe/device_memory.hpp>

#include "base/try.hpp"
#include "calpe/devices/backend_rate.hpp"
#include "calpe/devices/log_listener.hpp"
#include "calpe/devices/trial_bytes.hpp"

namespace calpe::tools {

namespace {

using Bytes = TrialBytes;
using Losses = std::vector<ShardIndex>;

struct TrialCode {
  CodeFamily family;
  unsigned data;
  unsigned parity;
  Layout layout;
  std::size_t seeded_losses;  // 0: every loss
  std::vector<std::size_t> lengths;
};

// Covers matrices, XOR programs and (lch) transforms. Every length is encoded; losses are tried
// with the first one only.
std::vector<TrialCode> trial_codes() {
  std::vector<TrialCode> codes;
  const std::vector<std::size_t> lengths = {1003, 0, 1, 63, 64, 65, 4099, 8192};
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    const CodeFamily family = CodeFamily::hybrid;
    codes.push_back({family, 3, 2, layout, 0, lengths});
    codes.push_back({family, 4, 2, layout, 0, lengths});
    codes.push_back({family, 4, 3, layout, 0, lengths});
    codes.push_back({family, 10, 4, layout, 12, {4099, 65537}});
    codes.push_back({family, 16, 16, layout, 6, {1027}});
  }
  codes.push_back({CodeFamily::lch, 20, 10, Layout::bytes, 6, {1027}});
  codes.push_back({CodeFamily::lch, 223, 32, Layout::bytes, 6, {515}});
  return codes;
}

std::string_view name_of(Layout layout) {
  return layout == Layout::bytes ? "bytes" : "packets";
}

// Expected content: generated data, and parity from the reference backend.
class SoundStripe {
 public:
  static Result<SoundStripe> make(const Codec& reference, std::size_t shard_bytes) {
    SoundStripe stripe;
    const CodeSpec& spec = reference.spec();
    for (std::size_t s = 0; s < std::size_t{spec.data_shards} + spec.parity_shards; ++s) {
      const bool is_data = s < spec.data_shards;
      stripe.shards.emplace_back(is_data ? shard_bytes : reference.parity_bytes(shard_bytes));
      if (!is_data) continue;
      std::uint32_t state = static_cast<std::uint32_t>(s * 7919 + shard_bytes);
      for (std::byte& byte : stripe.shards.back()) {
        state = state * 1664525U + 1013904223U;
        byte = std::byte(state >> 24U);
      }
    }
    const std::vector<Shard> all(stripe.shards.begin(), stripe.shards.end());
    const std::vector<ConstShard> data(all.begin(), all.begin() + spec.data_shards);
    CALPE_CHECK(reference.encode(data, std::span(all).subspan(spec.data_shards)));
    return stripe;
  }

  std::vector<ConstShard> inputs(std::span<const ShardIndex> indices) const {
    std::vector<ConstShard> spans;
    for (const ShardIndex index : indices)
      spans.emplace_back(shards[index]);
    return spans;
  }

  std::vector<Bytes> shards;
};

// Buffers for results, filled with a pattern that a coder is unlikely to write.
struct Room {
  Room(const SoundStripe& stripe, std::span<const ShardIndex> indices) {
    for (const ShardIndex index : indices)
      shards.emplace_back(stripe.shards[index].size(), std::byte{0xA5});
    spans.assign(shards.begin(), shards.end());
  }
  std::vector<Bytes> shards;
  std::vector<Shard> spans;
};

class Trial {
 public:
  explicit Trial(const TrialOptions& options) : options_(options) {}

  // Returns false when there are enough failures to report.
  Result<bool> try_code(const TrialCode& code) {
    where_ = fmt::format("{}+{} {}", code.data, code.parity, name_of(code.layout));
    if (options_.on_progress) options_.on_progress(where_);
    const CodeSpec spec{.family = code.family,
                        .layout = code.layout,
                        .data_shards = code.data,
                        .parity_shards = code.parity};
    const WaitCompile wait(options_.waits);
    CALPE_TRY(const Codec reference, Codec::create(spec, {.backend = "reference"}));
    CALPE_TRY(const Codec codec, Codec::create(spec, {.backend = options_.backend}));
    for (const std::size_t length : code.lengths) {
      CALPE_TRY(const SoundStripe stripe, SoundStripe::make(reference, length));
      try_encode(codec, stripe, length);
      if (length != code.lengths.front()) continue;
      try_losses(codec, stripe, code);
      CALPE_CHECK(try_update(reference, codec, stripe));
      try_device_memory(codec, stripe);
    }
    CALPE_CHECK(try_batch(reference, codec, code));
    return result_.failures.size() < failures_max;
  }

  TrialResult result() && { return std::move(result_); }

 private:
  void fail(std::string text) {
    if (result_.failures.size() < failures_max) result_.failures.push_back(std::move(text));
  }

  void compare(const SoundStripe& stripe, std::span<const ShardIndex> indices, Room& room,
               const std::string& what, const Status& done) {
    ++result_.checks;
    if (!done) {
      if (done.error().code == ErrorCode::device_failed) keep_trial_bytes();
      return fail(fmt::format("{}, {}: {}", where_, what, done.error().message));
    }
    if (options_.plant_error && result_.checks == 100 && !room.shards[0].empty())
      room.shards[0].back() ^= std::byte{1};
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Bytes& expected = stripe.shards[indices[i]];
      const auto [got, right] = std::mismatch(room.shards[i].begin(), room.shards[i].end(),
                                              expected.begin(), expected.end());
      if (right == expected.end()) continue;
      return fail(fmt::format("{}, {}: shard {} has {:#04x} at byte {}; expected {:#04x}", where_,
                              what, indices[i], std::to_integer<unsigned>(*got),
                              right - expected.begin(), std::to_integer<unsigned>(*right)));
    }
  }

  void try_encode(const Codec& codec, const SoundStripe& stripe, std::size_t length) {
    const Plan& plan = codec.plan_encode();
    Room room(stripe, plan.writes());
    const Status done = codec.encode(stripe.inputs(plan.reads()), room.spans);
    compare(stripe, plan.writes(), room, fmt::format("encode of {} bytes", length), done);
  }

  void try_losses(const Codec& codec, const SoundStripe& stripe, const TrialCode& code) {
    if (code.seeded_losses > 0 || !options_.every_small_loss) {
      for (std::size_t i = 0; i < std::max<std::size_t>(code.seeded_losses, 4); ++i)
        try_decode(codec, stripe, random_losses(code));
      return;
    }
    const unsigned shards = code.data + code.parity;
    for (unsigned bits = 1; bits < 1U << shards; ++bits) {
      Losses lost;
      for (unsigned s = 0; s < shards; ++s)
        if ((bits >> s & 1U) != 0) lost.push_back(static_cast<ShardIndex>(s));
      if (lost.size() <= code.parity) try_decode(codec, stripe, lost);
    }
  }

  Losses random_losses(const TrialCode& code) {
    const auto random = [this](std::size_t below) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      return static_cast<std::size_t>(state_ >> 33U) % below;
    };
    Losses all(code.data + code.parity);
    std::iota(all.begin(), all.end(), ShardIndex{0});
    for (std::size_t i = all.size() - 1; i > 0; --i)
      std::swap(all[i], all[random(i + 1)]);
    all.resize(1 + random(code.parity));
    std::sort(all.begin(), all.end());
    return all;
  }

  void try_decode(const Codec& codec, const SoundStripe& stripe, const Losses& lost) {
    std::vector<ShardIndex> available;
    for (std::size_t s = 0; s < stripe.shards.size(); ++s) {
      const auto shard = static_cast<ShardIndex>(s);
      if (!std::binary_search(lost.begin(), lost.end(), shard)) available.push_back(shard);
    }
    Room room(stripe, lost);
    const std::string what =
        fmt::format("{} bytes, lost {}", stripe.shards[0].size(), fmt::join(lost, ", "));
    const Result<Plan> plan = codec.plan_decode(available, lost);
    const Status done =
        plan ? codec.decode(*plan, stripe.inputs(plan->reads()), room.spans) : Status(plan.error());
    compare(stripe, lost, room, what, done);
  }

  // Changes part of the first data shard and updates the parity on both backends.
  Status try_update(const Codec& reference, const Codec& codec, const SoundStripe& before) {
    const std::size_t length = before.shards[0].size();
    const std::size_t offset = length / 3;
    const Bytes delta(length / 2, std::byte{0x5C});
    const std::span<const ShardIndex> parity = codec.plan_encode().writes();
    SoundStripe after = before;
    std::vector<Shard> expected;
    Room room(before, parity);
    for (std::size_t i = 0; i < parity.size(); ++i) {
      expected.emplace_back(after.shards[parity[i]]);
      room.shards[i] = before.shards[parity[i]];
      room.spans[i] = room.shards[i];
    }
    const Codec::Change change{.data_index = 0, .offset = offset, .shard_bytes = length};
    CALPE_CHECK(reference.update(change, delta, expected));
    compare(after, parity, room, fmt::format("update of {} bytes", delta.size()),
            codec.update(change, delta, room.spans));
    return Done{};
  }

  // Shards in device memory; for the CPU that is host memory.
  void try_device_memory(const Codec& codec, const SoundStripe& stripe) {
    const Plan& plan = codec.plan_encode();
    Room room(stripe, plan.writes());
    const Status done = encode_there(codec, stripe, room);
    compare(stripe, plan.writes(), room, "encode in device memory", done);
  }

  static Status encode_there(const Codec& codec, const SoundStripe& stripe, Room& room) {
    const std::size_t distance = codec.parity_bytes(stripe.shards[0].size()) + 64;
    CALPE_TRY(const DeviceMemory memory,
              DeviceMemory::allocate(codec, stripe.shards.size() * distance));
    std::vector<ConstShard> data;
    std::vector<Shard> parity;
    for (const ShardIndex s : codec.plan_encode().reads()) {
      CALPE_CHECK(memory.write(s * distance, stripe.shards[s]));
      data.emplace_back(memory.shard(s * distance, stripe.shards[s].size()));
    }
    for (const ShardIndex s : codec.plan_encode().writes())
      parity.push_back(memory.shard(s * distance, stripe.shards[s].size()));
    CALPE_CHECK(codec.encode(data, parity));
    for (std::size_t i = 0; i < parity.size(); ++i)
      CALPE_CHECK(memory.read(codec.plan_encode().writes()[i] * distance, room.spans[i]));
    return Done{};
  }

  // Stripes of different lengths in one call.
  Status try_batch(const Codec& reference, const Codec& codec, const TrialCode& code) {
    const Plan& plan = codec.plan_encode();
    std::vector<SoundStripe> sound;
    std::vector<Room> rooms;
    std::vector<std::vector<ConstShard>> inputs;
    std::vector<Stripe> stripes;
    for (const std::size_t extra : {std::size_t{0}, std::size_t{1}, std::size_t{130}}) {
      CALPE_TRY(SoundStripe stripe, SoundStripe::make(reference, code.lengths.front() + extra));
      sound.push_back(std::move(stripe));
    }
    for (const SoundStripe& stripe : sound) {
      rooms.emplace_back(stripe, plan.writes());
      inputs.push_back(stripe.inputs(plan.reads()));
    }
    for (std::size_t i = 0; i < sound.size(); ++i)
      stripes.push_back({.inputs = inputs[i], .outputs = rooms[i].spans});
    const Status done = codec.run_batch(plan, stripes);
    for (std::size_t i = 0; i < sound.size(); ++i)
      compare(sound[i], plan.writes(), rooms[i], fmt::format("stripe {} of a batch", i), done);
    return Done{};
  }

  const TrialOptions& options_;
  TrialResult result_;
  std::string where_;
  std::uint64_t state_ = 1;
};

}  // namespace

Result<TrialResult> try_backend(const TrialOptions& options) {
  LogListener listener;
  Trial trial(options);
  for (const TrialCode& code : trial_codes()) {
    CALPE_TRY(const bool goes_on, trial.try_code(code));
    if (!goes_on) break;
  }
  TrialResult result = std::move(trial).result();
  listener.add_to(result.failures, result.remarks);
  return result;
}

}  // namespace calpe::tools
