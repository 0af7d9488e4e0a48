// SPDX-License-Identifier: Apache-2.0
// A batch of stripes at regular distances in one buffer, which can be in host or device memory.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "calpe/devices/trial_bytes.hpp"

namespace calpe::tools {

struct FlatShape {
  std::size_t stripes = 1;
  std::size_t shard_bytes = 0;  // of data and parity
  std::size_t gap_bytes = 0;    // between shards
  std::size_t first_at = 0;     // offset of the first shard
};

class FlatBatch {
 public:
  // The operation of the plan; shards that it does not use have a place, too.
  FlatBatch(const Codec& codec, const Plan& plan, const FlatShape& shape);

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t data_bytes() const noexcept;  // k shards of every stripe
  // Pseudo-random bytes, the same in every run.
  TrialBytes make_content() const;
  // Runs the plan on all stripes in `memory`, which has at least bytes() bytes. If the device may
  // still write there after an error, TrialBytes are kept.
  Status run(const Codec& codec, const Plan& plan, Shard memory) const;
  Result<Pending> submit(const Codec& codec, const Plan& plan, Shard memory) const;

 private:
  struct Views {
    std::vector<ConstShard> inputs = {};
    std::vector<Shard> outputs = {};
    std::vector<Stripe> stripes = {};
  };
  Views views(const Plan& plan, Shard memory) const;

  FlatShape shape_;
  std::size_t shards_;
  std::size_t data_shards_;
  std::size_t bytes_;
};

}  // namespace calpe::tools
