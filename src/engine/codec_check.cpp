// SPDX-License-Identifier: Apache-2.0
// verify and locate: tell whether a stripe is consistent, and if not, which shards are wrong.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/stripe_match.hpp"
#include "engine/syndromes.hpp"
#include "plan/error_locator.hpp"

namespace calpe {

namespace {

// Scans word by word without an early exit, as most stripes are consistent.
bool any_set(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + sizeof sum <= bytes.size(); i += sizeof sum) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum |= word;
  }
  for (; i < bytes.size(); ++i)
    sum |= std::to_integer<std::uint64_t>(bytes[i]);
  return sum != 0;
}

// Returns the first column of symbols that is not all zero, one symbol per check, or nullopt.
std::optional<std::vector<gf::Element>> first_bad_column(const engine::SyndromeBlock& block,
                                                         Layout layout) {
  bool sound = true;
  for (std::size_t i = 0; i < block.checks.size(); ++i)
    sound = sound && !any_set(block.of(i));
  for (std::size_t c = 0; !sound && c < block.columns; ++c) {
    unsigned bits = 0;  // set in this byte of any unit of any check
    for (const std::byte* check : block.checks) {
      for (std::size_t u = 0; u < block.unit_count; ++u) {
        bits |= std::to_integer<unsigned>(check[u * block.columns + c]);
      }
    }
    if (bits == 0) continue;
    std::vector<gf::Element> symbols;
    unsigned bit = 0;  // with packets, a byte column holds eight symbols
    while (layout == Layout::packets && (bits >> bit & 1) == 0)
      ++bit;
    for (const std::byte* check : block.checks) {
      unsigned symbol = 0;
      for (std::size_t u = 0; u < block.unit_count; ++u) {
        const auto byte = std::to_integer<unsigned>(check[u * block.columns + c]);
        symbol |= layout == Layout::bytes ? byte << 8 * u : (byte >> bit & 1) << u;
      }
      symbols.push_back(static_cast<gf::Element>(symbol));
    }
    return symbols;
  }
  return std::nullopt;
}

Error ambiguous() {
  return {ErrorCode::ambiguous, "too many shards are wrong to tell which ones"};
}

}  // namespace

// The short way to an answer for nearly all stripes. Returns false if it does not know.
bool Codec::Impl::is_intact(const Plan::Impl& plan, std::span<const ConstShard> data,
                            std::span<const ConstShard> parity) const {
  if (!engine::is_flat(spec())) return false;
  ShortArray<const std::byte*> inputs(data.size());
  ShortArray<const std::byte*> stored(parity.size());
  const std::size_t bytes = data.front().size();
  bool has_length = bytes <= engine::shard_bytes_max;
  const auto take = [&](std::span<const ConstShard> shards, const std::byte** to) {
    for (const ConstShard& shard : shards) {
      has_length = has_length && shard.size() == bytes;
      *to++ = shard.data();
    }
  };
  take(data, inputs.data());
  take(parity, stored.data());
  return has_length && engine::matches(*plan.device, plan.task(), inputs.data(), stored.data(),
                                       bytes) == std::optional(true);
}

Result<std::vector<ShardIndex>> Codec::verify(std::span<const ConstShard> data,
                                              std::span<const ConstShard> parity) const {
  return guarded([&]() -> Result<std::vector<ShardIndex>> {
    if (!impl_) return moved_from();
    const std::size_t k = impl_->code.data_shards();
    const std::size_t m = impl_->code.parity_shards();
    CALPE_CHECK(engine::check_count({"data"}, data.size(), k));
    CALPE_CHECK(engine::check_count({"parity"}, parity.size(), m));
    const Plan::Impl& plan = *impl_->encode_plan->impl_;
    if (impl_->is_intact(plan, data, parity)) return std::vector<ShardIndex>();
    return impl_->wrong_parity(plan, data, parity);
  });
}

// Not inlined: it has 64 KiB on the stack, and so has is_intact() on its way.
[[gnu::noinline]] Result<std::vector<ShardIndex>> Codec::Impl::wrong_parity(
    const Plan::Impl& plan, std::span<const ConstShard> data,
    std::span<const ConstShard> parity) const {
  std::vector<ConstShard> shards(data.begin(), data.end());
  shards.insert(shards.end(), parity.begin(), parity.end());
  CALPE_TRY(const engine::ShardLengths lengths, check_whole_stripe(shards, {}, "data", "parity"));

  std::vector<bool> is_wrong(parity.size());
  engine::SyndromeScan scan(spec(), *plan.device, plan.task(), shards, lengths);
  CALPE_CHECK(scan.run({}, [&](const engine::SyndromeBlock& block, engine::SyndromePosition) {
    for (std::size_t i = 0; i < parity.size(); ++i) {
      if (!is_wrong[i] && any_set(block.of(i))) is_wrong[i] = true;
    }
    return std::ranges::find(is_wrong, false) != is_wrong.end();
  }));
  std::vector<ShardIndex> wrong;
  for (std::size_t i = 0; i < parity.size(); ++i) {
    if (is_wrong[i]) wrong.push_back(static_cast<ShardIndex>(data.size() + i));
  }
  return wrong;
}

Result<engine::ShardLengths> Codec::Impl::check_whole_stripe(std::span<const ConstShard> shards,
                                                             std::span<const ShardIndex> missing,
                                                             const char* data,
                                                             const char* parity) const {
  const std::size_t data_shards = code.data_shards();
  const bool is_one_list = std::string_view(data) == parity;
  engine::LengthCheck check(spec());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto shard = static_cast<ShardIndex>(i);
    if (std::ranges::binary_search(missing, shard)) continue;
    const bool is_second = !is_one_list && i >= data_shards;
    CALPE_CHECK(
        check.see(shard, shards[i].size(),
                  {.list = {is_second ? parity : data}, .index = is_second ? i - data_shards : i}));
  }
  return check.finish();
}

Result<std::vector<ShardIndex>> Codec::locate(std::span<const ConstShard> shards,
                                              std::span<const ShardIndex> missing) const {
  return guarded([&]() -> Result<std::vector<ShardIndex>> {
    if (!impl_) return moved_from();
    const code::Code& code = impl_->code;
    if (shards.size() != code.shards()) {
      return invalid("shards has ", shards.size(), " entries; expected ", code.shards());
    }
    CALPE_TRY(std::vector<ShardIndex> excluded,
              plan::sorted_indices(missing, code.shards(), "missing"));
    CALPE_TRY(const engine::ShardLengths lengths,
              impl_->check_whole_stripe(shards, excluded, "shards", "shards"));
    const std::size_t absent = excluded.size();
    std::vector<ShardIndex> wrong;
    engine::SyndromePosition position;
    // Each round finds the first column that the shards found so far do not explain, adds shards,
    // and continues without them. Columns that were clean stay clean. At most losses/2 + 1 rounds.
    for (;;) {
      CALPE_TRY(const plan::ErrorLocator locator,
                plan::ErrorLocator::create(impl_->planner, excluded));
      CALPE_TRY(const auto plan, impl_->compile(locator.prediction()));
      std::optional<std::vector<gf::Element>> symbols;
      engine::SyndromeScan scan(code.spec, *plan->device, plan->task(), shards, lengths);
      CALPE_CHECK(
          scan.run(position, [&](const engine::SyndromeBlock& block, engine::SyndromePosition at) {
            symbols = first_bad_column(block, code.spec.layout);
            position = at;
            return !symbols;
          }));
      if (!symbols) break;
      const std::size_t used = absent + 2 * wrong.size();
      const std::size_t left = used < code.proof.losses ? (code.proof.losses - used) / 2 : 0;
      const auto found = locator.explain(*symbols, left);
      if (!found) return ambiguous();
      for (const ShardIndex shard : *found) {
        wrong.push_back(shard);
        excluded.push_back(shard);
      }
      std::ranges::sort(excluded);
    }
    std::ranges::sort(wrong);
    return wrong;
  });
}

}  // namespace calpe
