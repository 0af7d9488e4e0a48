// SPDX-License-Identifier: Apache-2.0
// Reads any range: one request per run of blocks, directly into the caller's memory, then verifies.
// A stripe that needs decoding goes through StripeLoader.
//
// Locks: none. Takes shared locks of the stripes that it reads, up to 32 at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "array/core/block_source.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/state/stripe_range.hpp"

namespace calpe::array {

class Reader {
 public:
  Reader(SharedState& shared, StripeLoader& loader);

  // Like Array::read() and Array::extents().
  Status read(std::uint64_t offset, std::span<std::byte> bytes);
  Result<std::vector<Extent>> extents(std::uint64_t offset, std::uint64_t length);

 private:
  struct Piece;
  struct Call;
  Status read_group(std::uint64_t offset, std::span<std::byte> bytes);
  void add_pieces(Call& call, const StripeAt& at, const StripePart& part, std::byte* to);
  void add_piece(Call& call, const Piece& piece, std::uint32_t count);
  void run_pieces(Call& call);
  Status read_slowly(const StripeAt& at, const StripePart& part, std::byte* to);

  const Settings& settings_;
  const MemberLayout& layout_;
  const BlockCheck& check_;
  Roster& roster_;
  ChecksumTable& table_;
  BufferStock& stock_;
  Stripes& stripes_;
  Overlay& overlay_;
  StripeLoader& loader_;
  BlockSource source_;
};

}  // namespace calpe::array
