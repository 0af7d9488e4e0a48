// SPDX-License-Identifier: Apache-2.0
// Replaces a member that is in without losing redundancy. A spare becomes its successor: it gets
// all writes of the member (Roster), and a copy of its chunks in steps. When it has everything, one
// superblock makes it the member. Until then the old member serves as before.
//
// Chunks are verified, or decoded from the other members. Their checksums go through the log again,
// so that checkpoints write all pages of checksums to the successor.
//
// Locks: as a step of Rebuild, which does not run at the same time.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "array/core/log.hpp"
#include "array/core/rebuild.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"

namespace calpe::array {

class MemberCopy {
 public:
  MemberCopy(SharedState& shared, Log& log, StripeLoader& loader, Rebuild& rebuild);

  // Like Array::rebuild_step(); complete if no member has a successor. Fails with io if the
  // successor failed; it is no longer one then.
  Result<RebuildProgress> step(std::uint64_t bytes);

 private:
  Status copy_stripes(const SuccessorAt& to, std::uint64_t first, std::uint64_t end,
                      std::uint64_t& bytes_read);
  Status finish_step(const SuccessorAt& to, std::uint64_t watermark, RebuildProgress& progress);
  Status take_over(Log::Locked& log, const SuccessorAt& to);

  SharedState& shared_;
  const MemberLayout& layout_;
  Roster& roster_;
  Stripes& stripes_;
  Log& log_;
  StripeLoader& loader_;
  Rebuild& rebuild_;
};

}  // namespace calpe::array
