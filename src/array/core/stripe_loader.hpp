// SPDX-License-Identifier: Apache-2.0
// Loads blocks of stripes from memory or from their members, or decodes them. Repairs wrong blocks.
//
// Locks: none. The caller holds the locks of the stripes, and not Log::Locked once the log can be
// appended to, as a repair may commit.
#pragma once
#include <cstdint>
#include <span>

#include "array/core/block_repair.hpp"
#include "array/core/block_source.hpp"
#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_decoder.hpp"

namespace calpe::array {

// One of several stripes that are loaded together.
struct StripeLoad {
  StripeAt at;
  StripeBuffer* buffer = nullptr;
  std::uint64_t having = 0;  // roles with the current contents of the stripe
  Status result = Done{};    // out
};

class StripeLoader {
 public:
  StripeLoader(SharedState& shared, Log& log);

  // Loads the blocks that buffer.needs requests. Fails with corrupt if a column has too few good
  // blocks. Wrong blocks are rewritten; the next commit makes them durable.
  Status load(const StripeAt& at, StripeBuffer& buffer);
  // The same for several stripes, whose blocks are read together. Each has its own result.
  void load_all(std::span<StripeLoad> loads);

  // --- in two halves, so that the caller can do other work while members read -------------------
  // Sets `having`, and makes buffer.requests, which the caller runs while it holds the lock of the
  // stripe. Marks k blocks of each column as needed if `decodes`.
  void begin(StripeLoad& load, bool decodes);
  // Verifies and decodes. Needs no lock. Returns false if that needs load() instead: a block is
  // wrong or missing.
  bool end(StripeLoad& load);
  std::uint64_t blocks_unreadable() const noexcept { return decoder_.blocks_unreadable(); }

 private:
  void request_chunk(const StripeAt& at, StripeBuffer& buffer, unsigned shard);
  bool is_right(const StripeAt& at, const MemberRequest& request, StripeBuffer& buffer) const;
  void read_blocks(std::span<StripeLoad> loads);
  void request_blocks(const StripeAt& at, StripeBuffer& buffer, std::uint64_t having);
  void run_requests(std::span<StripeLoad> loads);
  void verify(const StripeAt& at, StripeBuffer& buffer);
  bool ask_for_more(StripeBuffer& buffer, std::uint64_t having_shards);

  const MemberLayout& layout_;
  const BlockCheck& check_;
  Roster& roster_;
  BlockSource source_;
  StripeDecoder decoder_;
  BlockRepair repair_;
};

}  // namespace calpe::array
