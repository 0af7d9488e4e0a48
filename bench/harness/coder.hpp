// SPDX-License-Identifier: Apache-2.0
// The interface of every erasure coder in the harness: Calpe and each peer library.
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

// One operation on one stripe, with pointers and tables prepared. Returns false if the library
// reports an error. Empty if the library lacks the operation.
using Call = std::function<bool()>;

// Input of a partial update.
enum class ChangeForm : std::uint8_t {
  old_and_new,  // both versions of the data shard
  delta,        // their XOR
};
// An update changes data shard 0 from shards[0] to rebuilt[0]; the delta, if given, is rebuilt[0].
inline constexpr ShardIndex changed_shard = 0;

// One technique for one shape and shard length. Calls take the stripes in turn, share ownership of
// what they need and may outlive the coder. Calls on different buffers may run on different
// threads.
class Coder {
 public:
  virtual ~Coder() = default;

  // "reed_sol_van w=8", or the chosen path: "cpu:avx512-gfni".
  virtual std::string_view method() const noexcept = 0;
  // True if the parity bytes are those of the requested profile and can be compared.
  virtual bool writes_profile_bytes() const noexcept = 0;

  virtual Call encode_call(const StripeBuffers& stripes) const = 0;

  // Encodes every stripe, one by one unless the library has a batch call.
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

  // Rebuilds a new pattern in each call, including its tables; must not cache earlier patterns.
  virtual Call fresh_decode_call(const StripeBuffers& /*stripes*/, PatternTurn /*patterns*/) const {
    return {};
  }

  // Updates all parity shards in place.
  virtual Call update_call(const StripeBuffers& /*stripes*/, ChangeForm /*form*/) const {
    return {};
  }

  // False if tables cannot be made without data; then `plan` cannot be timed.
  virtual bool has_tables() const noexcept { return true; }
  // Does all work of a first decode of an unseen pattern before it touches data, and discards the
  // result. The operation `plan` times this.
  virtual Status make_tables(std::span<const ShardIndex> lost) const = 0;
};

// What to prepare a coder for.
struct CoderRequest {
  Shape shape;
  std::size_t shard_bytes = 0;
  std::string_view profile;  // "cauchy"
};

// A library to compare with, opened at run time, not linked.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string_view library() const noexcept = 0;  // path of the loaded file
  virtual std::string_view version() const noexcept = 0;  // empty if unknown

  // The library's techniques for the request; all are measured and the best one counts. Empty if
  // it has none: an unsupported shape is not an error.
  virtual std::vector<std::unique_ptr<Coder>> prepare(const CoderRequest& request) const = 0;
};

}  // namespace calpe::bench
