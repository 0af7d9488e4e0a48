// SPDX-License-Identifier: Apache-2.0
// Rebuilds loss patterns on several backends and compares with the bytes encoded by the reference
// backend.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tests {

inline bool copies_jerasure(const CodeSpec& spec) {
  return spec.family == CodeFamily::cauchy_orig || spec.family == CodeFamily::cauchy_good;
}

// One vector and an odd tail on every path; Jerasure's packets need whole groups.
inline std::size_t bytes_for(const CodeSpec& spec) {
  return copies_jerasure(spec) ? std::size_t{spec.word_bits} * spec.packet_bytes : 64 + 3;
}

class PatternStripe {
 public:
  explicit PatternStripe(const Codec& reference) : spec_(reference.spec()) {
    const std::size_t shards = std::size_t{spec_.data_shards} + spec_.parity_shards;
    std::uint32_t state = 2463534242U;
    for (std::size_t i = 0; i < shards; ++i) {
      const bool data = i < spec_.data_shards;
      const std::size_t data_bytes = bytes_for(spec_);
      bytes_.emplace_back(data ? data_bytes : reference.parity_bytes(data_bytes));
      for (std::byte& b : bytes_.back()) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        b = std::byte(state);
      }
    }
    std::vector<ConstShard> data(bytes_.begin(), bytes_.begin() + spec_.data_shards);
    std::vector<Shard> parity(bytes_.begin() + spec_.data_shards, bytes_.end());
    EXPECT_TRUE(reference.encode(data, parity));
  }
  std::size_t shards() const { return bytes_.size(); }
  ConstShard operator[](std::size_t i) const { return bytes_[i]; }

 private:
  CodeSpec spec_;
  std::vector<std::vector<std::byte>> bytes_;
};

class PatternCheck {
 public:
  PatternCheck(const CodeSpec& spec, const std::vector<std::string>& paths)
      : stripe_(*Codec::create(spec, {.backend = "reference"})) {
    for (const std::string& path : paths) {
      codecs_.push_back(*Codec::create(spec, {.backend = path, .plan_cache_entries = 0}));
    }
    for (std::size_t i = 0; i < stripe_.shards(); ++i) {
      rebuilt_.emplace_back(stripe_[i].size());
    }
  }

  std::size_t losses() const { return codecs_.front().proof().losses; }
  std::size_t shards() const { return stripe_.shards(); }

  // lost: one bit per shard.
  void check(std::uint32_t lost) {
    available_.clear(), wanted_.clear(), outputs_.clear();
    for (std::size_t i = 0; i < stripe_.shards(); ++i) {
      ((lost >> i & 1) != 0 ? wanted_ : available_).push_back(static_cast<ShardIndex>(i));
    }
    for (const ShardIndex i : wanted_)
      outputs_.push_back(rebuilt_[i]);
    for (const Codec& codec : codecs_) {
      const auto plan = codec.plan_decode(available_, wanted_);
      ASSERT_TRUE(plan) << plan.error().message;
      inputs_.clear();
      for (const ShardIndex i : plan->reads())
        inputs_.push_back(stripe_[i]);
      const Status done = codec.decode(*plan, inputs_, outputs_);
      ASSERT_TRUE(done) << done.error().message;
      for (const ShardIndex i : wanted_) {
        ASSERT_EQ(std::memcmp(rebuilt_[i].data(), stripe_[i].data(), stripe_[i].size()), 0)
            << codec.backend() << " shard " << i << " lost mask " << lost;
        std::memset(rebuilt_[i].data(), 0xA5, rebuilt_[i].size());
      }
    }
  }

 private:
  PatternStripe stripe_;
  std::vector<Codec> codecs_;
  std::vector<std::vector<std::byte>> rebuilt_;
  std::vector<ShardIndex> available_;
  std::vector<ShardIndex> wanted_;
  std::vector<ConstShard> inputs_;
  std::vector<Shard> outputs_;
};

// Checks every pattern of 1..losses lost shards; returns their number.
inline std::uint64_t check_all(const CodeSpec& spec, const std::vector<std::string>& paths) {
  PatternCheck check(spec, paths);
  std::uint64_t count = 0;
  for (std::uint32_t lost = 1; lost < 1U << check.shards(); ++lost) {
    if (static_cast<std::size_t>(std::popcount(lost)) > check.losses()) continue;
    check.check(lost);
    ++count;
    if (::testing::Test::HasFatalFailure()) break;
  }
  return count;
}

}  // namespace calpe::tests
