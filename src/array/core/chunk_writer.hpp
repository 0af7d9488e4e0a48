// SPDX-License-Identifier: Apache-2.0
// Chunks of a stripe that a rebuild or a copy makes: marks what it needs, and writes them.
//
// Locks: none. The caller holds the exclusive lock of the stripe, except in compute_checks().
#pragma once
#include <cstdint>
#include <vector>

#include "array/core/shared_state.hpp"

namespace calpe::array {

class ChunkWriter {
 public:
  explicit ChunkWriter(SharedState& shared)
      : layout_(shared.layout), check_(shared.check), table_(shared.table) {}

  // The chunks of these roles are needed.
  void want(const StripeAt& at, std::uint64_t roles, StripeBuffer& buffer) const;
  // Sets buffer.checks; a block that is lost gets no checksum, so that reading it fails.
  void compute_checks(const StripeAt& at, std::uint64_t roles, StripeBuffer& buffer) const;
  // Appends requests to write them.
  void add_writes(const StripeAt& at, std::uint64_t roles, StripeBuffer& buffer,
                  std::vector<MemberRequest>& to) const;
  // Enters the checksums in the table. Needs the commit lock.
  void set_checks(const StripeAt& at, std::uint64_t roles, const StripeBuffer& buffer) const;

 private:
  const MemberLayout& layout_;
  const BlockCheck& check_;
  ChecksumTable& table_;
};

}  // namespace calpe::array
