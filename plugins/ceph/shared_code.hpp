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

  // Returns a plan for the wanted shards that are not available. It reads as few shards as possible
  // besides the wanted ones. NULL if that is impossible or nothing is to be rebuilt.
  std::shared_ptr<const Plan> find_plan(ShardMask available, ShardMask wanted);

  // The same with a cost for each shard; not cached.
  std::shared_ptr<const Plan> make_plan(ShardMask available, ShardMask lost,
                                        const std::array<std::uint32_t, shards_max>& costs) const;

 private:
  explicit SharedCode(calpe_codec* codec) noexcept;

  calpe_codec* codec_;
  calpe_spec spec_;
  std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Plan>> plans_;
};

}  // namespace calpe_ceph
