// SPDX-License-Identifier: Apache-2.0
// Reads the data of whole stripes in content order, checks it and rebuilds it where needed.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "base/thread_pool.hpp"
#include "store/read/open_set.hpp"
#include "store/read/stripe_coder.hpp"

namespace calpe::store {

class StripeLoader {
 public:
  // `files` and `coder` must outlive this object. Throws when threads cannot be started.
  StripeLoader(const OpenSet& files, const StripeCoder& coder, unsigned jobs);

  std::size_t stripe_bytes() const noexcept { return stripe_bytes_; }
  // Fills `bytes` with stripe_count * stripe_bytes(). Adds unrecoverable stripes to `lost`; their
  // bytes are unspecified. Fails with corrupt when blocks contradict each other.
  Status load(const StripeRun& run, std::span<std::byte> bytes, StripeRanges& lost) const;
  std::uint64_t blocks_rebuilt() const noexcept { return blocks_rebuilt_; }  // by all loads

 private:
  struct Piece {
    StripeRun run;
    std::byte* bytes = nullptr;  // nullptr: not readable
    StripeRanges lost = {};
    std::optional<Error> error = {};
  };
  Status load_piece(Piece& piece) const;
  Status rebuild(Piece& piece, const StripeRun& bad, std::span<std::uint8_t> good) const;

  const OpenSet& files_;
  const StripeCoder& coder_;
  std::size_t stripe_bytes_;
  std::unique_ptr<ThreadPool> helpers_;
  mutable std::atomic<std::uint64_t> blocks_rebuilt_ = 0;
};

}  // namespace calpe::store
