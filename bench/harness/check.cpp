// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/check.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace calpe::bench {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t fresh_patterns_checked = 3;

// Filler for output shards, so that an earlier result cannot pass the check.
void spoil(std::byte* shard, std::size_t bytes) {
  std::memset(shard, 0xA7, bytes);
}

std::vector<Bytes> copies_of(std::span<std::byte* const> shards, std::size_t bytes) {
  std::vector<Bytes> copies;
  for (const std::byte* shard : shards)
    copies.emplace_back(shard, shard + bytes);
  return copies;
}

// Empty if equal.
std::string difference(const Bytes& expected, const std::byte* got) {
  const auto at = std::mismatch(expected.begin(), expected.end(), got).first;
  if (at == expected.end()) return {};
  const auto offset = static_cast<std::size_t>(at - expected.begin());
  return fmt::format("byte {} is {:#04x}; expected {:#04x}", offset,
                     std::to_integer<unsigned>(got[offset]), std::to_integer<unsigned>(*at));
}

// The first difference in a list of shards, "parity 1: byte ..."; empty if equal.
std::string difference(std::string_view what, const std::vector<Bytes>& expected,
                       std::span<std::byte* const> got) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string text = difference(expected[i], got[i]);
    if (!text.empty()) return fmt::format("{} {}: {}", what, i, text);
  }
  return {};
}

// Checks one coder on the first stripe. Each check returns the problem, or "".
class CoderCheck {
 public:
  CoderCheck(const StripeBuffers& stripes, const Coder& coder)
      : stripes_(stripes), stripe_(stripes.view()), coder_(coder) {}

  std::string encode() const {
    for (std::byte* shard : stripe_.parity())
      spoil(shard, stripe_.shard_bytes);
    return run(coder_.encode_call(stripes_)) ? "" : "encode reported an error";
  }

  std::string decode(const std::vector<ShardIndex>& lost, const Call& call) const {
    std::vector<std::byte*> shards;
    for (const ShardIndex shard : lost)
      shards.push_back(stripe_.shards[shard]);
    const std::vector<Bytes> originals = copies_of(shards, stripe_.shard_bytes);
    for (std::size_t i = 0; i < lost.size(); ++i) {
      spoil(shards[i], stripe_.shard_bytes);
      spoil(stripe_.rebuilt[i], stripe_.shard_bytes);
    }
    const bool is_good = run(call);
    std::string wrong = difference("rebuilt shard", originals, stripe_.rebuilt);
    for (std::size_t i = 0; i < lost.size(); ++i)
      std::memcpy(shards[i], originals[i].data(), stripe_.shard_bytes);
    if (!is_good) wrong = "the call reported an error";
    if (wrong.empty()) return {};
    return fmt::format("lost {}: {}", fmt::join(lost, ","), wrong);
  }

  // Updated parity must equal the parity of the new data.
  std::string update(ChangeForm form) const {
    const Call call = coder_.update_call(stripes_, form);
    if (!call) return {};
    std::byte* const data = stripe_.shards[changed_shard];
    std::byte* const given = stripe_.rebuilt[0];
    const std::vector<Bytes> original = copies_of({&data, 1}, stripe_.shard_bytes);
    Bytes changed(stripe_.shard_bytes);
    fill_random(changed, 99);
    for (std::size_t i = 0; i < changed.size(); ++i)
      given[i] = form == ChangeForm::delta ? changed[i] ^ data[i] : changed[i];
    if (!run(call)) return "update reported an error";
    const std::vector<Bytes> updated = copies_of(stripe_.parity(), stripe_.shard_bytes);
    std::memcpy(data, changed.data(), changed.size());
    std::string wrong = encode();
    if (wrong.empty()) wrong = difference("updated parity", updated, stripe_.parity());
    std::memcpy(data, original[0].data(), changed.size());
    if (wrong.empty()) return encode();
    return fmt::format("{}; differs from an encode of the new data", wrong);
  }

  std::string batch() const {
    const auto parity_of = [&](std::size_t stripe) { return stripes_.view(stripe).parity(); };
    for (std::size_t i = 0; i < stripes_.count(); ++i) {
      stripes_.fill_data(i, i + 1);
      for (std::byte* shard : parity_of(i))
        spoil(shard, stripe_.shard_bytes);
    }
    if (!run(coder_.batch_call(stripes_))) return "batch reported an error";
    const Call encode_call = coder_.encode_call(stripes_);
    stripes_.rewind();
    for (std::size_t i = 0; i < stripes_.count(); ++i) {
      const std::vector<Bytes> parity = copies_of(parity_of(i), stripe_.shard_bytes);
      if (!encode_call()) return "encode reported an error";
      const std::string wrong = difference("parity", parity, parity_of(i));
      if (!wrong.empty()) return fmt::format("stripe {} of a batch: {}", i, wrong);
    }
    return {};
  }

  std::string all(const CheckRequest& request) const {
    for (const std::vector<ShardIndex>& lost : request.losses) {
      auto call = coder_.decode_call(stripes_, lost);
      if (!call) return call.error().message;
      if (std::string wrong = decode(lost, *call); !wrong.empty()) return wrong;
    }
    if (request.fresh != nullptr) {
      const Call call = coder_.fresh_decode_call(stripes_, PatternTurn(request.fresh));
      const std::size_t count = call ? std::min(fresh_patterns_checked, request.fresh->size()) : 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (std::string wrong = decode((*request.fresh)[i], call); !wrong.empty()) return wrong;
      }
    }
    for (const ChangeForm form : request.changes) {
      if (std::string wrong = update(form); !wrong.empty()) return wrong;
    }
    return request.has_batch ? batch() : std::string();
  }

 private:
  // Always use the first stripe, whichever one is next in turn.
  bool run(const Call& call) const {
    stripes_.rewind();
    return call();
  }

  const StripeBuffers& stripes_;
  StripeView stripe_;
  const Coder& coder_;
};

std::string describe(const NamedCoder& coder, const StripeView& stripe) {
  return fmt::format("{} ({}) {}+{} with {} byte shards", coder.name, coder.coder->method(),
                     stripe.shape.data_shards, stripe.shape.parity_shards, stripe.shard_bytes);
}

}  // namespace

Status check_coders(const StripeBuffers& stripes, std::span<const NamedCoder> coders,
                    const CheckRequest& request) {
  const StripeView stripe = stripes.view();
  std::vector<Bytes> profile_parity;
  for (const NamedCoder& coder : coders) {
    const CoderCheck check(stripes, *coder.coder);
    std::string wrong = check.encode();
    if (profile_parity.empty()) {
      profile_parity = copies_of(stripe.parity(), stripe.shard_bytes);
    } else if (wrong.empty() && coder.coder->writes_profile_bytes()) {
      wrong = difference("parity", profile_parity, stripe.parity());
      if (!wrong.empty()) wrong += fmt::format(" (as written by {})", coders.front().name);
    }
    if (wrong.empty()) wrong = check.all(request);
    if (!wrong.empty())
      return Error{ErrorCode::corrupt, fmt::format("{}: {}", describe(coder, stripe), wrong)};
  }
  return Done{};
}

}  // namespace calpe::bench
