// SPDX-License-Identifier: Apache-2.0
// What every erasure coder looks like to the harness: Calpe itself and each peer library.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "bench/harness/patterns.hpp"
#include "bench/harness/stripe.hpp"

namespace calpe::bench {

// One operation on one stripe with everything prepared: pointers in the form the library wants,
// tables made. False: the library reported an error. Empty: the library has no such operation.
using Call = std::function<bool()>;

// What the caller of a partial update has in hand.
enum class ChangeForm : std::uint8_t {
  old_and_new,  // both versions of the data shard
  delta,        // their XOR
};
// An update changes data shard 0 from shards[0] to rebuilt[0]; the delta, if given, is rebuilt[0].
inline constexpr ShardIndex changed_shard = 0;

// One way of coding one shape and shard length. Calls take the stripes in turn, hold what they need
// of the coder and may outlive it; those of different buffers may run on different threads.
class Coder {
 public:
  virtual ~Coder() = default;

  // "reed_sol_van w=8", or the path that was chosen: "cpu:avx512-gfni".
  virtual std::string_view method() const noexcept = 0;
  // The parity bytes are those of the profile that was asked for, so they can be compared.
  virtual bool writes_profile_bytes() const noexcept = 0;

  virtual Call encode_call(const StripeBuffers& stripes) const = 0;

  // Encodes every stripe; one by one unless the library knows better.
  virtual Call batch_call(const StripeBuffers& stripes) const {
    return [call = encode_call(stripes), count = stripes.count()] {
      bool is_good = true;
      for (std::size_t i = 0; i < count; ++i)
        is_good &= call();
      return is_good;
    };
  }

  // Rebuilds data shards `lost` (ascending, at most m) with tables prepared for that pattern.
  virtual Result<Call> decode_call(const StripeBuffers& stripes,
                                   std::span<const ShardIndex> lost) const = 0;

  // Rebuilds another pattern with each call, tables and all; must not remember earlier patterns.
  virtual Call fresh_decode_call(const StripeBuffers& /*stripes*/, PatternTurn /*patterns*/) const {
    return {};
  }

  // Brings all parity shards up to date in place.
  virtual Call update_call(const StripeBuffers& /*stripes*/, ChangeForm /*form*/) const {
    return {};
  }

  // False: tables cannot be made apart from the data, and `plan` cannot be timed.
  virtual bool has_tables() const noexcept { return true; }
  // Does what the first decode of an unseen pattern has to do before it can touch data, and
  // forgets the result; this is what the operation `plan` times.
  virtual Status make_tables(std::span<const ShardIndex> lost) const = 0;
};

// What to prepare a coder for.
struct CoderRequest {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::string_view profile;  // "cauchy"
};

// A library to compare with, opened at run time and never linked.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string_view library() const noexcept = 0;  // path of the file that was loaded
  virtual std::string_view version() const noexcept = 0;  // empty when it cannot be told

  // The techniques that this library has for the request; all are measured and the best one
  // counts. Empty when it has none: a shape beyond its limits is no error.
  virtual std::vector<std::unique_ptr<Coder>> prepare(const CoderRequest& request) const = 0;
};

}  // namespace calpe::bench
