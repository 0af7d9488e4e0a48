// SPDX-License-Identifier: Apache-2.0
// Chunks of several stripes that a rebuild or a copy of a member makes: read or decoded together,
// written together, and committed together.
//
// Locks: none. The caller holds the exclusive locks of the stripes, and not Log::Locked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <calpe/result.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"

namespace calpe::array {

class ChunkGroup {
 public:
  ChunkGroup(SharedState& shared, Log& log, StripeLoader& loader);

  // Stripes of one group: other users of them wait, and each needs a buffer.
  static std::uint64_t stripes_most(const MemberLayout& layout) noexcept;

  // Adds the chunks of these roles of a stripe, which must have a slot.
  void add(const StripeAt& at, std::uint64_t roles);
  std::size_t stripe_count() const noexcept { return stripes_.size(); }

  // Reads or decodes the chunks. A lost block is no error: it gets no checksum, so that reading it
  // fails.
  Status load();
  // Computes the checksums. Returns the requests that write the chunks to the members in the roles;
  // their bytes belong to the group.
  std::vector<MemberRequest> writes();
  // Adds the checksums to the pending batch of the log.
  Status put_checksums();

 private:
  struct StripeOfGroup {
    StripeAt at;
    std::uint64_t roles = 0;
    BufferStock::Lease buffer;
    std::vector<std::uint64_t> checks = {};  // of the chunks, by role
  };

  const MemberLayout& layout_;
  const BlockCheck& check_;
  BufferStock& stock_;
  Log& log_;
  StripeLoader& loader_;
  std::vector<StripeOfGroup> stripes_;
};

}  // namespace calpe::array
