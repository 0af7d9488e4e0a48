// SPDX-License-Identifier: Apache-2.0
// Replaces a member that is in without losing redundancy. A spare becomes its successor: it gets
// all writes of the member (Roster), and a copy of its chunks, in the order of their slots
// (stripe_sweep.hpp). When it has everything, one superblock makes it the member. Until then the
// old member serves as before.
//
// Chunks are verified, or decoded from the other members. Their pages of checksums become dirty, so
// that checkpoints write all of them to the successor.
//
// Locks: as a step of Rebuild, which does not run at the same time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "array/core/chunk_writer.hpp"
#include "array/core/log.hpp"
#include "array/core/rebuild.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/core/stripe_sweep.hpp"

namespace calpe::array {

class MemberCopy final : private SweepWork {
 public:
  MemberCopy(SharedState& shared, Log& log, StripeLoader& loader, Rebuild& rebuild);

  // Like Array::rebuild_step(); complete if no member has a successor. Fails with io if the
  // successor failed; it is no longer one then.
  Result<RebuildProgress> step(std::uint64_t bytes, Progress progress);

 private:
  bool want(SweptStripe& one) override;
  bool decodes() const override { return false; }  // only if a block is wrong, alone
  bool writes() const override { return true; }
  bool compute(SweptStripe& /*one*/) override { return true; }
  void add_writes(SweptStripe& one, std::vector<MemberRequest>& to_roles,
                  std::vector<MemberRequest>& to_successor) override;
  Status end_writes(std::span<SweptStripe* const> written) override;
  Status do_alone(std::uint64_t stripe) override;
  SuccessorAt successor() const override { return to_; }

  bool is_there() const;
  void begin(const SuccessorAt& to);
  Status take_over(Log::Locked& log);
  Status make_durable();

  const MemberLayout& layout_;
  Roster& roster_;
  ChecksumTable& table_;
  BufferStock& stock_;
  Stripes& stripes_;
  Log& log_;
  StripeLoader& loader_;
  Rebuild& rebuild_;
  // Guarded by Rebuild::pause():
  ChunkWriter chunks_;
  StripeSweep sweep_;
  SuccessorAt to_ = {};
  std::uint64_t copies_begun_ = 0;         // Roster::copies_begun() when the sweep began
  std::uint64_t stripes_not_durable_ = 0;  // copied since the last superblock
};

}  // namespace calpe::array
