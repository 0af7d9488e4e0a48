// SPDX-License-Identifier: Apache-2.0
// An open array: its parts, and what the files of this folder do with them. Order of locks: gate,
// stripe, commit, then overlay, slots or a page of the table. Who commits takes no stripe's lock,
// so whoever has one may commit.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "array/format/block_check.hpp"
#include "array/format/index.hpp"
#include "array/format/members.hpp"
#include "array/format/superblock.hpp"
#include "array/state/batch.hpp"
#include "array/state/buffers.hpp"
#include "array/state/checksum_table.hpp"
#include "array/state/overlay.hpp"
#include "array/state/part_plan.hpp"
#include "array/state/roster.hpp"
#include "array/state/stripe_range.hpp"
#include "array/state/stripes.hpp"
#include "array/state/write_gate.hpp"
#include "base/try.hpp"

namespace calpe::array {

// One of several stripes that are loaded together, under the locks of all of them.
struct StripeLoad {
  StripeAt at;
  StripeBuffer* buffer = nullptr;
  std::uint64_t having = 0;  // roles that have the stripe as it is now
  Status result = Done{};    // out
};

class Core {
 public:
  Core(Members& members, const Superblock& newest, Codec codec, const OpenOptions& options);

  // --- reading.cpp, stripe_load.cpp -----------------------------------------------------------
  Status read(std::uint64_t offset, std::span<std::byte> bytes);
  // Makes the blocks that buffer.needs asks for good: from memory, a member, or by decoding. Wrong
  // blocks are rewritten; the next commit makes that durable. The caller has the stripe's lock, and
  // not the commit lock once the array is open. Fails with corrupt.
  Status load(const StripeAt& at, StripeBuffer& buffer);
  void load_all(std::span<StripeLoad> loads);
  // --- writing.cpp ------------------------------------------------------------------------------
  Status write(std::uint64_t offset, std::span<const std::byte> bytes);
  Status zero(std::uint64_t offset, std::uint64_t length);
  Status trim(std::uint64_t offset, std::uint64_t length);
  // --- commit.cpp, superblock_commit.cpp, checkpoint.cpp
  Status commit();
  Status checkpoint(bool is_closing = false);
  // --- rebuild.cpp, scrub.cpp -------------------------------------------------------------------
  Result<RebuildProgress> rebuild_step(std::uint64_t bytes);
  Result<ScrubProgress> scrub_step(std::uint64_t position, std::uint64_t bytes);
  // --- member_admin.cpp, status.cpp ------------------------------------------------------------
  Status fail(unsigned role);
  Status add(unsigned place);
  Status replace(unsigned role, unsigned place);
  Result<bool> take_spare();
  Status readd(unsigned role);
  Status grow(unsigned place, const CodeSpec& spec);
  ArrayStatus status();
  Result<std::vector<Extent>> extents(std::uint64_t offset, std::uint64_t length);
  // --- opening.cpp ------------------------------------------------------------------------------
  Status recover(bool is_somebody_missing);
  // --- lease_keeping.cpp ------------------------------------------------------------------------
  // Every live member has the newest superblock, with our lease in it, durably.
  Status claim_lease();
  Status renew_lease();
  // Several threads may use it from now on; renew_lease() is up to the caller.
  void end_opening() noexcept { is_opening_ = false; }
  Return returning(const Superblock& found, unsigned role);
  void set_diverged(std::uint64_t roles) noexcept { diverged_ = roles; }
  bool is_read_only() const noexcept { return options_.is_read_only; }

  const Settings& settings() const noexcept { return settings_; }
  const MemberLayout& layout() const noexcept { return layout_; }
  Roster& roster() noexcept { return roster_; }
  Index& index() noexcept { return index_; }

 private:
  friend class Recovery;

  // Puts a change to the pending batch, and commits when that is full. The caller has the stripe's
  // lock.
  template <class Change>
  Status put(const Change& change) {
    while (!roster_.is_failed()) {
      if (overlay_.put(change)) return Done{};
      CALPE_CHECK(commit());
    }
    return roster_.check();
  }

  using Source = Overlay::Block;
  Source source(const StripeAt& at, std::uint32_t column, unsigned role, std::byte* to);

  // stripe_load.cpp
  void read_blocks(std::span<StripeLoad> loads);
  void request_blocks(const StripeAt& at, StripeBuffer& buffer, std::uint64_t having);
  void run_requests(std::span<StripeLoad> loads);
  void verify(const StripeAt& at, StripeBuffer& buffer);
  bool ask_for_more(StripeBuffer& buffer, std::uint64_t having_shards);
  Status decode(const StripeAt& at, StripeBuffer& buffer);
  Status decode_run(const StripeAt& at, StripeBuffer& buffer, std::uint32_t first,
                    std::uint32_t count);
  void rewrite(const StripeAt& at, StripeBuffer& buffer);
  bool put_repaired(const StripeAt& at, unsigned role, std::uint32_t column, std::uint64_t check);
  std::uint64_t good_shards(const StripeBuffer& buffer, std::uint32_t column) const;

  // reading.cpp
  struct ReadPiece;
  struct ReadCall;
  void add_pieces(ReadCall& call, const StripeAt& at, const StripePart& part, std::byte* to);
  void add_piece(ReadCall& call, const ReadPiece& piece, std::uint32_t count);
  void run_pieces(ReadCall& call);
  Status read_group(std::uint64_t offset, std::span<std::byte> bytes);
  Status read_slowly(const StripeAt& at, const StripePart& part, std::byte* to);

  // writing.cpp
  Status write_stripe(std::uint64_t stripe, std::span<const std::byte> bytes);
  Status redirect(const StripeAt& at, std::span<const std::byte> bytes);
  Status write_part(const StripePart& part, const std::byte* bytes);
  Status write_zeros(const StripePart& part);
  Status make_hole(std::uint64_t stripe);
  template <class Rest>
  Status make_holes(std::uint64_t offset, std::uint64_t length, const Rest& rest);
  Result<std::uint32_t> take_slot();
  Status put_part(const PartPlan& plan, const StripeAt& at, StripeBuffer& now, bool is_new_slot);

  // commit.cpp; with the commit lock
  Status commit_locked();
  Status commit_batch();
  Status append(BatchHeader& header);
  void apply(const BatchHeader& header);
  void apply_slot(const LogRecord& record);
  void set_zeros(const LogRecord& record);
  void write_in_place();
  void touch(std::uint64_t stripe);
  void flush_live();

  // superblock_commit.cpp; with the commit lock
  Status settle_members();
  bool write_superblocks();
  Superblock superblock_of(unsigned role, const Uuid& uuid) const;

  // lease_keeping.cpp; with the commit lock
  Status check_lease();  // without the lock, too
  void guard_lease();    // before each request to members
  void write_lease();
  void begin_session();

  // checkpoint.cpp; with the commit lock
  Status checkpoint_locked();
  void write_tables(unsigned copy, const std::vector<ChecksumTable::Dirty>& pages);

  // rebuild.cpp
  Status rebuild_stripes(std::uint64_t first, std::uint64_t end, std::uint64_t roles,
                         std::uint64_t& bytes_read);
  struct RebuiltStripe;
  void add_rebuilt(std::uint64_t stripe, std::uint64_t roles, std::vector<RebuiltStripe>& group);
  Status rebuild_group(std::vector<RebuiltStripe>& group);
  Status put_rebuilt(const RebuiltStripe& stripe);

  // scrub.cpp
  Status scrub_stripe(std::uint64_t stripe, ScrubProgress& progress, CountByRole& rewritten);
  Status compare_parity(StripeBuffer& buffer, ScrubProgress& progress);
  Status harden(const CountByRole& rewritten, ScrubProgress& progress);
  // scrub_tables.cpp; those that count what is wrong need the commit lock
  Status scrub_tables(std::uint64_t first, std::uint64_t end, ScrubProgress& progress);
  void scrub_pages(std::uint64_t first, std::uint64_t end, CountByRole& wrong);
  void scrub_index(std::uint64_t first, std::uint64_t end, CountByRole& wrong);
  void scrub_superblocks(CountByRole& wrong);

  // member_admin.cpp; with the commit lock
  Status check_role(unsigned role) const;
  Status check_new_place(unsigned place);
  Status add_spare(unsigned place);
  Status start_rebuild(unsigned role, const SparePlace& place, bool by_missed);
  void miss_unsound_pages(unsigned role);

  Settings settings_;
  Shape shape_;
  MemberLayout layout_;
  Uuid array_;
  BlockCheck check_;
  Codec codec_;
  Roster roster_;
  Index index_;  // of what is durable; with the commit lock
  ChecksumTable table_;
  BufferStock stock_;
  Stripes stripes_;
  Overlay overlay_;

  std::mutex rebuild_mutex_;  // before all others
  WriteGate gate_;            // then this: who writes passes it
  std::mutex commit_mutex_;
  Superblock superblock_;            // the newest, of nobody in particular
  std::uint64_t durable_epoch_ = 0;  // that all who are live have
  std::uint64_t epoch_step_ = 1;
  std::array<std::uint64_t, members_most> log_used_ = {};
  std::uint64_t sequence_ = 0;
  OpenOptions options_;
  std::uint64_t diverged_ = 0;         // roles that were refused when it was opened
  std::vector<std::uint8_t> touched_;  // stripes that the log holds something of

  bool is_recovered_ = false;  // the log can be appended to
  bool is_opening_ = false;    // one thread only, which renews the lease
  bool is_renewing_ = false;

  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> checkpoints_ = 0;
  std::atomic<std::uint64_t> batches_replayed_ = 0;
  std::atomic<std::uint64_t> blocks_unreadable_ = 0;
};

}  // namespace calpe::array
