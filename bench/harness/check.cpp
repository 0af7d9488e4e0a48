// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/check.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace calpe::bench {

namespace {

using Bytes = std::vector<std::byte>;

Bytes copy_of(const std::byte* shard, std::size_t bytes) {
  return {shard, shard + bytes};
}

std::string describe(const NamedCoder& coder, const StripeView& stripe) {
  return fmt::format("{} ({}) {}+{} with {} byte shards", coder.name, coder.coder->method(),
                     stripe.shape.data_shards, stripe.shape.parity_shards, stripe.shard_bytes);
}

// Empty when equal.
std::string difference(const Bytes& expected, const std::byte* got) {
  const auto at = std::mismatch(expected.begin(), expected.end(), got).first;
  if (at == expected.end()) return {};
  const auto offset = static_cast<std::size_t>(at - expected.begin());
  return fmt::format("byte {} is {:#04x}, expected {:#04x}", offset,
                     std::to_integer<unsigned>(got[offset]), std::to_integer<unsigned>(*at));
}

Status check_decode(const StripeView& stripe, const NamedCoder& coder,
                    const std::vector<ShardIndex>& lost) {
  auto decode = coder.coder->decode_call(stripe, lost);
  if (!decode) return std::move(decode).error();
  std::vector<Bytes> originals;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    std::byte* const shard = stripe.shards[lost[i]];
    originals.push_back(copy_of(shard, stripe.shard_bytes));
    // Neither the lost shard nor an earlier result may help.
    std::memset(shard, 0xE5, stripe.shard_bytes);
    std::memset(stripe.rebuilt[i], 0x5E, stripe.shard_bytes);
  }
  const bool is_good = (*decode)();
  std::string wrong;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    if (const std::string text = difference(originals[i], stripe.rebuilt[i]);
        wrong.empty() && !text.empty()) {
      wrong = fmt::format("rebuilt shard {}: {}", lost[i], text);
    }
    std::memcpy(stripe.shards[lost[i]], originals[i].data(), stripe.shard_bytes);
  }
  if (!is_good) wrong = "the call reported an error";
  if (wrong.empty()) return Done{};
  return Error{ErrorCode::corrupt, fmt::format("{}, lost {}: {}", describe(coder, stripe),
                                               fmt::join(lost, ","), wrong)};
}

}  // namespace

Status check_coders(const StripeBuffers& buffers, std::span<const NamedCoder> coders,
                    std::span<const std::vector<ShardIndex>> patterns) {
  const StripeView stripe = buffers.view();
  const std::span<std::byte* const> parity = stripe.shards.subspan(stripe.shape.data_shards);
  std::vector<Bytes> profile_parity;
  for (const NamedCoder& coder : coders) {
    for (std::byte* shard : parity)
      std::memset(shard, 0xA7, stripe.shard_bytes);
    if (!coder.coder->encode_call(stripe)()) {
      return Error{ErrorCode::corrupt,
                   fmt::format("{}: encode reported an error", describe(coder, stripe))};
    }
    if (profile_parity.empty()) {
      for (std::byte* shard : parity)
        profile_parity.push_back(copy_of(shard, stripe.shard_bytes));
    } else if (coder.coder->writes_profile_bytes()) {
      for (std::size_t i = 0; i < parity.size(); ++i) {
        const std::string text = difference(profile_parity[i], parity[i]);
        if (text.empty()) continue;
        return Error{ErrorCode::corrupt,
                     fmt::format("{}: parity {} differs from {}: {}", describe(coder, stripe), i,
                                 coders.front().name, text)};
      }
    }
    for (const std::vector<ShardIndex>& lost : patterns) {
      if (auto status = check_decode(stripe, coder, lost); !status) return status;
    }
  }
  return Done{};
}

}  // namespace calpe::bench
