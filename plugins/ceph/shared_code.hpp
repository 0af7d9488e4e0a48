// SPDX-License-Identifier: Apache-2.0
// A codec and a cache of its plans. A daemon creates one erasure code per placement group; codes
// with equal settings share one of these.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <shared_mutex>
#include <unordered_map>

#include <calpe/calpe.h>

#include "ceph/settings.hpp"

namespace calpe_ceph {

// Bit i stands for shard i.
using ShardMask = std::uint32_t;
static_assert(shards_max <= 32);

// Returns the mask of shards 0 to count - 1.
constexpr ShardMask first_shards(unsigned count) {
  return static_cast<ShardMask>((std::uint64_t{1} << count) - 1);
}

// A plan with the shards that it reads and writes, ascending.
class Plan {
 public:
  explicit Plan(calpe_plan* handle) noexcept;
  ~Plan() { calpe_plan_destroy(handle_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const calpe_plan* handle() const noexcept { return handle_; }
  std::size_t read_count() const noexcept { return read_count_; }
  std::size_t write_count() const noexcept { return write_count_; }
  unsigned read(std::size_t i) const noexcept { return reads_[i]; }
  unsigned write(std::size_t i) const noexcept { return writes_[i]; }
  ShardMask read_mask() const noexcept { return read_mask_; }

 private:
  calpe_plan* handle_;
  std::array<std::uint16_t, shards_max> reads_{};
  std::array<std::uint16_t, shards_max> writes_{};
  std::size_t read_count_, write_count_;
  ShardMask read_mask_ = 0;
};

class SharedCode {
 public:
  // Returns NULL, with the reason in `errors`, if the settings are not a valid code. Replaces a
  // backend that this host lacks by "auto": the monitor accepted the profile for the whole cluster,
  // and a daemon that refused it would not start.
  static std::shared_ptr<SharedCode> get(const Settings& settings, std::ostream& errors);

  ~SharedCode() { calpe_codec_destroy(codec_); }
  SharedCode(const SharedCode&) = delete;
  SharedCode& operator=(const SharedCode&) = delete;

  const calpe_codec* codec() const noexcept { return codec_; }
  const calpe_spec& spec() const noexcept { return spec_; }

  // Returns whether any data_shards shards suffice to rebuild the others.
  bool is_mds() const noexcept { return is_mds_; }

  // Returns a plan for the wanted shards that are not available. It reads as few shards as possible
  // besides the wanted ones. NULL if that is impossible or nothing is to be rebuilt.
  std::shared_ptr<const Plan> find_plan(ShardMask available, ShardMask wanted);

  // The same with a cost for each shard; not cached.
  std::shared_ptr<const Plan> make_plan(ShardMask available, ShardMask lost,
                                        const std::array<std::uint32_t, shards_max>& costs) const;

  // Returns a plan for what the given data shards contribute to the given parity shards. Without
  // the other data shards the result is parity as if they were zeros; added (XOR) to parity, it
  // applies changes. NULL if they contribute nothing, which only happens to local parity. Throws if
  // it cannot plan: daemons have no way to handle that, and parity that does not match its data
  // would be worse than a daemon that stops.
  std::shared_ptr<const Plan> find_contribution(ShardMask data, ShardMask parity);

 private:
  explicit SharedCode(calpe_codec* codec) noexcept;

  // Two masks of shards, which mean something else in each of the caches.
  using PlanCache = std::unordered_map<std::uint64_t, std::shared_ptr<const Plan>>;
  template <class Make>
  std::shared_ptr<const Plan> find_or_make(PlanCache& plans, ShardMask from, ShardMask to,
                                           Make make);
  calpe_plan* plan_contribution(ShardMask data, ShardMask parity) const;

  calpe_codec* codec_;
  calpe_spec spec_;
  bool is_mds_;
  std::shared_mutex mutex_;
  PlanCache rebuilds_, contributions_;
};

}  // namespace calpe_ceph
