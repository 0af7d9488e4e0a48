// SPDX-License-Identifier: Apache-2.0
#include "ceph/shared_code.hpp"

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>

namespace calpe_ceph {

namespace {

// Exceeds the number of patterns of up to two losses for 20 shards. With more patterns, plans are
// recreated, which takes a few microseconds each.
constexpr std::size_t plans_max = 1024;

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                       std::uint32_t, std::string>;

Key key_of(const Settings& settings) {
  const calpe_spec& spec = settings.spec;
  return {spec.family,       spec.layout,       spec.data_shards, spec.parity_shards,
          spec.packet_bytes, spec.local_groups, settings.backend};
}

calpe_codec* create_codec(const Settings& settings, std::ostream& errors) {
  calpe_options options = {};
  options.struct_size = sizeof options;
  options.backend = settings.backend.c_str();
  options.plan_cache_entries = UINT32_MAX;  // SharedCode keeps the plans, with a cheaper key
  calpe_codec* codec = nullptr;
  calpe_error error = {};
  calpe_status status = calpe_codec_create(&settings.spec, &options, &codec, &error);
  if (status == CALPE_ERROR_BACKEND_UNAVAILABLE) {
    errors << "backend " << settings.backend
           << " is not available on this host; using auto instead: " << error.message << std::endl;
    options.backend = "auto";
    status = calpe_codec_create(&settings.spec, &options, &codec, &error);
  }
  if (status != CALPE_OK) errors << error.message << std::endl;
  return codec;
}

}  // namespace

Plan::Plan(calpe_plan* handle) noexcept
    : handle_(handle),
      read_count_(calpe_plan_reads(handle, reads_.data(), reads_.size())),
      write_count_(calpe_plan_writes(handle, writes_.data(), writes_.size())) {
  for (std::size_t i = 0; i < read_count_; ++i)
    read_mask_ |= ShardMask{1} << reads_[i];
}

SharedCode::SharedCode(calpe_codec* codec) noexcept : codec_(codec), spec_{} {
  spec_.struct_size = sizeof spec_;
  calpe_codec_spec(codec, &spec_);
  calpe_proof proof = CALPE_PROOF_INIT;
  calpe_codec_proof(codec, &proof);
  is_mds_ = proof.losses == spec_.parity_shards;
}

std::shared_ptr<SharedCode> SharedCode::get(const Settings& settings, std::ostream& errors) {
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<SharedCode>> codes;
  const std::lock_guard lock(mutex);
  std::weak_ptr<SharedCode>& known = codes[key_of(settings)];
  if (std::shared_ptr<SharedCode> code = known.lock()) return code;
  calpe_codec* const codec = create_codec(settings, errors);
  if (codec == nullptr) {
    codes.erase(key_of(settings));
    return nullptr;
  }
  std::shared_ptr<SharedCode> code(new SharedCode(codec));
  known = code;
  return code;
}

std::shared_ptr<const Plan> SharedCode::make_plan(
    ShardMask available, ShardMask lost, const std::array<std::uint32_t, shards_max>& costs) const {
  std::array<std::uint16_t, shards_max> from{};
  std::array<std::uint16_t, shards_max> to{};
  std::array<std::uint32_t, shards_max> prices{};
  std::size_t from_count = 0, to_count = 0;
  const unsigned shards = spec_.data_shards + spec_.parity_shards;
  for (std::uint16_t shard = 0; shard < shards; ++shard) {
    const ShardMask bit = ShardMask{1} << shard;
    if ((lost & bit) != 0) {
      to[to_count++] = shard;
    } else if ((available & bit) != 0) {
      prices[from_count] = costs[shard];
      from[from_count++] = shard;
    }
  }
  calpe_plan* handle = nullptr;
  if (calpe_plan_decode(codec_, from.data(), from_count, to.data(), to_count, prices.data(),
                        &handle, nullptr) != CALPE_OK) {
    return nullptr;
  }
  return std::make_shared<const Plan>(handle);
}

template <class Make>
std::shared_ptr<const Plan> SharedCode::find_or_make(PlanCache& plans, ShardMask from, ShardMask to,
                                                     Make make) {
  const std::uint64_t key = std::uint64_t{to} << 32 | from;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = plans.find(key); found != plans.end()) return found->second;
  }
  std::shared_ptr<const Plan> plan = make();
  if (plan == nullptr) return nullptr;
  const std::unique_lock lock(mutex_);
  if (plans.size() >= plans_max) plans.clear();  // plans in use stay alive
  plans.emplace(key, plan);
  return plan;
}

std::shared_ptr<const Plan> SharedCode::find_plan(ShardMask available, ShardMask wanted) {
  return find_or_make(rebuilds_, available, wanted, [&] {
    // Wanted and available shards are read anyway, so they have no extra cost.
    std::array<std::uint32_t, shards_max> costs{};
    for (std::size_t shard = 0; shard < costs.size(); ++shard)
      costs[shard] = (wanted >> shard & 1) != 0 ? 0 : 1;
    return make_plan(available, wanted & ~available, costs);
  });
}

calpe_plan* SharedCode::plan_contribution(ShardMask data, ShardMask parity) const {
  const std::shared_ptr<const Plan> whole =
      make_plan(first_shards(spec_.data_shards), parity, std::array<std::uint32_t, shards_max>{});
  if (whole == nullptr) throw std::runtime_error("calpe cannot plan the encoding of parity");
  std::array<std::uint16_t, shards_max> held{};
  std::size_t held_count = 0;
  // A local parity does not read all data.
  for (std::size_t i = 0; i < whole->read_count(); ++i) {
    if ((data >> whole->read(i) & 1) != 0) {
      held[held_count++] = static_cast<std::uint16_t>(whole->read(i));
    }
  }
  if (held_count == 0) return nullptr;
  calpe_plan* part = nullptr;
  calpe_error error = {};
  if (calpe_plan_partial(codec_, whole->handle(), held.data(), held_count, &part, &error) !=
      CALPE_OK) {
    throw std::runtime_error(error.message);
  }
  return part;
}

std::shared_ptr<const Plan> SharedCode::find_contribution(ShardMask data, ShardMask parity) {
  return find_or_make(contributions_, data, parity, [&]() -> std::shared_ptr<const Plan> {
    calpe_plan* const part = plan_contribution(data, parity);
    return part == nullptr ? nullptr : std::make_shared<const Plan>(part);
  });
}

}  // namespace calpe_ceph
